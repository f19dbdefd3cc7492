"""From logits to the next token id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.core.checks import check
from cutaway.core.errors import ArgumentError
from cutaway.sampling.distribution import probabilities, process_logits
from cutaway.sampling.orders import steps_of
from cutaway.sampling.processors import checked_logits

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from numpy.typing import ArrayLike

    from cutaway.sampling.distribution import Order
    from cutaway.sampling.params import SamplingParams
    from cutaway.sampling.penalties import History


def new_generator(params: SamplingParams) -> np.random.Generator:
    """Return the random generator of one request.

    Each request owns one, so its random numbers do not depend on which
    others run beside it, nor in what order.

    Args:
        params: ``seed`` is used; None takes entropy from the system.

    >>> from cutaway.sampling import SamplingParams
    >>> params = SamplingParams(seed=7)
    >>> new_generator(params).random() == new_generator(params).random()
    True
    """
    return np.random.default_rng(params.seed)


def sample(
    logits: ArrayLike,
    params: SamplingParams,
    generator: np.random.Generator,
    history: History | None = None,
    *,
    order: Order = "cutaway",
) -> int:
    """Choose one token.

    Greedy takes the largest logit, the lowest id among equals. Otherwise
    one uniform number is looked up in the running sum of the
    probabilities (the inverse of the distribution function).

    Args:
        logits: ``[vocab]``, finite or ``-inf``.
        params: Penalties, temperature and cuts.
        generator: The request's generator; advanced by exactly one number,
            or by none when greedy.
        history: As for ``process_logits``.
        order: As for ``process_logits``.

    Returns:
        A token id whose probability is not 0.

    Raises:
        ArgumentError: As for ``process_logits``; the generator has then
            not moved.

    Cost: as ``probabilities``.
    Differs: vLLM takes ``argmax(prob / Exp(1))``, which has the same
    distribution: ``torch.multinomial`` would make the CPU wait for the
    GPU. Greedy's choice among equals is that of NumPy's and PyTorch's
    argmax: the first.

    >>> from cutaway.sampling import SamplingParams
    >>> sample([1.0, 7.0, 7.0], SamplingParams(temperature=0), new_generator(
    ...     SamplingParams(seed=0)))
    1
    """
    z, _ = checked_logits(logits)
    if z.ndim != 1:
        raise ArgumentError("logits.shape", z.shape, "[vocab]")
    if params.is_greedy:
        if steps_of(params, order) == ("temperature",):
            return int(z.argmax())  # nothing comes before it
        return int(process_logits(z, params, history, order=order).argmax())
    probs = probabilities(z, params, history, order=order)
    return _draw(probs, generator)


def sample_batch(
    logits: ArrayLike,
    params: Sequence[SamplingParams],
    generators: Sequence[np.random.Generator],
    histories: Sequence[History | None] | None = None,
    *,
    order: Order = "cutaway",
) -> Int[np.ndarray, " rows"]:
    """Choose one token for each row; rows know nothing of each other.

    Each row has parameters, a generator and a history of its own. Its
    token is what ``sample`` gives for the row alone, whatever stands in
    the other rows and in whatever order.

    Args:
        logits: ``[rows, vocab]``, finite or ``-inf``.
        params: One a row.
        generators: One a row, no two the same object: a shared generator
            would make a row depend on those before it.
        histories: One a row; None where no penalty needs one.
        order: As for ``process_logits``, of all rows.

    Returns:
        int64 token ids.

    Raises:
        ArgumentError: A row is bad, or the numbers of rows differ. No
            generator has then moved.

    Cost: rows times ``sample``; 8 bytes x rows x vocab of memory.

    >>> from cutaway.sampling import SamplingParams
    >>> params = [SamplingParams(temperature=0), SamplingParams(seed=1)]
    >>> generators = [new_generator(each) for each in params]
    >>> sample_batch([[0.0, 9.0], [0.0, 99.0]], params, generators)
    array([1, 1])
    """
    z, _ = checked_logits(logits)
    if z.ndim != 2:
        raise ArgumentError("logits.shape", z.shape, "[rows, vocab]")
    if histories is None:
        histories = [None] * len(z)
    named = {"params": params, "generators": generators, "histories": histories}
    for name, given in named.items():
        _check_rows(name, given, len(z))
    own = {id(generator) for generator in generators}
    expected = "a generator of its own for each row"
    check(len(own) == len(z), "generators", f"{len(own)} of them", expected)
    rows = [
        probabilities(row, each, history, order=order)
        for row, each, history in zip(z, params, histories, strict=True)
    ]
    chosen = [
        int(probs.argmax()) if each.is_greedy else _draw(probs, generator)
        for probs, each, generator in zip(rows, params, generators, strict=True)
    ]
    return np.array(chosen, np.int64)


def _draw(
    probs: Float[np.ndarray, " vocab"], generator: np.random.Generator
) -> int:
    """Look one uniform number up in the running sum."""
    cumulative = np.cumsum(probs)
    cumulative /= cumulative[-1]  # the last is 1, and random() is below 1
    return int(np.searchsorted(cumulative, generator.random(), side="right"))


def _check_rows(name: str, given: Any, rows: int) -> None:
    """Raise unless there is one for each row."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise ArgumentError(name, repr(given), f"a list of {rows}")
    check(len(given) == rows, name, f"{len(given)}", f"{rows}: one a row")
