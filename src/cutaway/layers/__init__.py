"""The parts of a decoder layer, each as NumPy and as torch."""

from cutaway.layers.arrays import (
    check_array,
    concat,
    empty,
    from_numpy,
    inference,
    to_numpy,
)
from cutaway.layers.ffn import swiglu
from cutaway.layers.linear import embed, linear, linear_per_head
from cutaway.layers.network import NetworkWeights, feed_forward
from cutaway.layers.norm import layer_norm, rms_norm
from cutaway.layers.rope import (
    apply_rope,
    rope_frequencies,
    rope_tables,
    rotate,
)
from cutaway.layers.rotation import Rotation
from cutaway.layers.scaled_rope import (
    ntk_theta,
    pair_counts,
    scaled_frequencies,
    yarn_mscale,
    yarn_range,
)
from cutaway.layers.softcap import soft_cap

__all__ = [
    "NetworkWeights",
    "Rotation",
    "apply_rope",
    "check_array",
    "concat",
    "embed",
    "empty",
    "feed_forward",
    "from_numpy",
    "inference",
    "layer_norm",
    "linear",
    "linear_per_head",
    "ntk_theta",
    "pair_counts",
    "rms_norm",
    "rope_frequencies",
    "rope_tables",
    "rotate",
    "scaled_frequencies",
    "soft_cap",
    "swiglu",
    "to_numpy",
    "yarn_mscale",
    "yarn_range",
]
