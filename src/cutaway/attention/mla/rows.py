"""What latent attention caches of a token, and what it asks with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.checks import check, check_int
from cutaway.layers import check_array, concat, linear, rms_norm

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jaxtyping import Float

    Turn = Callable[[Any], Any]


def latent_rows(
    h: Float[Any, "tokens hidden"],
    wkv_a: Float[Any, "cache_width hidden"],
    norm: Float[Any, " rank"],
    *,
    turn: Turn,
    eps: float,
    impl: str,
) -> Float[Any, "tokens 1 cache_width"]:
    """Return what latent attention caches of each token: one row.

    One matrix makes both parts. The latent is normalised *before* it is
    cached, the key behind it is rotated: a cached row is never touched
    again.

    Args:
        h: What enters attention.
        wkv_a: Its first rank rows make the latent, the others the key.
        norm: Scale of the latent's RMSNorm; its length is the rank.
        turn: Rotates ``[tokens, 1, rope_dim]`` by the tokens' positions.
        eps: Of the norm.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        ``[normed latent; rotated key]``, the one head of a cache.

    Raises:
        ArgumentError: ``wkv_a`` has no rows for the key, or sizes do not
            fit.

    Source: DeepSeek-V2, arXiv 2405.04434, equations 9 and 15.

    >>> import numpy as np
    >>> rows = latent_rows(np.ones((2, 8)), np.ones((6, 8)), np.ones(4),
    ...     turn=lambda key: -key, eps=0.0, impl="numpy")
    >>> rows[0, 0]
    array([ 1.,  1.,  1.,  1., -8., -8.])
    """
    check_array("norm", norm, ("rank",), impl=impl)
    rank = len(norm)
    row = linear(h, wkv_a, impl=impl)
    width = row.shape[-1]
    check(width > rank, "wkv_a.shape[0]", width, f"more than rank = {rank}")
    latent = rms_norm(row[:, :rank], norm, eps, impl=impl)
    return concat([latent[:, None], turn(row[:, None, rank:])], impl=impl)


def turn_tail(
    x: Float[Any, "tokens heads head_dim"],
    rope_dim: int,
    *,
    turn: Turn,
    impl: str,
) -> Float[Any, "tokens heads head_dim"]:
    """Rotate the last dimensions of every head, and leave the others.

    Args:
        x: Queries.
        rope_dim: How many dimensions bear the position.
        turn: Rotates ``[tokens, heads, rope_dim]``.
        impl: ``"numpy"`` or ``"torch"``.

    Raises:
        ArgumentError: A head has fewer dimensions.

    Source: DeepSeek-V2, arXiv 2405.04434, equations 14 and 16.

    >>> import numpy as np
    >>> turn_tail(np.ones((1, 1, 3)), 2, turn=lambda x: -x, impl="numpy")
    array([[[ 1., -1., -1.]]])
    """
    check_array("x", x, ("tokens", "heads", "head_dim"), impl=impl)
    nope = x.shape[-1] - check_int("rope_dim", rope_dim, 1, x.shape[-1])
    return concat([x[..., :nope], turn(x[..., nope:])], impl=impl)
