"""Latent attention in two forms: heads made from the rows, or absorbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.attention.dense import attention
from cutaway.core.checks import check, check_int, check_shape
from cutaway.core.state import AttentionState
from cutaway.layers import check_array, concat, linear, linear_per_head

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float

    from cutaway.attention.variants import AttentionVariant


def up_projections(
    wkv_b: Float[Any, "heads*(nope+value) rank"],
    num_heads: int,
    nope_dim: int,
) -> tuple[
    Float[Any, "heads nope rank"],
    Float[Any, "heads value rank"],
]:
    """Return the matrices that make each head's key and value, as views.

    The rows of ``wkv_b`` lie head by head: first those of the key's part
    without position, then those of the value.

    Args:
        wkv_b: As files have it (``kv_b_proj``).
        num_heads: Query heads.
        nope_dim: Width of that part of the key.

    Raises:
        ArgumentError: The rows cannot be shared out like this.

    Source: DeepSeek-V2, arXiv 2405.04434, equations 10 and 11.

    >>> import numpy as np
    >>> [part.shape for part in up_projections(np.ones((10, 3)), 2, 4)]
    [(2, 4, 3), (2, 1, 3)]
    """
    check_int("num_heads", num_heads, low=1)
    check_int("nope_dim", nope_dim, low=1)
    check_shape("wkv_b", wkv_b, ("heads*(nope+value)", "rank"))
    rows, rank = wkv_b.shape
    fits = rows % num_heads == 0 and rows // num_heads > nope_dim
    expected = f"{num_heads} x (nope_dim = {nope_dim}, and a value)"
    check(fits, "wkv_b.shape[0]", rows, expected)
    by_head = wkv_b.reshape(num_heads, rows // num_heads, rank)
    return by_head[:, :nope_dim], by_head[:, nope_dim:]


def expanded_attention(
    q: Float[Any, "q_len heads nope+rope"],
    rows: Float[Any, "kv_len 1 rank+rope"],
    wkv_b: Float[Any, "heads*(nope+value) rank"],
    *,
    scale: float | None = None,
    variant: AttentionVariant | None = None,
    impl: str,
) -> AttentionState:
    """Attend with keys and values of every head, made from the rows.

    This is what the model means: plain attention of many heads, once the
    latents have been multiplied by ``wkv_b``. All kv_len keys are made
    again in each call.

    Args:
        q: Queries, the last dimensions rotated.
        rows: From ``latent_rows``, new tokens last.
        wkv_b: Makes keys and values; see ``up_projections``.
        scale: Factor of the scores, as ``latent_scale`` gives it; None
            takes the variant's, or else 1 / sqrt(nope + rope).
        variant: As for ``attention``.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        Output ``[q_len, heads, value]`` and log-sum-exp.

    Raises:
        ArgumentError: Sizes do not fit.

    Cost: 2 x kv_len x rank x heads x (nope + value) FLOPs for keys and
    values, 2 x heads x (nope + rope + value) a pair of query and key.
    Source: DeepSeek-V2, arXiv 2405.04434, equations 10 to 18.
    """
    num_heads, nope_dim, rank = _sizes(q, rows, wkv_b, impl)
    by_head = (len(rows), num_heads, -1)
    kv = linear(rows[:, 0, :rank], wkv_b, impl=impl).reshape(by_head)
    k = concat([kv[..., :nope_dim], rows[..., rank:]], impl=impl)
    v = kv[..., nope_dim:]
    scale = _scale(scale, variant, q)
    return attention(q, k, v, scale=scale, variant=variant, impl=impl)


def absorbed_attention(
    q: Float[Any, "q_len heads nope+rope"],
    rows: Float[Any, "kv_len 1 rank+rope"],
    wkv_b: Float[Any, "heads*(nope+value) rank"],
    *,
    scale: float | None = None,
    variant: AttentionVariant | None = None,
    impl: str,
) -> AttentionState:
    """Attend to the cached rows as they are; no key or value is made.

    q . (W_k c) = (W_k^T q) . c: the matrix of the keys is moved to the
    query, that of the values behind the weighted sum. What remains is
    attention with one key/value head, whose key is the row and whose value
    is the row's first part. Equal to ``expanded_attention`` up to rounding.

    Args:
        q: Queries, the last dimensions rotated.
        rows: From ``latent_rows``, new tokens last.
        wkv_b: Makes keys and values; see ``up_projections``.
        scale: As for ``expanded_attention``: from the width of the
            model's heads, not from that of a row.
        variant: As for ``attention``.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        Output ``[q_len, heads, value]`` and log-sum-exp.

    Raises:
        ArgumentError: Sizes do not fit.

    Cost: 2 x q_len x rank x heads x (nope + value) FLOPs for the two
    matrices, 2 x heads x (2 rank + rope) a pair of query and key.
    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.2; the reference
    implementation of DeepSeek-V3, ``attn_impl = "absorb"``.
    """
    num_heads, nope_dim, rank = _sizes(q, rows, wkv_b, impl)
    w_k, w_v = up_projections(wkv_b, num_heads, nope_dim)
    q_c = linear_per_head(q[..., :nope_dim], w_k.swapaxes(1, 2), impl=impl)
    q_row = concat([q_c, q[..., nope_dim:]], impl=impl)
    latents, scale = rows[..., :rank], _scale(scale, variant, q)
    state = attention(
        q_row, rows, latents, scale=scale, variant=variant, impl=impl
    )
    out = linear_per_head(state.out, w_v, impl=impl)
    return AttentionState(out=out, lse=state.lse)


def _sizes(q: Any, rows: Any, wkv_b: Any, impl: str) -> tuple[int, int, int]:
    """Return num_heads, nope_dim and rank, or say what does not fit."""
    check_array("q", q, ("q_len", "heads", "nope+rope"), impl=impl)
    check_array("wkv_b", wkv_b, ("heads*(nope+value)", "rank"), impl=impl)
    check_array("rows", rows, ("kv_len", 1, "rank+rope"), impl=impl)
    _, num_heads, head_dim = q.shape
    rank = wkv_b.shape[1]
    rope_dim = rows.shape[-1] - rank
    expected = f"more than rank = {rank}, as wkv_b says"
    check(rope_dim > 0, "rows.shape[2]", rows.shape[-1], expected)
    expected = f"more than the {rope_dim} dimensions of the rotary key"
    check(head_dim > rope_dim, "q.shape[2]", head_dim, expected)
    nope_dim = head_dim - rope_dim
    up_projections(wkv_b, num_heads, nope_dim)  # or it says what is wrong
    return num_heads, nope_dim, rank


def _scale(
    scale: float | None, variant: AttentionVariant | None, q: Any
) -> float | None:
    """Return the scale to hand on; None where the variant has one."""
    if scale is None and (variant is None or variant.scale is None):
        return q.shape[-1] ** -0.5
    return scale
