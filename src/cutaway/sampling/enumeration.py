"""The exact probability of every answer, for distributions that are small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check
from cutaway.sampling.distribution import probabilities
from cutaway.sampling.penalties import History

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cutaway.sampling.distribution import Order
    from cutaway.sampling.params import SamplingParams

MOST_ANSWERS = 10_000


def answer_probabilities(
    logits_after: Callable[[tuple[int, ...]], ArrayLike],
    params: SamplingParams,
    prompt_ids: Sequence[int] = (),
    *,
    order: Order = "cutaway",
) -> dict[tuple[int, ...], float]:
    """Return how likely each answer is that sampling can give.

    The probability of an answer is the product over its tokens, each under
    the distribution after the ones before it. An answer ends with a token
    of ``params.stop_token_ids`` or after ``params.max_tokens``.

    Args:
        logits_after: Returns the logits, ``[vocab]``, that follow an answer
            so far; ``()`` is the empty one. Called once for each.
        params: Penalties, temperature, cuts, length and stop tokens.
        prompt_ids: For the repetition penalty.
        order: As for ``process_logits``.

    Returns:
        From answers to probabilities that sum to 1; answers that cannot
        occur are left out.

    Raises:
        ArgumentError: There are more than 10,000 answers: cut harder, or
            ask for fewer tokens.

    Cost: a forward pass for each answer that goes on.

    >>> from cutaway.sampling import SamplingParams
    >>> two = SamplingParams(max_tokens=2, stop_token_ids=[1])
    >>> answer_probabilities(lambda answer: [0.0, 0.0], two)
    {(1,): 0.5, (0, 0): 0.25, (0, 1): 0.25}
    """
    done: dict[tuple[int, ...], float] = {}
    growing: dict[tuple[int, ...], float] = {(): 1.0}
    while growing:
        longer: dict[tuple[int, ...], float] = {}
        for answer, mass in growing.items():
            history = History(prompt_ids, answer)
            logits = logits_after(answer)
            probs = probabilities(logits, params, history, order=order)
            for token_id in np.flatnonzero(probs).tolist():
                grown = (*answer, token_id)
                stops = token_id in params.stop_token_ids
                ended = stops or len(grown) == params.max_tokens
                (done if ended else longer)[grown] = mass * float(
                    probs[token_id]
                )
            found = len(done) + len(longer)
            expected = f"at most {MOST_ANSWERS}"
            check(found <= MOST_ANSWERS, "answers", f"{found} so far", expected)
        growing = longer
    return done
