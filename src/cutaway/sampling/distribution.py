"""From logits to the distribution that a token is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.errors import ArgumentError
from cutaway.sampling.orders import steps_of
from cutaway.sampling.penalties import (
    History,
    apply_frequency_penalty,
    apply_logit_bias,
    apply_presence_penalty,
    apply_repetition_penalty,
)
from cutaway.sampling.processors import (
    apply_min_p,
    apply_temperature,
    apply_top_k,
    apply_top_p,
    checked_logits,
    softmax,
)
from cutaway.sampling.typical import apply_typical_p

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from numpy.typing import ArrayLike

    from cutaway.sampling.params import SamplingParams

    Order = str | Sequence[str]

_CUTS = MappingProxyType(
    {
        "top_k": apply_top_k,
        "top_p": apply_top_p,
        "min_p": apply_min_p,
        "typical_p": apply_typical_p,
    }
)
_PENALTIES = MappingProxyType(
    {
        "repetition_penalty": apply_repetition_penalty,
        "frequency_penalty": apply_frequency_penalty,
        "presence_penalty": apply_presence_penalty,
    }
)


def process_logits(
    logits: ArrayLike,
    params: SamplingParams,
    history: History | None = None,
    *,
    order: Order = "cutaway",
) -> Float[np.ndarray, "*batch vocab"]:
    """Apply bias, penalties, temperature and cuts, one after another.

    The repetition penalty sees prompt and output, the frequency and the
    presence penalty the output alone, as in vLLM. Temperature 0 keeps the
    largest of the logits that reach it, the lowest id among equals.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``; ``[vocab]`` with a
            bias or a penalty.
        params: What to apply; a parameter at its default does nothing.
        history: Of this sequence; needed by the penalties alone.
        order: A key of ``ORDERS``, or a list of steps.

    Returns:
        float64 of the same shape, ``-inf`` where a token was cut. Rows are
        known up to a constant.

    Raises:
        ArgumentError: Bad logits or order, a step that the order lacks, or
            a penalty without a history.

    Cost: O(vocab) a step, O(vocab log vocab) for top-p and typical-p.
    Source: orders of Hugging Face ``_get_logits_processor``, vLLM
    ``Sampler.forward`` and llama.cpp ``common_sampler_init``.
    Differs: an order is all that is taken from another engine. vLLM raises
    temperatures between 0 and 0.01 to 0.01, Hugging Face refuses 0, and
    llama.cpp's top-k keeps exactly k of equal logits.

    >>> from cutaway.sampling import SamplingParams
    >>> params = SamplingParams(temperature=2, top_k=1)
    >>> process_logits([1.0, 4.0, 2.0], params)
    array([-inf,   0., -inf])
    """
    z, _ = checked_logits(logits)
    z = z.astype(np.float64)
    for step in steps_of(params, order):
        if step == "temperature":
            z = _scale(z, params.temperature)
        elif step == "logit_bias":
            z = apply_logit_bias(z, params.logit_bias)
        elif step in _CUTS:
            z = _CUTS[step](z, getattr(params, step))
        else:
            seen = _seen(step, history)
            z = _PENALTIES[step](z, seen, getattr(params, step))
    return z


def probabilities(
    logits: ArrayLike,
    params: SamplingParams,
    history: History | None = None,
    *,
    order: Order = "cutaway",
) -> Float[np.ndarray, "*batch vocab"]:
    """Return the distribution that ``sample`` draws from.

    What ``process_logits`` leaves, through a softmax.

    Args:
        logits: As for ``process_logits``.
        params: As for ``process_logits``.
        history: As for ``process_logits``.
        order: As for ``process_logits``.

    Returns:
        float64 of the same shape; each row sums to 1. Greedy decoding is
        the row with a single 1.

    Raises:
        ArgumentError: As for ``process_logits``.

    Cost: O(vocab) a row, O(vocab log vocab) with top-p or typical-p.
    Source: the default order is Hugging Face's, with vLLM's penalties.

    >>> from cutaway.sampling import SamplingParams
    >>> probabilities([0.0, 0.0, -9.0], SamplingParams(top_k=2))
    array([0.5, 0.5, 0. ])
    """
    return softmax(process_logits(logits, params, history, order=order))


def candidate_set(
    logits: ArrayLike,
    params: SamplingParams,
    history: History | None = None,
    *,
    order: Order = "cutaway",
) -> Int[np.ndarray, " candidates"]:
    """Return the tokens that may be drawn, the likeliest first.

    Args:
        logits: ``[vocab]``; otherwise as for ``process_logits``.
        params: As for ``process_logits``.
        history: As for ``process_logits``.
        order: As for ``process_logits``.

    Returns:
        Ids, at least one; lower ids first among equals.

    Raises:
        ArgumentError: As for ``process_logits``, or more than one row.

    Cost: as ``process_logits``, and a sort of what is left.

    >>> from cutaway.sampling import SamplingParams
    >>> logits = np.log([0.6, 0.25, 0.15])
    >>> hot = SamplingParams(temperature=3, top_p=0.6)
    >>> candidate_set(logits, hot, order="huggingface")
    array([0, 1])
    >>> candidate_set(logits, hot, order="llama.cpp")
    array([0])
    """
    z = process_logits(logits, params, history, order=order)
    if z.ndim != 1:
        raise ArgumentError("logits.shape", z.shape, "[vocab]")
    left = np.flatnonzero(z > -np.inf)
    return left[np.argsort(-z[left], kind="stable")]


def _scale(
    z: Float[np.ndarray, "*batch vocab"], temperature: float
) -> Float[np.ndarray, "*batch vocab"]:
    """Divide by the temperature, however small; 0 leaves the largest.

    The largest is subtracted first, so that no quotient overflows.
    """
    _, peak = checked_logits(z)
    if temperature == 0:
        winner = z.argmax(axis=-1)[..., None]
        return np.where(np.arange(z.shape[-1]) == winner, 0.0, -np.inf)
    with np.errstate(over="ignore"):
        return apply_temperature(z - peak, temperature)


def _seen(step: str, history: History | None) -> Sequence[int]:
    """Return the tokens that a penalty looks at."""
    if history is None:
        expected = f"a History, for the {step.replace('_', ' ')}"
        raise ArgumentError("history", None, expected)
    if step == "repetition_penalty":
        return history.all_ids
    return history.output_ids
