"""Masks: which keys a query may see."""

from __future__ import annotations

from cutaway.attention.variants.variant import AttentionVariant
from cutaway.core.checks import check_int


def full() -> AttentionVariant:
    """Return attention without a mask: every query sees every key.

    This is what an encoder uses, and cross-attention.

    >>> full()
    <AttentionVariant full>
    """
    return AttentionVariant(name="full")


def causal() -> AttentionVariant:
    """Return the causal mask: a query sees no key behind its own position.

    Positions are absolute, so it is aligned at the end (bottom-right)
    when there are fewer queries than keys.

    Source: Vaswani et al. 2017, arXiv 1706.03762, section 3.2.3.

    >>> causal().mask_mod(3, 4, 0)
    False
    """

    def mask_mod(q_pos, kv_pos, head):
        return kv_pos <= q_pos

    return AttentionVariant(name="causal", mask_mod=mask_mod)


def sliding_window(window: int) -> AttentionVariant:
    """Return a causal mask that shows only the nearest keys.

    Args:
        window: How many keys a query sees, its own included.

    Raises:
        ArgumentError: ``window`` is not a positive integer.

    Source: Mistral 7B, arXiv 2310.06825, section 2.
    Differs: FlashAttention and FlashInfer count ``window_left``, the keys
    *before* the query's own: ``window - 1``.

    >>> seen = sliding_window(2).mask_mod
    >>> [seen(5, kv_pos, 0) for kv_pos in (3, 4, 5, 6)]
    [False, True, True, False]
    """
    window = check_int("window", window, low=1)

    def mask_mod(q_pos, kv_pos, head):
        return (kv_pos <= q_pos) & (q_pos - kv_pos < window)

    return AttentionVariant(name=f"window({window})", mask_mod=mask_mod)


def streaming(window: int, sink_tokens: int) -> AttentionVariant:
    """Return a sliding window that never loses sight of the first tokens.

    Models put weight on the first tokens whatever these say. A window
    that moves past them breaks the model; one that keeps them does not.

    Args:
        window: Keys nearest to the query that it sees, its own included.
        sink_tokens: Keys at the beginning that it sees as well.

    Raises:
        ArgumentError: ``window`` is not a positive integer, or
            ``sink_tokens`` not an integer >= 0.

    Source: StreamingLLM, arXiv 2309.17453, section 3.2.
    Differs: this is its mask alone; the paper also counts positions
    within the cache, which matters once tokens are evicted.

    >>> seen = streaming(2, sink_tokens=1).mask_mod
    >>> [seen(5, kv_pos, 0) for kv_pos in range(6)]
    [True, False, False, False, True, True]
    """
    window = check_int("window", window, low=1)
    sink_tokens = check_int("sink_tokens", sink_tokens, low=0)

    def mask_mod(q_pos, kv_pos, head):
        near = (q_pos - kv_pos < window) | (kv_pos < sink_tokens)
        return (kv_pos <= q_pos) & near

    name = f"streaming({window}, {sink_tokens})"
    return AttentionVariant(name=name, mask_mod=mask_mod)


def prefix_lm(prefix_tokens: int) -> AttentionVariant:
    """Return the mask of a prefix LM: the prompt sees all of itself.

    Args:
        prefix_tokens: Tokens at the beginning that every query sees, even
            those before them; the rest is causal.

    Raises:
        ArgumentError: ``prefix_tokens`` is not an integer >= 0.

    Source: Raffel et al. 2020 (T5), arXiv 1910.10683, section 3.2.1.

    >>> seen = prefix_lm(3).mask_mod
    >>> [seen(0, kv_pos, 0) for kv_pos in range(5)]
    [True, True, True, False, False]
    """
    prefix_tokens = check_int("prefix_tokens", prefix_tokens, low=0)

    def mask_mod(q_pos, kv_pos, head):
        return (kv_pos <= q_pos) | (kv_pos < prefix_tokens)

    return AttentionVariant(
        name=f"prefix_lm({prefix_tokens})", mask_mod=mask_mod
    )
