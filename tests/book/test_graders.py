"""Each grader accepts right answers, however written, and no wrong one."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from bookcheck.graders import prove_grader
from cutaway.book.exercises import find, section_exercises, sections
from cutaway.book.grade import verdict
from cutaway.core import ModelConfig
from cutaway.roofline.counts import forward_counts
from cutaway.roofline.memory import kv_bytes_per_token
from cutaway.sampling import SamplingParams, probabilities

PROBS, LOOP, FLOPS, SPEED = section_exercises("flow/end_to_end")
ALL = [e for section in sections() for e in section_exercises(section)]


def rejected(exercise, answer) -> str:
    """Return the message for a wrong answer, on one line."""
    result = verdict(exercise, answer)
    assert result.status == "wrong", result.message
    return " ".join(result.message.split())


def accepted(exercise, answer) -> None:
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


# Every exercise


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)
def test_grader_is_proven(exercise):
    assert prove_grader(exercise) == []


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)
def test_a_grader_that_accepts_everything_is_detected(exercise):
    lenient = dataclasses.replace(exercise, grade=lambda judge: None)
    problems = prove_grader(lenient)
    assert sum("is correct" in p for p in problems) >= len(exercise.mistakes)


def test_a_grader_that_only_looks_at_types_is_detected():
    def grade(judge):
        got = judge.call(np.zeros(3), 1.0)
        judge.require(isinstance(got, np.ndarray), "no array")

    problems = prove_grader(dataclasses.replace(PROBS, grade=grade))
    assert any("slightly off" in problem for problem in problems)


def test_a_grader_that_ignores_its_generator_is_detected():
    def grade(judge):
        for case in ((1, 2, 3, 4, 5), (2, 2, 2, 2, 2)):
            judge.same_number(judge.call(*case), FLOPS.reference(*case), *case)

    problems = prove_grader(dataclasses.replace(FLOPS, grade=grade))
    assert any("fresh inputs are the same" in p for p in problems)


def test_a_grader_that_rejects_the_reference_is_detected():
    def grade(judge):
        judge.require(False, "never good enough")

    problems = prove_grader(dataclasses.replace(FLOPS, grade=grade))
    assert any("reference is rejected" in problem for problem in problems)


def test_unknown_ids_name_the_known_ones():
    with pytest.raises(ValueError, match=r"one of .*flow/end_to_end"):
        find("flow/start_to_end:1")
    with pytest.raises(ValueError, match="flow/end_to_end:4"):
        find("flow/end_to_end:99")


# 1. Probabilities of the next token


def probs_in_float64(logits, temperature):
    wide = logits.astype(np.float64)
    if temperature > 0:
        weights = np.exp((wide - wide.max(-1, keepdims=True)) / temperature)
        return weights / weights.sum(-1, keepdims=True)
    result = np.zeros_like(wide)
    best = np.argmax(wide, -1)
    np.put_along_axis(result, np.expand_dims(best, -1), 1.0, -1)
    return result


def probs_row_by_row(logits, temperature):
    if temperature == 0:
        ids = np.arange(logits.shape[-1])
        return (ids == logits.argmax(-1)[..., None]).astype(logits.dtype)
    z = logits / temperature
    log_sum = np.logaddexp.reduce(z, axis=-1, keepdims=True)
    return np.exp(z - log_sum)


def probs_by_loop(logits, temperature):
    rows = logits.reshape(-1, logits.shape[-1])
    out = np.empty(rows.shape)
    for i, row in enumerate(rows.tolist()):
        top = max(row)
        if temperature == 0:
            first = row.index(top)
            out[i] = [float(j == first) for j in range(len(row))]
        else:
            parts = [math.exp((x - top) / temperature) for x in row]
            out[i] = np.array(parts) / math.fsum(parts)
    return out.reshape(logits.shape)


@pytest.mark.parametrize(
    "answer", [probs_in_float64, probs_row_by_row, probs_by_loop]
)
def test_probs_written_differently_pass(answer):
    accepted(PROBS, answer)


def global_max(logits, temperature):
    if temperature == 0:
        return probs_in_float64(logits, 0)
    weights = np.exp((logits - logits.max()) / temperature)
    return weights / weights.sum(-1, keepdims=True)


def half_precision(logits, temperature):
    return probs_in_float64(logits, temperature).astype(np.float16)


def as_list(logits, temperature):
    return probs_in_float64(logits, temperature).tolist()


def token_ids(logits, temperature):
    return np.argmax(logits, -1)


def unnormalised(logits, temperature):
    return np.exp(logits - logits.max(-1, keepdims=True))


def percent(logits, temperature):
    return 100 * probs_in_float64(logits, temperature)


def in_place(logits, temperature):
    logits -= logits.max(-1, keepdims=True)
    return probs_in_float64(logits, temperature)


def first_row_only(logits, temperature):
    return probs_in_float64(logits, temperature)[:1]


def bool_one_hot(logits, temperature):
    if temperature == 0:
        return logits == logits.max(-1, keepdims=True)
    return probs_in_float64(logits, temperature)


def tiny_temperature(logits, temperature):
    """Zero replaced by a small number: ties still share."""
    return probs_in_float64(logits, temperature or 1e-6)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (global_max, "a low row underflows to 0/0"),
        (half_precision, "index [0]"),
        (as_list, "got type list, expected a NumPy array"),
        (token_ids, "got type int64, expected a NumPy array"),
        (unnormalised, "index [0]"),
        (percent, "index [0]"),
        (in_place, "it changed its argument logits"),
        (first_row_only, "got shape (1,), expected (4,)"),
        (bool_one_hot, "got dtype bool, expected float64"),
        (tiny_temperature, "the lowest id takes all"),
        (lambda logits: logits, "it raised TypeError"),
        (lambda logits, t: logits / t, "index [0]"),
        (lambda logits, t: logits * np.nan, "got nan"),
        (lambda logits, t: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_probs_are_rejected_with_a_reason(answer, says):
    message = rejected(PROBS, answer)
    assert says in message
    assert '"From logits to a token" in flow/end_to_end' in message


def test_the_message_shows_the_input_that_caused_an_exception():
    message = rejected(PROBS, lambda logits, t: logits[1, 0])
    assert "it raised IndexError: too many indices" in message
    assert "input logits = [-1.6" in message
    assert "(float64), temperature = 0.5" in message


def test_probs_reference_equals_the_package():
    rng = np.random.default_rng(3)
    for temperature in (0.0, 0.3, 1.0, 2.5):
        logits = rng.normal(0, 4, 301)
        ours = PROBS.reference(logits, temperature)
        params = SamplingParams(temperature=temperature)
        np.testing.assert_allclose(ours, probabilities(logits, params))


# 2. The greedy loop


def loop_with_break(forward, prompt_ids, stop_id, max_tokens):
    cache, answer, feed = [], [], list(prompt_ids)
    for _ in range(max_tokens):
        logits = forward(feed, cache)
        best = logits.argmax()
        answer.append(best)
        if best == stop_id:
            break
        feed = [best]
    return answer


def loop_by_recursion(forward, prompt_ids, stop_id, max_tokens):
    cache = []

    def rest(new_ids, left):
        logits = forward(new_ids, cache).tolist()
        token = logits.index(max(logits))
        if token == stop_id or left == 1:
            return [token]
        return [token, *rest((token,), left - 1)]

    return rest(tuple(prompt_ids), max_tokens)


def loop_prefill_apart(forward, prompt_ids, stop_id, max_tokens):
    cache = []
    tokens = [int(np.argmax(forward(np.array(prompt_ids), cache)))]
    while tokens[-1] != stop_id and len(tokens) != max_tokens:
        tokens += [int(np.argmax(forward(tokens[-1:], cache)))]
    return tokens


@pytest.mark.parametrize(
    "answer", [loop_with_break, loop_by_recursion, loop_prefill_apart]
)
def test_loops_written_differently_pass(answer):
    accepted(LOOP, answer)


def feeds_all_again(forward, prompt_ids, stop_id, max_tokens):
    cache, ids = [], list(prompt_ids)
    while len(ids) < len(prompt_ids) + max_tokens:
        ids.append(int(np.argmax(forward(ids, cache))))
        if ids[-1] == stop_id:
            break
    return ids[len(prompt_ids) :]


def appends_to_prompt(forward, prompt_ids, stop_id, max_tokens):
    answer = loop_with_break(forward, prompt_ids, stop_id, max_tokens)
    prompt_ids += answer
    return answer


def never_ends(forward, prompt_ids, stop_id, max_tokens):
    cache, feed = [], prompt_ids
    while True:
        token = int(np.argmax(forward(feed, cache)))
        if token == stop_id:
            return [token]
        feed = [token]


def feeds_an_int(forward, prompt_ids, stop_id, max_tokens):
    cache = []
    first = int(np.argmax(forward(prompt_ids, cache)))
    return [first, int(np.argmax(forward(first, cache)))]


def prompt_fed_twice(forward, prompt_ids, stop_id, max_tokens):
    cache = []
    forward(prompt_ids, cache)
    return loop_with_break(
        lambda ids, _: forward(ids, cache), prompt_ids, stop_id, max_tokens
    )


def last_prompt_id_only(forward, prompt_ids, stop_id, max_tokens):
    return loop_with_break(forward, prompt_ids[-1:], stop_id, max_tokens)


def lowest(forward, prompt_ids, stop_id, max_tokens):
    return loop_with_break(
        lambda *a: -forward(*a), prompt_ids, stop_id, max_tokens
    )


def ignores_max(forward, prompt_ids, stop_id, max_tokens):
    return loop_with_break(forward, prompt_ids, stop_id, max_tokens + 2)


def array_answer(*args):
    return np.array(loop_with_break(*args))


def drops_stop(forward, prompt_ids, stop_id, max_tokens):
    answer = loop_with_break(forward, prompt_ids, stop_id, max_tokens)
    return [i for i in answer if i != stop_id]


def stops_at_zero(forward, prompt_ids, stop_id, max_tokens):
    return loop_with_break(forward, prompt_ids, -1, max_tokens)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (feeds_all_again, "call 2 read 6 ids, expected 1"),
        (appends_to_prompt, "it changed its argument prompt_ids"),
        (never_ends, "it raised ToyForwardError: 10 calls and no end in sight"),
        (feeds_an_int, "new_ids is 1, expected a list of ids"),
        (prompt_fed_twice, "call 2 read 5 ids"),
        (last_prompt_id_only, "call 1 read 1 ids, expected the prompt's 5"),
        (lowest, "not the lowest id among the largest logits"),
        (ignores_max, "off by one: more than max_tokens tokens"),
        (array_answer, "expected a list of ids"),
        (drops_stop, "the stop token is missing"),
        (stops_at_zero, "the loop went on after the stop token"),
        (lambda *_: [], "forward was never called"),
        (lambda *_: [True], "forward was never called"),
    ],
)
def test_wrong_loops_are_rejected_with_a_reason(answer, says):
    message = rejected(LOOP, answer)
    assert says in message
    assert '"The whole loop" in flow/end_to_end' in message


# 3. The FLOPs of causal attention


def flops_by_counting(num_layers, num_heads, head_dim, q_len, context_len):
    last = context_len + q_len
    pairs = (last * (last + 1) - context_len * (context_len + 1)) // 2
    return num_layers * num_heads * pairs * head_dim * 2 * 2


def flops_by_sum(num_layers, num_heads, head_dim, q_len, context_len):
    pairs = sum(range(context_len + 1, context_len + q_len + 1))
    return 4 * head_dim * num_heads * num_layers * pairs


@pytest.mark.parametrize("answer", [flops_by_counting, flops_by_sum])
def test_flops_written_differently_pass(answer):
    accepted(FLOPS, answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda n, h, d, q, c: 4 * n * h * d * q * (q + c), "rectangle"),
        (lambda n, h, d, q, c: 2 * n * h * d * q * (q + c), "got 5760"),
        (lambda n, h, d, q, c: 4 * n * h * d * q * q, "got 4320"),
        (lambda n, h, d, q, c: 4 * n * h * d * (q * c + q * (q - 1) // 2),
         "the diagonal is missing"),
        (lambda n, h, d, q, c: 4 * n * h * d * (q * c + q * (q + 1) / 2),
         "a float, expected an int (// divides ints)"),
        (lambda n, h, d, q, c: int(4 * n * h * d * (q * c + q * (q + 1) / 2))
         + (q > 99_999), "num_layers = 126"),
        (lambda n, h, d, q, c: 4 * n * d * (q * c + q * (q + 1) // 2),
         "one head was counted"),
        (lambda n, h, d, q, c: 4 * n * h * d * (c + 1), "got 2880"),
        (lambda n, h, d, q, c: str(4), "a str, expected an int"),
        (lambda n, h, d, q, c: True, "a bool, expected an int"),
    ],
)  # fmt: skip
def test_wrong_flops_are_rejected_with_a_reason(answer, says):
    message = rejected(FLOPS, answer)
    assert says in message
    assert '"Where the time goes" in flow/end_to_end' in message


def test_flops_reference_equals_the_package():
    config = tiny_config()
    for q_len, context_len in ((1, 0), (5, 0), (1, 9), (4, 7)):
        ops = forward_counts(config, q_len, context_len)
        package = sum(o.flops for o in ops if o.name in ("scores", "values"))
        assert package == FLOPS.reference(3, 6, 8, q_len, context_len)


# 4. The speed limit of decoding


def speed_in_steps(
    weight_bytes, num_layers, num_kv_heads, head_dim, element, context, rate
):
    per_token = 0.0
    for _ in ("key", "value"):
        per_token += num_layers * num_kv_heads * head_dim * element
    return 1 / ((weight_bytes + per_token * context) / rate)


def speed_numpy(w, n, h, d, e, c, b):
    return np.float64(b) / (w + np.prod([2.0, n, h, d, e, c]))


@pytest.mark.parametrize("answer", [speed_in_steps, speed_numpy])
def test_speeds_written_differently_pass(answer):
    accepted(SPEED, answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda w, n, h, d, e, c, b: b / (w + n * h * d * e * c), "factor 2"),
        (lambda w, n, h, d, e, c, b: b / w, "the weights alone"),
        (lambda w, n, h, d, e, c, b: (w + 2 * n * h * d * e * c) / b,
         "seconds per token"),
        (lambda w, n, h, d, e, c, b: b // (w + 2 * n * h * d * e * c),
         "expected 94.2662"),
        (lambda w, n, h, d, e, c, b: b / (w + 2 * n * h * d * e * (c + 1)),
         "expected 94.2662"),
        (lambda w, n, h, d, e, c, b: b / (w + 2 * n * h * d * c), "elements"),
        (lambda w, n, h, d, e, c, b: 8 * b / (w + 2 * n * h * d * e * c),
         "expected 94.2662"),
        (lambda w, n, h, d, e, c, b: None, "is a return missing"),
        (lambda w, n, h, d, e, c, b: b / (2 * n * h * d * e * c), "alone"),
    ],
)  # fmt: skip
def test_wrong_speeds_are_rejected_with_a_reason(answer, says):
    message = rejected(SPEED, answer)
    assert says in message
    assert '"Where the time goes" in flow/end_to_end' in message


def test_speed_reference_equals_the_package():
    config = tiny_config()
    per_token = kv_bytes_per_token(config, 4)
    assert SPEED.reference(1000, 3, 2, 8, 4, 7, 5e9) == pytest.approx(
        5e9 / (1000 + 7 * per_token)
    )


def tiny_config() -> ModelConfig:
    return ModelConfig(
        num_layers=3,
        hidden_size=16,
        num_heads=6,
        num_kv_heads=2,
        head_dim=8,
        ffn_size=32,
        vocab_size=50,
        rope_theta=1e4,
        norm_eps=1e-5,
        max_seq_len=64,
    )
