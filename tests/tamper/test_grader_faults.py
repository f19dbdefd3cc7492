"""Faults of graders: the proof that every grader must pass finds each."""

from __future__ import annotations

import dataclasses
import re

import pytest

from bookcheck.graders import prove_grader
from cutaway.book.exercise import Exercise
from cutaway.book.exercises import find
from cutaway.book.judge import Judge

pytestmark = pytest.mark.tamper

GOOD = find("flow/end_to_end:3")
CASES = ((3, 5, 8, 3, 5), (30, 9, 64, 37, 0), (2, 2, 4, 1, 9))


def accepts_everything(judge: Judge) -> None:
    for case in (*CASES, *drawn(judge)):
        judge.call(*case)


def accepts_five_per_cent(judge: Judge) -> None:
    for case in (*CASES, *drawn(judge)):
        got, expected = judge.call(*case), GOOD.reference(*case)
        exact = isinstance(got, int)
        if not exact or abs(got - expected) > 0.05 * expected:
            judge.same_number(got, expected, *case)


def knows_fixed_inputs_only(judge: Judge) -> None:
    for case in CASES:
        judge.same_number(judge.call(*case), GOOD.reference(*case), *case)


def draws_but_does_not_judge(judge: Judge) -> None:
    knows_fixed_inputs_only(judge)
    for case in drawn(judge):
        judge.call(*case)


def rejects_everything(judge: Judge) -> None:
    judge.call(*CASES[0])
    judge.require(False, "never good enough")


def drawn(judge: Judge) -> list[tuple[int, ...]]:
    rng = judge.rng
    return [tuple(map(int, rng.integers(1, 50, size=5))) for _ in range(3)]


def graded(grade) -> Exercise:
    return dataclasses.replace(GOOD, grade=grade)


def with_hidden_mistake() -> Exercise:
    again = dataclasses.replace(GOOD.mistakes[0], says="this is never said")
    return dataclasses.replace(GOOD, mistakes=(*GOOD.mistakes, again))


FAULTS = {
    "a grader that accepts everything": (
        graded(accepts_everything),
        r"end_to_end:3: a wrong answer is correct: the whole rectangle",
    ),
    "a grader that accepts what is 5 % off": (
        graded(accepts_five_per_cent),
        r"a wrong answer is correct: is slightly off",
    ),
    "a grader that tries the same inputs every time": (
        graded(knows_fixed_inputs_only),
        r"the fresh inputs are the same in two runs",
    ),
    "a grader that draws inputs and does not judge them": (
        graded(draws_but_does_not_judge),
        r"an answer that is right on the fixed inputs alone passes",
    ),
    "a grader that rejects everything": (
        graded(rejects_everything),
        r"the reference is rejected",
    ),
    "a mistake that the grader does not name": (
        with_hidden_mistake(),
        r"'this is never said' is rejected without",
    ),
    "a wrong reference": (
        dataclasses.replace(GOOD, reference=GOOD.mistakes[0].answer),
        r"the reference is rejected",
    ),
    "an exercise without hints": (
        dataclasses.replace(GOOD, hints=()),
        r"0 hints, expected 2 to 4",
    ),
}


def test_untouched_grader_is_proven():
    assert prove_grader(GOOD) == []


@pytest.mark.parametrize("name", FAULTS)
def test_proof_finds(name: str):
    exercise, says = FAULTS[name]
    said = "\n".join(prove_grader(exercise))
    assert re.search(says, said), said
