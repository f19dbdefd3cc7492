"""Exercise 2: top-p, with the token that crosses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def top_p_probs(logits: np.ndarray, p: float) -> np.ndarray:
    """Return the probabilities after top-p, each row summing to 1."""
    return _top_p(logits, p, lambda before, own: before < p)


def _softmax(z: np.ndarray) -> np.ndarray:
    weights = np.exp(z - z.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _top_p(
    logits: np.ndarray,
    p: float,
    keeps: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    renormalise: bool = True,
    unsort: bool = True,
    ascending: bool = False,
) -> np.ndarray:
    """Keep sorted tokens by ``keeps(mass before it, its own mass)``."""
    probs = _softmax(logits)
    order = np.argsort(probs if ascending else -probs, axis=-1, kind="stable")
    ranked = np.take_along_axis(probs, order, axis=-1)
    before = np.zeros_like(ranked)
    np.cumsum(ranked[..., :-1], axis=-1, out=before[..., 1:])
    kept = np.where(keeps(before, ranked), ranked, 0)
    if renormalise:
        kept = kept / kept.sum(axis=-1, keepdims=True)
    if not unsort:
        return kept
    result = np.empty_like(kept)
    np.put_along_axis(result, order, kept, axis=-1)
    return result


def _grade(judge: Judge) -> None:
    telling = np.log([[0.12, 0.35, 0.18, 0.2, 0.15]])  # tells slips apart
    near = np.log([[0.09, 0.5, 0.41]])  # 0.91 crosses 0.9
    cases: list[tuple[np.ndarray, float]] = [(telling, 0.6), (near, 0.9)]
    for shape in ((3, 5), (1, 1), (2, 257), (4, 2), (3, 12)):
        logits = judge.rng.normal(0, 2, shape)
        cases += [(logits, p) for p in (0.001, 0.3, 0.62, 0.9)]
    masked = judge.rng.normal(0, 2, (3, 8))
    masked[:, ::2] = -np.inf
    even = np.zeros((2, 4))  # a quarter each: exact in binary
    cases += [(masked, 0.7), (even, 0.5), (even, 0.6)]
    far_apart = judge.rng.normal(0, 1, (3, 5))
    far_apart += np.array([[900], [-900], [0]])
    cases.append((far_apart, 0.8))
    for logits, p in cases:
        expected = top_p_probs(logits, p)
        judge.same_array(judge.call(logits, p), expected, logits, p)


def _variant(
    keeps: Callable[[np.ndarray, np.ndarray, float], np.ndarray], **how: bool
) -> Callable[[np.ndarray, float], np.ndarray]:
    """Return top-p with another rule, or another slip."""

    def answer(logits: np.ndarray, p: float) -> np.ndarray:
        return _top_p(logits, p, lambda b, own: keeps(b, own, p), **how)

    return answer


def _crossing_lost(before: np.ndarray, own: np.ndarray, p: float) -> np.ndarray:
    kept = before + own <= p
    kept[..., 0] = True
    return kept


def _one_more(before: np.ndarray, own: np.ndarray, p: float) -> np.ndarray:
    kept = before < p
    kept[..., 1:] = kept[..., :-1].copy()
    return kept


def _right(before: np.ndarray, own: np.ndarray, p: float) -> np.ndarray:
    return before < p


def _without_max(logits: np.ndarray, p: float) -> np.ndarray:
    return top_p_probs(np.log(np.exp(logits)), p)


EXERCISE = Exercise(
    id="flow/sampling:2",
    title="Top-p, with the token that crosses",
    reference=top_p_probs,
    grade=_grade,
    hints=(
        "Sort each row from the likeliest down: `np.argsort(-probs, "
        'axis=-1, kind="stable")` and `np.take_along_axis`.',
        "A token stays if the tokens *before* it sum to less than p: "
        "`np.cumsum(ranked, axis=-1) - ranked < p`.",
        "Put the kept ones back with `np.put_along_axis(result, order, kept, "
        "axis=-1)`, and divide each row by its sum.",
    ),
    reread="Cutting off the tail",
    mistakes=(
        Mistake(
            _variant(_crossing_lost),
            "the token that crosses p was dropped; it belongs to the set",
        ),
        Mistake(
            _variant(lambda before, own, p: before <= p),
            "the set had reached p already: the next token is not needed",
        ),
        Mistake(_variant(_one_more), "one token more than reaches p"),
        Mistake(
            _variant(_right, renormalise=False),
            "what is left must sum to 1 again",
        ),
        Mistake(
            _variant(_right, unsort=False),
            "the probabilities are sorted; each belongs to its token",
        ),
        Mistake(
            _variant(_right, ascending=True),
            "the sum began at the least likely token",
        ),
        Mistake(
            _variant(lambda before, own, p: own >= p * own[..., :1]),
            "that is min-p: a ratio to the likeliest, not a sum",
        ),
        Mistake(
            lambda logits, _: _softmax(logits),
            "nothing was cut off",
        ),
        Mistake(
            _without_max,
            "exp overflowed: subtract each row's largest logit first",
        ),
    ),
)
