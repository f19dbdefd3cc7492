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
from cutaway.layers.scaled_rope import (
    ntk_theta,
    pair_counts,
    scaled_frequencies,
    yarn_mscale,
    yarn_range,
)

__all__ = [
    "apply_rope",
    "check_array",
    "embed",
    "empty",
    "from_numpy",
    "inference",
    "linear",
    "ntk_theta",
    "pair_counts",
    "rms_norm",
    "rope_frequencies",
    "rope_tables",
    "rotate",
    "scaled_frequencies",
    "swiglu",
    "to_numpy",
    "yarn_mscale",
    "yarn_range",
]
