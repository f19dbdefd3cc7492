"""Dense attention: one specification, several implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.attention.variants import AttentionVariant
from cutaway.core.backends import backend
from cutaway.core.checks import check, check_real
from cutaway.core.state import AttentionState
from cutaway.layers.arrays import check_array, check_float

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float

__all__ = ["attention"]


def attention(
    q: Float[Any, "q_len heads head_dim"],
    k: Float[Any, "kv_len kv_heads head_dim"],
    v: Float[Any, "kv_len kv_heads value_dim"],
    *,
    causal: bool | None = None,
    scale: float | None = None,
    variant: AttentionVariant | None = None,
    impl: str,
) -> AttentionState:
    """Average the values, weighted by the softmax of query-key products.

    Head h reads key/value head h // group_size. Causal is bottom-right:
    the queries are the last q_len of the kv_len positions, so query i sees
    the keys j <= i + kv_len - q_len. The log-sum-exp of the scores comes
    along, so that results over parts of the keys can be merged.

    Args:
        q: Queries, already rotated.
        k: Keys, already rotated; a view of a cache will do.
        v: Values; their width may be another than that of the keys.
        causal: Hide later keys from earlier queries; None means yes,
            unless a variant says what is hidden.
        scale: Factor of the scores; None takes the variant's, or else
            ``head_dim ** -0.5``.
        variant: Another mask, other scores, sinks; it replaces ``causal``.
            Query i stands at position i + kv_len - q_len, key j at j.
        impl: ``"numpy"`` (the oracle) or ``"torch"``.

    Returns:
        Output, as wide as the values, and log-sum-exp, arrays of the
        backend. A row that sees no key has output 0 and log-sum-exp -inf
        (or that of its sink); never NaN.

    Raises:
        ArgumentError: ``q`` holds integers, sizes do not fit, num_heads
            is no multiple of num_kv_heads, ``causal`` with fewer keys than
            queries, two scales or two masks, or a mask that is none.

    Cost: 2 x heads x q_len x kv_len x (head_dim + value_dim) FLOPs, half
    of it masked when causal and q_len = kv_len. The torch form takes the
    queries in tiles of 128: its largest temporary has heads x 128 x kv_len
    numbers.
    Source: Vaswani et al. 2017, arXiv 1706.03762, equation 1; Ainslie et
    al. 2023, arXiv 2305.13245 (groups); FlashInfer, arXiv 2501.01005,
    section 2.2 (the state).
    Differs: ``is_causal`` of torch's scaled_dot_product_attention is
    top-left when q_len and kv_len differ.

    >>> import numpy as np
    >>> one = np.ones((1, 1, 4))
    >>> attention(one, one, one, impl="numpy").lse
    array([[2.]])
    """
    check_array("q", q, ("q_len", "heads", "head_dim"), impl=impl)
    check_float("q", q)
    _, heads, head_dim = q.shape
    check_array("k", k, ("kv_len", "kv_heads", head_dim), impl=impl)
    kv_len, kv_heads, _ = k.shape
    check_array("v", v, (kv_len, kv_heads, "value_dim"), impl=impl)
    check(
        kv_heads > 0 and heads > 0 and heads % kv_heads == 0,
        "q.shape[1]",
        heads,
        f"a positive multiple of the {kv_heads} key/value heads",
    )
    causal, scale = _settle(causal, scale, variant, q.shape, kv_len)
    module = backend(__package__, impl)
    out, lse = module.attention(q, k, v, causal, scale, variant)
    return AttentionState(out=out, lse=lse)


def _settle(
    causal: bool | None,
    scale: float | None,
    variant: AttentionVariant | None,
    q_shape: tuple[int, int, int],
    kv_len: int,
) -> tuple[bool, float]:
    """Return causal and scale, once all that may say so has been heard."""
    q_len, heads, head_dim = q_shape
    if variant is not None:
        usable = isinstance(variant, AttentionVariant)
        check(usable, "variant", repr(variant), "an AttentionVariant")
        check(causal is None, "causal", causal, "None, as there is a variant")
        made_for = variant.num_heads
        fits = made_for is None or made_for == heads
        check(fits, "variant.num_heads", made_for, f"{heads}, as q has")
        if variant.scale is not None:
            check(scale is None, "scale", scale, "None: the variant has one")
            scale = variant.scale
    elif causal is None or causal:
        causal = True
        check(
            kv_len >= q_len,
            "k.shape[0]",
            kv_len,
            f"at least q_len = {q_len} keys when causal",
        )
    if scale is None:
        check(head_dim > 0, "head_dim", head_dim, "at least 1")
        scale = head_dim**-0.5
    return bool(causal), check_real("scale", scale, 0)
