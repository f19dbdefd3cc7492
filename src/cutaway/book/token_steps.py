"""The trace of an answer: what the model thought at each of its tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.core.checks import check, check_int
from cutaway.decoder import generate_tokens
from cutaway.sampling import SamplingParams, softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cutaway.llm import LLM
    from cutaway.tokenizer import Tokenizer

TAIL_TOKENS = 12


def token_steps(
    llm: LLM,
    prompt_token_ids: Sequence[int],
    max_tokens: int = 32,
    *,
    top: int = 5,
) -> dict[str, Any]:
    """Decode greedily and note what led to each token.

    Args:
        llm: The model.
        prompt_token_ids: The prompt, special tokens included.
        max_tokens: Most tokens to produce; the stop token ends it earlier.
        top: How many of the likeliest tokens to keep at each step.

    Returns:
        ``num_prompt_tokens``; ``prompt_tail``, the last tokens of the
        prompt as visible text; ``steps``, one mapping a token: ``token``,
        ``id``, ``top`` (each with ``token``, ``id`` and its probability
        ``p``, at temperature 1), and ``norms``, the lengths of the last
        token's residual vector after the embedding and after each layer.

        ``p`` has 3 and ``norms`` 4 significant digits: between two CPUs
        float32 differs beyond them.

    Raises:
        ArgumentError: The prompt is empty, or a count is below 1.
    """
    ids = [int(i) for i in prompt_token_ids]
    check(bool(ids), "prompt_token_ids", ids, "at least one token")
    check_int("max_tokens", max_tokens, low=1)
    check_int("top", top, low=1)
    steps: list[dict[str, Any]] = []
    norms: list[float] = []

    def observe(name: str, layer: int | None, array: np.ndarray) -> None:
        if name in ("embed", "resid"):
            last = np.asarray(array[-1], np.float64)
            norms.append(float(np.linalg.norm(last)))

    for step in generate_tokens(
        llm.decoder,
        ids,
        SamplingParams(temperature=0, max_tokens=max_tokens),
        stop_token_ids=llm.tokenizer.stop_token_ids,
        observe=observe,
    ):
        seen = _step(llm.tokenizer, step.logits, top)
        steps.append({**seen, "norms": [_digits(n, 4) for n in norms]})
        norms.clear()
    tail = [visible(llm.tokenizer.token_bytes(i)) for i in ids[-TAIL_TOKENS:]]
    return {
        "num_prompt_tokens": len(ids),
        "prompt_tail": tail,
        "steps": steps,
    }


def token_figure(trace: Mapping[str, Any]) -> Figure:
    """Draw a whole trace: one row a token of the answer.

    Args:
        trace: What ``token_steps`` returned.

    Returns:
        Left, the probability of the token that was chosen; right, the
        length of the residual vector by layer.
    """
    from cutaway.book.figure import subplots

    steps = trace["steps"]
    fig, (left, right) = subplots(
        1,
        2,
        height_in=1.2 + 0.3 * len(steps),
        sharey=True,
        width_ratios=(3, 5),
    )
    _draw_probabilities(left, steps)
    _draw_lengths(right, steps)
    for ax in (left, right):
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
    return fig


def _draw_probabilities(ax: Axes, steps: Sequence[Mapping[str, Any]]) -> None:
    """Draw the probability of each chosen token as a bar with its value."""
    from cutaway.book.figure import PALETTE

    rows = range(len(steps))
    chosen = [100 * step["top"][0]["p"] for step in steps]
    ax.barh(rows, chosen, color=PALETTE["blue"], height=0.6)
    for row, percent in zip(rows, chosen, strict=True):
        inside = percent > 60
        label = ax.text(
            percent + (-4 if inside else 4),
            row,
            f"{percent:#.3g}".rstrip("."),
            va="center",
            ha="right" if inside else "left",
        )
        if inside:
            label.set_color("white")
    ax.set(xlim=(0, 100), xticks=(0, 50, 100), xlabel="probability, %")
    ax.set_yticks(rows, [step["token"] for step in steps])


def _draw_lengths(ax: Axes, steps: Sequence[Mapping[str, Any]]) -> None:
    """Draw the lengths, token by layer, as colours on a log scale."""
    from cutaway.book.figure import heatmap

    lengths = np.array([step["norms"] for step in steps])
    mesh = heatmap(ax, np.log10(lengths), label="length of the vector")
    low, high = lengths.min(), lengths.max()
    shown = [t for t in (1, 3, 10, 30, 100, 300, 1000) if low <= t <= high]
    if mesh.colorbar is not None:
        ticks = [float(np.log10(t)) for t in shown]
        mesh.colorbar.set_ticks(ticks, labels=[str(t) for t in shown])
    ax.set(xlabel="layer (0: embedding)")
    ax.set_xticks(range(0, lengths.shape[1], 10))
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", labelleft=False)


def visible(token: bytes) -> str:
    """Return a token as text in which blanks and broken bytes show.

    >>> visible(b" week"), visible(b"\\n"), visible(b"\\xf0\\x9f")
    ('␣week', '↵', '⟨F0 9F⟩')
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return f"⟨{token.hex(' ').upper()}⟩"
    text = text.replace(" ", "␣").replace("\n", "↵").replace("\t", "⇥")
    shown = (c if c.isprintable() else f"⟨{ord(c):X}⟩" for c in text)
    return "".join(shown)


def _step(tokenizer: Tokenizer, logits: np.ndarray, top: int) -> dict[str, Any]:
    """Return the chosen token and its rivals."""
    probs = softmax(np.asarray(logits, np.float64))
    best = np.argsort(-probs, kind="stable")[:top]
    rivals = [
        {
            "token": visible(tokenizer.token_bytes(int(i))),
            "id": int(i),
            "p": _digits(float(probs[i]), 3),
        }
        for i in best
    ]
    return {"token": rivals[0]["token"], "id": rivals[0]["id"], "top": rivals}


def _digits(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
