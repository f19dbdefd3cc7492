"""Cutaway: LLM inference, executed.

``from cutaway import LLM, SamplingParams`` is the public face; everything
else lives in the sub-packages, in the order of the book. Importing the
package loads neither torch nor the model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutaway.llm import LLM
    from cutaway.sampling import SamplingParams

__version__ = "0.1.0"
__all__ = ["LLM", "SamplingParams", "__version__"]

_HOME = {"LLM": "cutaway.llm", "SamplingParams": "cutaway.sampling"}


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'cutaway' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
