"""The parts of a decoder layer, each as NumPy and as torch."""

from cutaway.layers.arrays import (
    check_array,
    empty,
    from_numpy,
    inference,
    to_numpy,
)
from cutaway.layers.ffn import swiglu
from cutaway.layers.linear import embed, linear
from cutaway.layers.norm import rms_norm
from cutaway.layers.rope import (
    apply_rope,
    rope_frequencies,
    rope_tables,
    rotate,
)

__all__ = [
    "apply_rope",
    "check_array",
    "embed",
    "empty",
    "from_numpy",
    "inference",
    "linear",
    "rms_norm",
    "rope_frequencies",
    "rope_tables",
    "rotate",
    "swiglu",
    "to_numpy",
]
