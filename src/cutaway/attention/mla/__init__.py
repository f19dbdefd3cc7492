"""Multi-head latent attention (MLA): one short row a token for all heads.

Of each token a *latent* is kept, from which keys and values of all heads
can be made, and beside it one rotary key that all heads share. The row
``[latent; rotary key]`` is all that is cached.
"""

from cutaway.attention.mla.forms import (
    absorbed_attention,
    expanded_attention,
    up_projections,
)
from cutaway.attention.mla.rows import latent_rows, turn_tail
from cutaway.attention.mla.scale import latent_scale

__all__ = [
    "absorbed_attention",
    "expanded_attention",
    "latent_rows",
    "latent_scale",
    "turn_tail",
    "up_projections",
]
