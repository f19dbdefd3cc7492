"""The weights of one decoder layer, named as the forward pass reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


@dataclass(frozen=True, kw_only=True)
class LayerParams:
    """Weights of one decoder layer; matrices are ``[out, in]``.

    Which ones a layer has, and of which shape, ``layer_shapes`` says; the
    others are None. Those in the first block make up a layer of Llama. In
    a layer with experts, the matrices of the network (``w_gate``, ``w_up``
    and ``w_down``) and their biases have one more axis in front: the
    expert's number.
    """

    attn_norm: Float[Any, " hidden"]
    wq: Float[Any, "heads*head_dim hidden"] | None = None
    wk: Float[Any, "kv_heads*head_dim hidden"] | None = None
    wv: Float[Any, "kv_heads*head_dim hidden"] | None = None
    wo: Float[Any, "hidden heads*value_dim"]
    ffn_norm: Float[Any, " hidden"]
    w_gate: Float[Any, "*experts ffn hidden"] | None = None
    w_up: Float[Any, "*experts ffn hidden"]
    w_down: Float[Any, "*experts hidden ffn"]

    # Biases of the matrices.
    bq: Float[Any, " heads*head_dim"] | None = None
    bk: Float[Any, " kv_heads*head_dim"] | None = None
    bv: Float[Any, " kv_heads*head_dim"] | None = None
    bo: Float[Any, " hidden"] | None = None
    b_gate: Float[Any, "*experts ffn"] | None = None
    b_up: Float[Any, "*experts ffn"] | None = None
    b_down: Float[Any, "*experts hidden"] | None = None

    # Norms of the heads, and behind attention and network; LayerNorm's bias.
    q_norm: Float[Any, " head_dim"] | None = None
    k_norm: Float[Any, " head_dim"] | None = None
    attn_post_norm: Float[Any, " hidden"] | None = None
    ffn_post_norm: Float[Any, " hidden"] | None = None
    attn_norm_bias: Float[Any, " hidden"] | None = None
    ffn_norm_bias: Float[Any, " hidden"] | None = None
    attn_post_norm_bias: Float[Any, " hidden"] | None = None
    ffn_post_norm_bias: Float[Any, " hidden"] | None = None

    # One logit a head that joins the softmax.
    sinks: Float[Any, " heads"] | None = None

    # Latent attention.
    wq_a: Float[Any, "q_rank hidden"] | None = None
    q_a_norm: Float[Any, " q_rank"] | None = None
    wq_b: Float[Any, "heads*head_dim q_rank"] | None = None
    wkv_a: Float[Any, "rank+rope hidden"] | None = None
    kv_a_norm: Float[Any, " rank"] | None = None
    wkv_b: Float[Any, "heads*(nope+value) rank"] | None = None

    # The router of a mixture of experts, and the network all tokens share.
    router: Float[Any, "experts hidden"] | None = None
    router_bias: Float[Any, " experts"] | None = None
    choice_bias: Float[Any, " experts"] | None = None
    w_shared_gate: Float[Any, "shared hidden"] | None = None
    w_shared_up: Float[Any, "shared hidden"] | None = None
    w_shared_down: Float[Any, "hidden shared"] | None = None
