"""What the graders of ``flow/weights`` tell the learner."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.book.exercises import find
from cutaway.book.judge import Judge, WrongAnswerError

READ = find("flow/weights:4")


def test_a_wrong_answer_is_told_the_tensors_name_as_plain_text():
    judge = Judge(READ, lambda data, name: data, np.random.default_rng(0))
    with pytest.raises(WrongAnswerError) as caught:
        READ.grade(judge)
    assert ", name = 'layers." in caught.value.given
