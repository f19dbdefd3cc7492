"""Exercise 2: the loop that turns a forward pass into an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge
from cutaway.book.toy_forward import ToyForward

REFED = (
    "the keys and values of earlier tokens are in the cache; feed the "
    "newest token alone"
)
PIECEMEAL = "the whole prompt goes into the first forward pass"
FORGOT = "a new cache for every call: what was read before is lost"
NO_STOP = "the loop went on after the stop token"
LOST_STOP = "the stop token is missing; it belongs to the answer"
PROMPT_TOO = "the prompt is part of the answer; return the new tokens only"
TOO_MANY = "off by one: more than max_tokens tokens"
TOO_FEW = "off by one: max_tokens new tokens are allowed"
NOT_ARGMAX = "not the lowest id among the largest logits (np.argmax)"
WASTED = "a forward pass after the last token: nobody reads its logits"


def generate_greedy(
    forward: Callable[[list[int], list[Any]], np.ndarray],
    prompt_ids: list[int],
    stop_id: int,
    max_tokens: int,
) -> list[int]:
    """Return the greedy answer, the stop token included."""
    cache: list[Any] = []
    new_ids = prompt_ids
    answer: list[int] = []
    while len(answer) < max_tokens:
        token = int(np.argmax(forward(new_ids, cache)))
        answer.append(token)
        if token == stop_id:
            break
        new_ids = [token]
    return answer


def _grade(judge: Judge) -> None:
    for prompt_len in (5, 1, 2, 17):
        for max_tokens in (3, 1, 2, 8, 31):
            seed = int(judge.rng.integers(1 << 30))
            prompt = [int(i) for i in judge.rng.integers(0, 13, prompt_len)]
            free = generate_greedy(ToyForward(seed, 99), prompt, -1, max_tokens)
            for stop_id in (-1, free[0], free[-1], prompt[0]):
                _one_run(judge, seed, prompt, stop_id, max_tokens)


def _one_run(
    judge: Judge, seed: int, prompt: list[int], stop_id: int, max_tokens: int
) -> None:
    """Check one run: what was fed to the model, then what came out."""
    reference = ToyForward(seed, max_tokens)
    expected = generate_greedy(reference, prompt, stop_id, max_tokens)
    forward = ToyForward(seed, len(prompt) + max_tokens + 2)
    args = (forward, prompt, stop_id, max_tokens)
    got = judge.call(*args)
    _check_feeding(judge, forward, args)
    judge.require(
        isinstance(got, list) and all(_is_id(i) for i in got),
        f"got {str(got)[:60]}, expected a list of ids",
        *args,
    )
    got = [int(i) for i in got]
    likely = "" if got == expected else _slip(got, expected, args)
    finding = _first_difference(got, expected)
    judge.require(got == expected, finding, *args, likely=likely)
    judge.require(
        len(forward.fed) == len(expected),
        f"{len(forward.fed)} forward passes for {len(expected)} tokens",
        *args,
        likely=WASTED,
    )


def _check_feeding(judge: Judge, forward: ToyForward, args: tuple) -> None:
    """Check that the prompt is read once, then the newest token alone."""
    fed, prompt = forward.fed, args[1]
    judge.require(bool(fed), "forward was never called", *args)
    finding = f"call 1 read {len(fed[0])} ids, expected the prompt's "
    finding += f"{len(prompt)}"
    same_len = len(fed[0]) == len(prompt)
    judge.require(same_len, finding, *args, likely=PIECEMEAL)
    finding = f"call 1 read {fed[0]}, expected the prompt"
    judge.require(fed[0] == prompt, finding, *args)
    for call, (ids, best) in enumerate(
        zip(fed[1:], forward.best, strict=False), start=2
    ):
        finding = f"call {call} read {len(ids)} ids, expected 1"
        judge.require(len(ids) == 1, finding, *args, likely=REFED)
        finding = f"call {call} read token {ids[0]}, expected {best}"
        judge.require(ids == [best], finding, *args, likely=NOT_ARGMAX)
    other = forward.fresh_caches
    finding = f"call {other[0]} came with another cache" if other else ""
    judge.require(not other, finding, *args, likely=FORGOT)


def _slip(got: list[int], expected: list[int], args: tuple) -> str:
    """Name the mistake that makes ``got`` out of ``expected``."""
    _, prompt, stop_id, _ = args
    stopped = expected[-1] == stop_id
    if got == prompt + expected:
        return PROMPT_TOO
    if got == expected[:-1]:
        return LOST_STOP if stopped else TOO_FEW
    if got[: len(expected)] == expected:
        return NO_STOP if stopped else TOO_MANY
    return NOT_ARGMAX


def _first_difference(got: list[int], expected: list[int]) -> str:
    for index, (mine, right) in enumerate(zip(got, expected, strict=False)):
        if mine != right:
            return f"index [{index}]: got token {mine}, expected {right}"
    return f"got {len(got)} tokens, expected {len(expected)}"


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _variant(
    *,
    argmax: Callable[[np.ndarray], Any] = np.argmax,
    extra: int = 0,
    keep_stop: bool = True,
    use_stop: bool = True,
    refeed: bool = False,
    with_prompt: bool = False,
) -> Callable[..., list[int]]:
    """Return the loop with one slip in it."""

    def loop(
        forward: Callable[..., np.ndarray],
        prompt_ids: list[int],
        stop_id: int,
        max_tokens: int,
    ) -> list[int]:
        cache: list[Any] = []
        new_ids, answer = list(prompt_ids), []
        while len(answer) < max_tokens + extra:
            token = int(argmax(forward(new_ids, cache)))
            if token == stop_id and use_stop:
                return answer + [token] * keep_stop
            answer.append(token)
            new_ids = [token]
            if refeed:
                cache, new_ids = [], [*prompt_ids, *answer]
        return [*prompt_ids, *answer] if with_prompt else answer

    return loop


def _forgetful(
    forward: Callable[..., np.ndarray],
    prompt_ids: list[int],
    stop_id: int,
    max_tokens: int,
) -> list[int]:
    return generate_greedy(
        lambda new_ids, _: forward(new_ids, []), prompt_ids, stop_id, max_tokens
    )


def _piecemeal(
    forward: Callable[..., np.ndarray],
    prompt_ids: list[int],
    stop_id: int,
    max_tokens: int,
) -> list[int]:
    def one_by_one(new_ids: list[int], cache: list[Any]) -> np.ndarray:
        return [forward([i], cache) for i in new_ids][-1]

    return generate_greedy(one_by_one, prompt_ids, stop_id, max_tokens)


def _wasteful(
    forward: Callable[..., np.ndarray],
    prompt_ids: list[int],
    stop_id: int,
    max_tokens: int,
) -> list[int]:
    cache: list[Any] = []
    answer: list[int] = []
    logits = forward(prompt_ids, cache)
    for _ in range(max_tokens):
        answer.append(int(np.argmax(logits)))
        if answer[-1] == stop_id:
            break
        logits = forward(answer[-1:], cache)
    return answer


EXERCISE = Exercise(
    id="flow/end_to_end:2",
    title="The greedy loop",
    reference=generate_greedy,
    grade=_grade,
    hints=(
        "Start with `cache = []` and give that same list to every call. The "
        "first call reads the whole prompt.",
        "After that each call reads one id, `[token]`: the rest is in the "
        "cache. `np.argmax` picks the token.",
        "Append the token to the answer first, then stop if it is `stop_id` "
        "or if there are `max_tokens` of them, and only then call again.",
    ),
    reread="The whole loop",
    mistakes=(
        Mistake(_variant(refeed=True), REFED),
        Mistake(_piecemeal, PIECEMEAL),
        Mistake(_forgetful, FORGOT),
        Mistake(_variant(use_stop=False), NO_STOP),
        Mistake(_variant(keep_stop=False), LOST_STOP),
        Mistake(_variant(with_prompt=True), PROMPT_TOO),
        Mistake(_variant(extra=1), TOO_MANY),
        Mistake(_variant(extra=-1), TOO_FEW),
        Mistake(
            _variant(argmax=lambda x: len(x) - 1 - np.argmax(x[::-1])),
            NOT_ARGMAX,
        ),
        Mistake(_wasteful, WASTED),
    ),
)
