"""The graders of ``kv_cache/fewer_bits``: other right answers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.core import float8_decode
from cutaway.kvcache import (
    GroupScheme,
    IntegerCodec,
    KIVICache,
    unpack_bits,
)
from cutaway.roofline import CONFIGS

ROWS, UNPACK, E4M3, BYTES = section_exercises("kv_cache/fewer_bits")


def rows_by_nearest_level(x, bits):
    out = np.empty_like(x)
    for row, numbers in enumerate(x):
        levels = np.linspace(numbers.min(), numbers.max(), 2**bits)
        for column, number in enumerate(numbers):
            # of two equally near, the even level
            apart = np.abs(levels - number)
            near = np.flatnonzero(apart <= apart.min() + 1e-12)
            even = near[near % 2 == 0]
            out[row, column] = levels[even[0] if len(even) else near[0]]
    return out


def unpack_by_text(packed, count):
    text = [f"{byte:08b}" for byte in packed]
    pairs = [t[i : i + 2] for t in text for i in (6, 4, 2, 0)]
    return np.array([int(pair, 2) for pair in pairs[:count]], np.uint8)


def decode_by_torch(codes):
    numbers = torch.from_numpy(np.array(codes)).view(torch.float8_e4m3fn)
    return numbers.double().numpy()


def bytes_by_steps(num_tokens, numbers, bits, group, residual):
    rounded = 0
    while num_tokens - rounded >= residual + group:
        rounded += group
    group_bits = numbers * (group * bits + 16 + 16)
    return rounded / group * group_bits / 8 + 2.0 * numbers * (
        num_tokens - rounded
    )


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (ROWS, rows_by_nearest_level),
        (UNPACK, unpack_by_text),
        (UNPACK, lambda packed, count: unpack_bits(packed, 2, count)),
        (E4M3, decode_by_torch),
        (E4M3, lambda c: float8_decode(c, "e4m3").astype(np.float64)),
        (BYTES, bytes_by_steps),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_the_package_rounds_as_the_exercise_but_for_float16_scales(bits):
    x = np.random.default_rng(0).normal(0, 1, (20, 32))
    codec = IntegerCodec(bits=bits, affine=True)
    got = codec.decode(codec.encode(x), 32)
    step = np.ptp(x, axis=1, keepdims=True) / (2**bits - 1)
    # a number between two levels may go either way
    apart = np.abs(got - ROWS.reference(x, bits)) / step
    assert np.median(apart) < 0.1
    assert apart.max() < 1.1


def test_the_bytes_are_those_that_the_cache_has_in_use():
    config = CONFIGS["smollm2-135m"]
    numbers = config.num_layers * config.kv_shape.elements
    for tokens in (100, 160, 500):
        cache = KIVICache(config, tokens, GroupScheme(bits=2), chunk_tokens=1)
        packed = cache._keys.nbytes + cache._values.nbytes
        rounded = (tokens - 128) // 32 * 32 if tokens > 128 else 0
        waiting = 2 * numbers * (tokens - rounded)
        assert BYTES.reference(tokens, numbers, 2, 32, 128) == packed + waiting


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (ROWS, lambda x, bits: x, "expected"),
        (UNPACK, lambda packed, count: packed, "expected"),
        (E4M3, lambda codes: codes.astype(float), "expected"),
        (BYTES, lambda n, m, b, g, r: n * m * b / 8, "expected"),
    ],
)
def test_wrong_answers_are_rejected_with_a_reason(exercise, answer, says):
    result = verdict(exercise, answer)
    assert result.status == "wrong"
    message = " ".join(result.message.split())
    assert says in message
    assert "in kv_cache/fewer_bits" in message
