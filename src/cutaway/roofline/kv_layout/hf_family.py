"""How the files of a model type say what its layers cache.

Names and defaults are those of the configuration classes of transformers
5.24; the tests run a small model of each class and count its cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cutaway.core.kv_shape import KVShape
from cutaway.roofline.kv_layout import hf_kinds as kinds
from cutaway.roofline.kv_layout import hf_parts as parts
from cutaway.roofline.kv_layout.hf_parts import Config, States


@dataclass(frozen=True, kw_only=True)
class Family:
    """How to read the files of a model type.

    Attributes:
        shape: Reads what attention caches; None where nothing attends.
        states: Reads what the other layers keep; None if there are none.
        kinds: Reads the kind of each layer, where no list states it.
        defaults: What the class fills in, beside sizes of the model.
        window: Key of the window.
        shared: Key of the last layers that read the caches of others.
    """

    shape: Callable[[Config], KVShape] | None = parts.grouped
    states: Callable[[Config], States] | None = None
    kinds: Callable[[Config], list[str]] = kinds.all_full
    defaults: Mapping[str, Any] = field(default_factory=dict)
    window: str = "sliding_window"
    shared: str | None = None
