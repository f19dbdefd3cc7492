"""The trace of a cache: what each pass reads, writes and computes again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.book.token_steps import visible
from cutaway.core.checks import check, check_int
from cutaway.core.protocols import KVCache
from cutaway.roofline import forward_counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cutaway.llm import LLM

__all__ = ["MeteredCache", "cache_figure", "cache_steps"]

SUMS = ("tokens", "kv", "flops")
KINDS = {
    "read from the cache": ("grey", 0.35),
    "computed again": ("orange", 1.0),
    "computed for the first time": ("blue", 1.0),
}
"""What a pass does to a token: the colour of its bar, and the alpha."""


class MeteredCache:
    """A cache that counts the bytes of keys and values that pass through.

    Args:
        cache: The cache that does the work; it need not be empty.

    Attributes:
        written_bytes: Of the keys and values stored so far.
        read_bytes: Of those handed out so far, without the ones that the
            same pass had just stored.

    >>> from cutaway.kvcache import make_cache
    >>> from cutaway.roofline import CONFIGS
    >>> cache = make_cache(
    ...     "contiguous", CONFIGS["smollm2-135m"], 4, impl="numpy")
    >>> metered, rows = MeteredCache(cache), np.ones((1, 3, 64), np.float32)
    >>> for _ in range(2):
    ...     metered.append(0, rows, rows)
    ...     _ = metered.view(0)
    >>> metered.written_bytes, metered.read_bytes
    (3072, 1536)
    """

    def __init__(self, cache: KVCache) -> None:
        self._cache = cache
        self._fresh: dict[int, int] = {}
        self.written_bytes = 0
        self.read_bytes = 0

    @property
    def num_tokens(self) -> int:
        """Tokens that the cache holds."""
        return self._cache.num_tokens

    @property
    def truncation_floor(self) -> int:
        """Fewest tokens that the cache can go back to."""
        return self._cache.truncation_floor

    @property
    def nbytes(self) -> int:
        """Bytes that the cache occupies."""
        return self._cache.nbytes

    def append(self, layer: int, k: Any, v: Any) -> None:
        """Store keys and values, and count them."""
        self._cache.append(layer, k, v)
        self._fresh[layer] = k.nbytes + v.nbytes
        self.written_bytes += self._fresh[layer]

    def view(self, layer: int) -> tuple[Any, Any]:
        """Hand out keys and values, and count the older ones."""
        keys, values = self._cache.view(layer)
        fresh = self._fresh.pop(layer, 0)
        self.read_bytes += keys.nbytes + values.nbytes - fresh
        return keys, values

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on."""
        self._fresh.clear()
        self._cache.truncate(num_tokens)


def cache_steps(
    llm: LLM, prompt_token_ids: Sequence[int], num_tokens: int
) -> dict[str, Any]:
    """Decode greedily twice, with and without a cache, and keep the books.

    Without a cache every pass reads the whole text into a new one.

    Args:
        llm: The model.
        prompt_token_ids: The prompt.
        num_tokens: Tokens to produce; a stop token does not end it.

    Returns:
        ``tokens``, prompt and answer as visible text; ``prompt``, how many
        are of the prompt; ``cached`` and ``uncached``, a list of passes
        each. A pass computes the tokens from ``start`` up to ``stop``, of
        which those before ``seen`` were computed by an earlier one.
        ``made`` and ``read`` are bytes of the keys and values that it
        computes, and that it reads of earlier passes. ``tokens``, ``kv``
        and ``flops`` are sums over the passes so far: tokens computed,
        bytes read, FLOPs.

    Raises:
        ArgumentError: The prompt is empty, ``num_tokens`` is below 1, or
            both are too long for the model.
    """
    ids = [int(token_id) for token_id in prompt_token_ids]
    check(bool(ids), "prompt_token_ids", ids, "at least one token")
    room = llm.config.max_seq_len - len(ids)
    check_int("num_tokens", num_tokens, low=1, high=room)
    cached, text = _passes(llm, ids, num_tokens, keep=True)
    uncached, again = _passes(llm, ids, num_tokens, keep=False)
    check(again == text, "answer", again, f"{text}, as with the cache")
    return {
        "tokens": [visible(llm.tokenizer.token_bytes(i)) for i in text],
        "prompt": len(ids),
        "cached": cached,
        "uncached": uncached,
    }


def _passes(
    llm: LLM, prompt: list[int], num_tokens: int, *, keep: bool
) -> tuple[list[dict[str, int]], list[int]]:
    """Generate, in passes that keep their cache or make a new one."""
    text, passes, seen = list(prompt), [], 0
    cache = None
    totals = np.zeros(len(SUMS), np.int64)
    for _ in range(num_tokens):
        if cache is None or not keep:
            size = len(prompt) + num_tokens if keep else len(text)
            cache = MeteredCache(llm.decoder.new_cache(size))
        start, stop = cache.num_tokens, len(text)
        before = np.array([cache.written_bytes, cache.read_bytes])
        logits = llm.decoder.forward(text[start:], cache, last_only=True)
        after = np.array([cache.written_bytes, cache.read_bytes])
        made, read = (after - before).tolist()
        ops = forward_counts(llm.config, stop - start, start, logit_rows=1)
        totals += stop - start, read, sum(op.flops for op in ops)
        passes.append(
            {
                "start": start,
                "stop": stop,
                "seen": seen,
                "made": made,
                "read": read,
                **dict(zip(SUMS, totals.tolist(), strict=True)),
            }
        )
        text.append(int(np.argmax(logits[-1])))
        seen = stop
    return passes, text


def cache_figure(trace: Mapping[str, Any]) -> Figure:
    """Draw a trace: a row for each pass, a column for each token.

    Args:
        trace: What ``cache_steps`` returned.
    """
    from matplotlib.patches import Patch

    from cutaway.book.figure import PALETTE, subplots

    rows = len(trace["cached"])
    fig, axes = subplots(1, 2, height_in=2.1 + 0.2 * rows, sharey=True)
    for ax, mode in zip(axes, ("uncached", "cached"), strict=True):
        _draw_passes(ax, trace[mode])
        ax.set_title("with a cache" if mode == "cached" else "without")
        ax.set(xlabel="token", ylim=(rows - 0.4, -0.6))
    axes[0].set_ylabel("pass")
    key = [
        Patch(color=PALETTE[colour], alpha=alpha, label=kind)
        for kind, (colour, alpha) in KINDS.items()
    ]
    fig.legend(handles=key, loc="outside lower left", ncols=2)
    return fig


def _draw_passes(ax: Axes, passes: Sequence[Mapping[str, int]]) -> None:
    """Draw what each pass reads and computes as bars over the tokens."""
    from cutaway.book.figure import PALETTE

    for row, one in enumerate(passes):
        fresh = max(one["start"], one["seen"])
        edges = (0, one["start"], fresh, one["stop"])
        for (low, high), (colour, alpha) in zip(
            pairwise(edges), KINDS.values(), strict=True
        ):
            if high > low:
                ax.barh(
                    row,
                    high - low,
                    left=low,
                    height=0.8,
                    color=PALETTE[colour],
                    alpha=alpha,
                )
    ax.set_yticks(range(len(passes)), [str(n + 1) for n in range(len(passes))])
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
