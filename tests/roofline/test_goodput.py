"""Targets met, and the highest rate at which they are."""

from __future__ import annotations

import pytest

from cutaway.core import CutawayError
from cutaway.roofline import RequestTimes, goodput, slo_attainment

TARGETS = {"max_ttft_s": 1.0, "max_tpot_s": 0.25}
GOOD = RequestTimes.from_gaps(1.0, [0.25, 0.25])  # both met exactly
LATE = RequestTimes.from_gaps(1.5, [0.1])
SLOW = RequestTimes.from_gaps(0.5, [0.1, 0.5])
ONCE = RequestTimes.from_gaps(0.9, [])


def test_both_targets_must_be_met_by_the_same_request():
    assert slo_attainment([GOOD], **TARGETS) == 1
    assert slo_attainment([LATE, SLOW], **TARGETS) == 0
    assert slo_attainment([GOOD, LATE, SLOW, GOOD], **TARGETS) == 0.5


def test_an_answer_of_one_token_meets_the_target_between_tokens():
    assert slo_attainment([ONCE], **TARGETS) == 1


def test_a_single_stall_may_hide_in_the_mean_of_a_request():
    stalls = RequestTimes.from_gaps(1.0, [0.01] * 9 + [2.0])
    assert max(stalls.itl_s) == pytest.approx(2.0)
    assert slo_attainment([stalls], **TARGETS) == 1


def test_goodput_is_the_highest_rate_that_still_meets_the_targets():
    runs = {
        4.0: [GOOD] * 5 + [LATE] * 5,
        1.0: [GOOD] * 10,
        2.0: [GOOD] * 9 + [SLOW],
    }
    assert goodput(runs, **TARGETS) == 2.0
    assert goodput(runs, **TARGETS, min_attainment=1) == 1.0
    assert goodput(runs, **TARGETS, min_attainment=0.5) == 4.0


def test_a_lucky_run_beyond_a_miss_does_not_count():
    runs = {1.0: [GOOD], 2.0: [LATE], 3.0: [GOOD]}
    assert goodput(runs, **TARGETS) == 1.0


def test_no_rate_is_good_enough():
    assert goodput({1.0: [LATE]}, **TARGETS) is None


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"max_ttft_s": 0}, "max_ttft_s"),
        ({"max_tpot_s": float("nan")}, "max_tpot_s"),
        ({"min_attainment": 0}, "min_attainment"),
        ({"min_attainment": 1.1}, "min_attainment"),
        ({"runs": {}}, "runs"),
        ({"runs": {1.0: []}}, "requests"),
        ({"runs": {-1.0: [GOOD]}}, "rate"),
    ],
)
def test_bad_arguments_are_named(changes, name):
    arguments = {"runs": {1.0: [GOOD]}, **TARGETS, **changes}
    with pytest.raises(CutawayError, match=name):
        goodput(arguments.pop("runs"), **arguments)
