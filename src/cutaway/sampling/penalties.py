"""Logits moved because of what was said before, or because you say so.

Each takes the logits of one sequence, ``[vocab]``, since a history belongs
to one sequence, and returns a new array. The repetition penalty scales, the
other three add.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.core.checks import check, check_real
from cutaway.core.errors import ArgumentError
from cutaway.sampling.processors import checked_logits

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from numpy.typing import ArrayLike

LARGEST_PENALTY = 2.0
LARGEST_BIAS = 100.0


@dataclass(frozen=True)
class History:
    """What a sequence holds when its next token is chosen.

    Attributes:
        prompt_ids: Tokens that were given.
        output_ids: Tokens chosen so far. The sequence may grow between two
            calls; nothing here changes it.

    >>> History([504, 3575], [282]).all_ids
    (504, 3575, 282)
    """

    prompt_ids: Sequence[int] = ()
    output_ids: Sequence[int] = ()

    @property
    def all_ids(self) -> tuple[int, ...]:
        """Prompt and output."""
        return (*self.prompt_ids, *self.output_ids)


def apply_repetition_penalty(
    logits: ArrayLike, token_ids: Sequence[int], penalty: float
) -> Float[np.ndarray, " vocab"]:
    """Make tokens that occurred less likely, each once.

    A positive logit is divided by the penalty, any other is multiplied:
    dividing a negative logit would raise it and reward the repetition.
    How often a token occurred does not count.

    Args:
        logits: ``[vocab]``, finite or ``-inf``. Their zero matters here,
            as it does nowhere else in sampling: a constant added to all
            logits changes no probability, but it changes what this does.
        token_ids: What occurred; engines pass prompt and output.
        penalty: Greater than 0. Above 1 it deters, below 1 it invites, 1
            changes nothing.

    Raises:
        ArgumentError: Bad logits, ids or penalty, or one so small that a
            quotient overflows.

    Cost: O(vocab) for the copy, O(tokens) for the change.
    Source: Keskar et al. 2019, arXiv 1909.05858, section 4.1.
    Differs: the paper's formula only divides. The sign is Hugging Face's,
    vLLM's and llama.cpp's.

    >>> apply_repetition_penalty([4.0, -4.0, 1.0], [0, 1, 1], 2.0)
    array([ 2., -8.,  1.])
    """
    check_real("penalty", penalty, 0, open_low=True)
    z, ids = _row_and_ids(logits, token_ids)
    seen = z[ids].astype(np.float64)
    with np.errstate(over="ignore"):
        moved = np.where(seen > 0, seen / penalty, seen * penalty)
        z[ids] = moved.astype(z.dtype)
    check(
        not np.isposinf(z[ids]).any(),
        "penalty",
        penalty,
        f"one with logits / penalty finite in {z.dtype}",
    )
    return z


def apply_frequency_penalty(
    logits: ArrayLike, token_ids: Sequence[int], penalty: float
) -> Float[np.ndarray, " vocab"]:
    """Subtract the penalty once for every time a token occurred.

    Args:
        logits: ``[vocab]``, finite or ``-inf``.
        token_ids: What occurred; vLLM passes the output alone.
        penalty: In [-2, 2]; negative invites repetition.

    Raises:
        ArgumentError: Bad logits, ids or penalty.

    Cost: O(vocab + tokens).
    Source: vLLM ``apply_penalties``, which follows OpenAI's interface.
    Differs: llama.cpp counts over its last 64 tokens, prompt included.

    >>> apply_frequency_penalty([4.0, -4.0, 1.0], [0, 1, 1], 0.5)
    array([ 3.5, -5. ,  1. ])
    """
    check_real("penalty", penalty, -LARGEST_PENALTY, LARGEST_PENALTY)
    z, ids = _row_and_ids(logits, token_ids)
    counts = np.bincount(ids, minlength=len(z))
    return z - (penalty * counts).astype(z.dtype)


def apply_presence_penalty(
    logits: ArrayLike, token_ids: Sequence[int], penalty: float
) -> Float[np.ndarray, " vocab"]:
    """Subtract the penalty from every token that occurred, however often.

    Args:
        logits: ``[vocab]``, finite or ``-inf``.
        token_ids: What occurred; vLLM passes the output alone.
        penalty: In [-2, 2]; negative invites repetition.

    Raises:
        ArgumentError: Bad logits, ids or penalty.

    Cost: O(vocab + tokens).
    Source: vLLM ``apply_penalties``, which follows OpenAI's interface.
    Differs: llama.cpp looks at its last 64 tokens, prompt included.

    >>> apply_presence_penalty([4.0, -4.0, 1.0], [0, 1, 1], 0.5)
    array([ 3.5, -4.5,  1. ])
    """
    check_real("penalty", penalty, -LARGEST_PENALTY, LARGEST_PENALTY)
    z, ids = _row_and_ids(logits, token_ids)
    z[np.unique(ids)] -= z.dtype.type(penalty)
    return z


def apply_logit_bias(
    logits: ArrayLike, bias: Mapping[int, float] | Iterable[tuple[int, float]]
) -> Float[np.ndarray, " vocab"]:
    """Add a number of your choice to the logits of some tokens.

    Args:
        logits: ``[vocab]``, finite or ``-inf``; a token at ``-inf`` stays
            there.
        bias: From token ids to numbers in [-100, 100], or such pairs: -100
            all but forbids a token, 100 all but forces it.

    Raises:
        ArgumentError: Bad logits, an id beyond the vocabulary or named
            twice, or a number out of range.

    Cost: O(vocab) for the copy.
    Source: vLLM ``SamplingParams.logit_bias``.
    Differs: vLLM clips numbers beyond 100.

    >>> apply_logit_bias([4.0, -4.0, 1.0], {1: 5.0})
    array([4., 1., 1.])
    """
    pairs = checked_bias("bias", bias)
    z, ids = _row_and_ids(logits, [each for each, _ in pairs], "bias")
    z[ids] += np.array([number for _, number in pairs], z.dtype)
    return z


def checked_bias(name: str, bias: Any) -> tuple[tuple[int, float], ...]:
    """Return a logit bias as pairs in order of their ids, or refuse it.

    >>> checked_bias("bias", {7: 1, 2: -100})
    ((2, -100.0), (7, 1.0))
    """
    expected = "a mapping from token ids to numbers, such as {42: -100}"
    if bias is None:
        return ()
    try:
        given = bias if isinstance(bias, Mapping) else list(bias)
        pairs = list(dict(given).items())
    except (TypeError, ValueError):
        raise ArgumentError(name, repr(bias), expected) from None
    check(len(given) == len(pairs), name, repr(bias), "each token id once")
    for key, _ in pairs:
        whole = isinstance(key, (int, np.integer))
        good = whole and not isinstance(key, bool) and key >= 0
        check(bool(good), name, f"key {key!r}", expected)
    return tuple(
        (
            int(key),
            check_real(f"{name}[{key}]", value, -LARGEST_BIAS, LARGEST_BIAS),
        )
        for key, value in sorted(pairs)
    )


def _row_and_ids(
    logits: ArrayLike, token_ids: Any, name: str = "token_ids"
) -> tuple[Float[np.ndarray, " vocab"], Int[np.ndarray, " tokens"]]:
    """Return a copy of one row of logits, and ids that lie within it."""
    z, _ = checked_logits(logits)
    if z.ndim != 1:
        raise ArgumentError("logits.shape", z.shape, "[vocab]: one sequence")
    expected = "a list of token ids"
    try:
        ids = np.asarray(token_ids)
    except ValueError:
        raise ArgumentError(name, "lists of unequal length", expected) from None
    if ids.ndim == 1 and ids.size == 0:
        return z.copy(), np.zeros(0, np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        got = f"{ids.dtype} of shape {ids.shape}"
        raise ArgumentError(name, got, expected)
    outside = np.flatnonzero((ids < 0) | (ids >= len(z)))
    if outside.size:
        place = int(outside[0])
        expected = f"a token id from 0 to {len(z) - 1}"
        raise ArgumentError(f"{name}[{place}]", int(ids[place]), expected)
    return z.copy(), ids.astype(np.int64)
