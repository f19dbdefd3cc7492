"""A mixture of experts: each token runs through a few of many networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.moe_config import ExpertGroups, MoEConfig

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jaxtyping import Bool, Float, Int


def choose_experts(
    logits: Float[np.ndarray, "tokens experts"],
    bias: Float[np.ndarray, " experts"] | None,
    moe: MoEConfig,
) -> tuple[
    Int[np.ndarray, "tokens chosen"], Float[np.ndarray, "tokens chosen"]
]:
    """Return the experts of every token, and how much each one counts.

    Args:
        logits: Of the router.
        bias: Enters the choice, not the weight; None has none.
        moe: How the logits become scores, and the scores weights.

    Returns:
        Numbers of experts, the best first, and their weights.

    Cost: sorting the experts of every token.
    Source: Mixtral, arXiv 2401.04088, section 2.1; DeepSeek-V2, arXiv
    2405.04434, section 2.2.2 (groups); DeepSeek-V3, arXiv 2412.19437,
    section 2.1.2 (sigmoid, bias).
    Differs: transformers' DeepSeek-V3 sets the scores of groups left out
    to 0, which may beat a score below it; here they are never chosen.

    >>> moe = MoEConfig(num_experts=3, experts_per_token=2, expert_ffn_size=1)
    >>> ids, shares = choose_experts(np.log([[1.0, 2.0, 6.0]]), None, moe)
    >>> ids.tolist(), shares.round(2).tolist()
    ([[2, 1]], [[0.75, 0.25]])
    """
    scores = _scores(logits, moe)
    rank = scores if bias is None else scores + bias
    if moe.groups is not None:
        rank = np.where(_candidates(rank, moe.groups), rank, -np.inf)
    order = np.argsort(-rank, axis=-1, kind="stable")
    ids = order[:, : moe.experts_per_token]
    shares = np.take_along_axis(scores, ids, axis=-1)
    if moe.renormalize:
        # sigmoids may all be 0; what is added is lost in any other sum
        shares = shares / (shares.sum(axis=-1, keepdims=True) + 1e-20)
    return ids, shares * moe.weight_scale


def mix_experts(
    h: Float[Any, "tokens hidden"],
    ids: Int[np.ndarray, "tokens chosen"],
    shares: Float[Any, "tokens chosen"],
    expert: Callable[[int, Any], Any],
) -> Float[Any, "tokens hidden"]:
    """Return the weighted sum of what each token's experts make of it.

    The tokens of an expert run through it together, so that its matrices
    are read once.

    Args:
        h: The tokens.
        ids: From ``choose_experts``.
        shares: Likewise, as an array of the backend of ``h``.
        expert: ``(number, rows) -> rows``: one of the networks.

    Cost: the networks of the experts that any token chose.

    >>> ids, shares = np.array([[1, 0]]), np.array([[0.75, 0.25]])
    >>> mix_experts(np.ones((1, 2)), ids, shares, lambda e, rows: e * rows)
    array([[0.75, 0.75]])
    """
    mixed = 0 * h
    for number in np.unique(ids).tolist():
        tokens, places = np.nonzero(ids == number)
        made = expert(number, h[tokens])
        mixed[tokens] += shares[tokens, places][:, None] * made
    return mixed


def _scores(
    logits: Float[np.ndarray, "tokens experts"], moe: MoEConfig
) -> Float[np.ndarray, "tokens experts"]:
    """Return a softmax over the experts, or a sigmoid of each."""
    if moe.scoring == "sigmoid":
        with np.errstate(over="ignore"):  # exp(-x) = inf has the right limit
            return 1 / (1 + np.exp(-logits))
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _candidates(
    rank: Float[np.ndarray, "tokens experts"], groups: ExpertGroups
) -> Bool[np.ndarray, "tokens experts"]:
    """Return which experts are in the groups that a token picks."""
    tokens, num_experts = rank.shape
    size = num_experts // groups.num_groups
    best = np.sort(rank.reshape(tokens, groups.num_groups, size), axis=-1)
    counted = 1 if groups.score == "max" else 2
    worth = best[..., -counted:].sum(axis=-1)
    order = np.argsort(-worth, axis=-1, kind="stable")
    picked = order[:, : groups.groups_per_token]
    is_picked = np.zeros((tokens, groups.num_groups), bool)
    np.put_along_axis(is_picked, picked, True, axis=-1)
    return np.repeat(is_picked, size, axis=-1)
