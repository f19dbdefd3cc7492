"""The trace and the picture of merges: how bytes grow into tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cutaway.book.token_steps import visible
from cutaway.core.checks import check, check_int
from cutaway.tokenizer import Tokenizer, to_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["merge_figure", "merge_trace"]


def merge_trace(
    tokenizer: Tokenizer, num_merges: int, examples: Sequence[str]
) -> dict[str, Any]:
    """Return what the widget ``bpe-merges`` needs.

    Args:
        tokenizer: The tokenizer whose merges are shown; its cut must be
            ``smollm``, the one that the widget repeats.
        num_merges: How many of the merges to hand on, from rank 0.
        examples: Texts to start from; the first is shown.

    Returns:
        ``merges``, one ``"left right"`` a line; ``missing_bytes``, those
        without a token; ``examples``.

    Raises:
        ArgumentError: The cut is another, there are fewer merges, or no
            example.

    >>> from cutaway.tokenizer import train_bpe
    >>> made = train_bpe(["low low"], num_merges=2, pretokenizer="smollm")
    >>> merge_trace(made, 2, ["slow"])["merges"]
    'l o\\nlo w'
    """
    spec = tokenizer.spec
    check(spec.pre == "smollm", "tokenizer.spec.pre", spec.pre, "'smollm'")
    check_int("num_merges", num_merges, low=1, high=len(spec.merges))
    check(bool(examples), "examples", examples, "at least one text")
    return {
        "merges": "\n".join(spec.merges[:num_merges]),
        "missing_bytes": sorted(tokenizer.missing_bytes),
        "examples": list(examples),
    }


def merge_figure(steps: Sequence[Sequence[str]]) -> Figure:
    """Draw a word's merges: a row for each step, a box for each token.

    Args:
        steps: What ``Tokenizer.merge_steps`` returns.

    Raises:
        ArgumentError: There is no step.

    >>> fig = merge_figure([["l", "o", "w"], ["lo", "w"], ["low"]])
    """
    from cutaway.book.figure import PALETTE, subplots

    check(bool(steps), "steps", steps, "at least one step")
    width = sum(len(token) for token in steps[0])
    fig, ax = subplots(height_in=0.5 + 0.34 * len(steps))
    before: list[tuple[int, int]] = []
    for row, tokens in enumerate(steps):
        start, spans = 0, []
        for token in tokens:
            spans.append((start, start + len(token)))
            start += len(token)
        for token, span in zip(tokens, spans, strict=True):
            fresh = row > 0 and span not in before
            ax.barh(
                row,
                span[1] - span[0] - 0.12,
                left=span[0] + 0.06,
                height=0.74,
                color=PALETTE["blue" if fresh else "grey"],
                alpha=1 if fresh else 0.25,
            )
            label = ax.text(
                sum(span) / 2, row, visible(to_bytes(token)), ha="center",
                va="center",
            )  # fmt: skip
            if fresh:
                label.set_color("white")
        before = spans
    ax.set(xlim=(0, width), ylim=(len(steps) - 0.4, -0.6), xlabel="bytes")
    ax.set_xticks([])
    ax.set_yticks(range(len(steps)))
    ax.set_ylabel("merges done")
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return fig
