"""How a model stretches its rotary frequencies to read longer texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cutaway.core.checks import check, check_flag, check_int, check_real


@dataclass(frozen=True, kw_only=True)
class RopeScaling:
    """What all kinds of scaling share: by how much the text may grow.

    There is one subclass a kind, which holds the constants of that kind
    and no others. ``cutaway.layers.scaled_frequencies`` computes with them.

    Attributes:
        factor: How many times longer than in training the text may be.

    Raises:
        ArgumentError: A constant is out of range, or the object is of no
            kind.
    """

    kind: ClassVar[str] = ""
    factor: float

    def __post_init__(self) -> None:
        check(self.kind != "", "RopeScaling", "no kind", "a subclass")
        check_real("factor", self.factor, 1)


@dataclass(frozen=True, kw_only=True)
class LinearScaling(RopeScaling):
    """Position interpolation: all pairs turn ``factor`` times slower.

    Source: Chen et al. 2023, arXiv 2306.15595, equation 4.

    >>> LinearScaling(factor=2.0)
    LinearScaling(factor=2.0)
    """

    kind: ClassVar[str] = "linear"


@dataclass(frozen=True, kw_only=True)
class NTKScaling(RopeScaling):
    """A larger theta: the fastest pair is kept, the slowest divided.

    Source: Peng et al. 2023, arXiv 2309.00071, definition 1.

    >>> NTKScaling(factor=2.0).kind
    'ntk'
    """

    kind: ClassVar[str] = "ntk"


@dataclass(frozen=True, kw_only=True)
class DynamicScaling(RopeScaling):
    """NTK scaling that grows with the text once it outgrows training.

    Attributes:
        original_max_seq_len: Trained length; up to it nothing changes.

    Source: transformers, modeling_rope_utils.py, version 5.

    >>> DynamicScaling(factor=2.0, original_max_seq_len=2048).kind
    'dynamic'
    """

    kind: ClassVar[str] = "dynamic"
    original_max_seq_len: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("original_max_seq_len", self.original_max_seq_len, low=1)


@dataclass(frozen=True, kw_only=True)
class Llama3Scaling(RopeScaling):
    """Keep fast pairs, divide slow ones, blend those in between.

    Attributes:
        low_freq_factor: A pair with fewer turns than this within the
            trained length is divided by ``factor``.
        high_freq_factor: A pair with more turns than this is kept.
        original_max_seq_len: Trained length.

    Source: transformers, modeling_rope_utils.py, version 5.

    >>> Llama3Scaling(factor=8.0, low_freq_factor=1.0,
    ...               high_freq_factor=4.0, original_max_seq_len=8192).kind
    'llama3'
    """

    kind: ClassVar[str] = "llama3"
    low_freq_factor: float
    high_freq_factor: float
    original_max_seq_len: int

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.low_freq_factor, self.high_freq_factor
        check_real("low_freq_factor", low, 0, open_low=True)
        check_real("high_freq_factor", high, low, open_low=True)
        check_int("original_max_seq_len", self.original_max_seq_len, low=1)


@dataclass(frozen=True, kw_only=True)
class YarnScaling(RopeScaling):
    """Llama-3's idea with a ramp over pair numbers, and sharper scores.

    Attributes:
        original_max_seq_len: Trained length.
        beta_fast: A pair with more turns than this within the trained
            length is kept.
        beta_slow: A pair with fewer turns than this is divided.
        truncate: Round the ends of the ramp outwards to whole pairs.
        attention_factor: Multiplies cos and sin; None computes it.
        mscale: Weight of the logarithm in that factor, or None for 1.
        mscale_all_dim: Weight in the divisor of that factor. DeepSeek
            multiplies the scores by the square of the divisor instead.
            Without both weights, the factor has neither.

    Source: Peng et al. 2023, arXiv 2309.00071, section 3.

    >>> YarnScaling(factor=40.0, original_max_seq_len=4096).beta_fast
    32.0
    """

    kind: ClassVar[str] = "yarn"
    original_max_seq_len: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("original_max_seq_len", self.original_max_seq_len, low=1)
        check_real("beta_slow", self.beta_slow, 0, open_low=True)
        check_real("beta_fast", self.beta_fast, self.beta_slow, open_low=True)
        check_flag("truncate", self.truncate)
        if self.attention_factor is not None:
            factor = self.attention_factor
            check_real("attention_factor", factor, 0, open_low=True)
        for name in ("mscale", "mscale_all_dim"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), 0)
