"""Changes of the scores: caps, biases by distance, sinks."""

from __future__ import annotations

from collections.abc import Sequence

from cutaway.attention.variants.variant import AttentionVariant, per_head
from cutaway.core.checks import check_int, check_real
from cutaway.layers.softcap import soft_cap


def softcap(cap: float) -> AttentionVariant:
    """Return scores that bend towards +-cap instead of growing on.

    Args:
        cap: The bound; the score becomes ``cap * tanh(score / cap)``.

    Raises:
        ArgumentError: ``cap`` is not a positive number.

    Source: Gemma 2, arXiv 2408.00118, section 2 (cap 50).

    >>> import numpy as np
    >>> softcap(50.0).score_mod(np.array([1.0, 1000.0]), 0, 0, 0).round(3)
    array([ 1., 50.])
    """
    cap = check_real("cap", cap, 0, open_low=True)

    def score_mod(score, q_pos, kv_pos, head):
        return soft_cap(score, cap)

    return AttentionVariant(name=f"softcap({cap:g})", score_mod=score_mod)


def alibi_slopes(num_heads: int) -> tuple[float, ...]:
    """Return how fast each head's bias falls with the distance (ALiBi).

    For a power of two they are a geometric sequence, 2^(-8k/n) for
    k = 1...n. Otherwise those of the next lower power p come first, then
    every other one of those of 2p.

    Args:
        num_heads: Query heads, n.

    Raises:
        ArgumentError: It is not a positive integer.

    Source: Press et al. 2022, arXiv 2108.12409, section 3 (powers of
    two); transformers' modeling_bloom for the others.

    >>> alibi_slopes(2), alibi_slopes(3)
    ((0.0625, 0.00390625), (0.0625, 0.00390625, 0.25))
    """
    num_heads = check_int("num_heads", num_heads, low=1)
    power = 1 << (num_heads.bit_length() - 1)
    slopes = [2 ** (-8 * k / power) for k in range(1, power + 1)]
    odd = range(1, 2 * (num_heads - power), 2)
    return (*slopes, *(2 ** (-8 * k / (2 * power)) for k in odd))


def alibi(num_heads: int) -> AttentionVariant:
    """Return scores that sink with the distance of query and key.

    Each head subtracts its slope times the distance; no other position
    information is needed.

    Args:
        num_heads: Query heads; they have slopes of their own.

    Raises:
        ArgumentError: It is not a positive integer.

    Source: Press et al. 2022, arXiv 2108.12409, section 3.
    Differs: transformers' bloom adds slope * kv_pos, the same up to a
    constant of each row, which the softmax does not see (the log-sum-exp
    does).

    >>> import numpy as np
    >>> alibi(8).score_mod(np.zeros(1), 5, 3, 0)
    array([-1.])
    """
    slopes = alibi_slopes(num_heads)

    def score_mod(score, q_pos, kv_pos, head):
        return score - per_head(slopes, head, score) * (q_pos - kv_pos)

    return AttentionVariant(
        name="alibi", score_mod=score_mod, num_heads=num_heads
    )


def sink_logits(logits: Sequence[float]) -> AttentionVariant:
    """Return one learnt number per head that takes part in the softmax.

    It enters the denominator like the score of one more key, whose value
    is zero: the weights of the real keys sum to less than one.

    Args:
        logits: One number per query head.

    Raises:
        ArgumentError: There is none, or one is not a finite number.

    Source: openai/gpt-oss, ``gpt_oss/torch/model.py``, function ``sdpa``.
    Differs: a sink token (``streaming``) is a token of the text; this is
    no token, and no key or value stands behind it.

    >>> sink_logits([0.0, -1.5]).num_heads
    2
    """
    return AttentionVariant(name="sink_logits", sink_logit=logits)
