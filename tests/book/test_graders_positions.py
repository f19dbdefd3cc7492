"""Graders of ``flow/positions``: right however written; telling if wrong."""

from __future__ import annotations

import numpy as np
import torch

from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.book.judge import Judge
from cutaway.core import Llama3Scaling
from cutaway.layers import apply_rope, rope_frequencies, scaled_frequencies
from cutaway.weights import permute_rows

ROTATE, PERMUTE, LLAMA3, ALIBI = section_exercises("flow/positions")


def accepted(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


def rejected(exercise, answer) -> str:
    result = verdict(exercise, answer)
    assert result.status == "wrong", result.message
    return " ".join(result.message.split())


def test_the_package_solves_the_exercises():
    def rotate(x, positions, theta):
        frequencies = rope_frequencies(x.shape[-1], theta)
        options = {"layout": "half_split", "impl": "numpy"}
        return apply_rope(x, positions, frequencies, **options)

    def llama3(frequencies, factor, low, high, trained):
        head_dim = 2 * len(frequencies)
        second = frequencies[1] if head_dim > 2 else 0.5  # tells theta
        theta = second ** (-head_dim / 2)
        scaling = Llama3Scaling(
            factor=factor,
            low_freq_factor=low,
            high_freq_factor=high,
            original_max_seq_len=trained,
        )
        return scaled_frequencies(head_dim, theta, scaling)[0]

    accepted(ROTATE, rotate)
    accepted(PERMUTE, permute_rows)
    accepted(LLAMA3, llama3)


def test_rotation_written_with_complex_numbers_is_right():
    def answer(x, positions, theta):
        half = x.shape[-1] // 2
        frequencies = theta ** (-2 * np.arange(half) / x.shape[-1])
        turn = np.exp(1j * np.outer(positions, frequencies))[:, None]
        turned = (x[..., :half] + 1j * x[..., half:]) * turn
        return np.concatenate((turned.real, turned.imag), axis=-1)

    accepted(ROTATE, answer)


def test_frequencies_may_be_written_in_any_way():
    exponents = {
        "reciprocal": lambda r, d, theta: 1 / theta ** (2 * r / d),
        "exponential": lambda r, d, theta: np.exp(-2 * r / d * np.log(theta)),
    }
    for frequencies_of in exponents.values():

        def answer(x, positions, theta, frequencies_of=frequencies_of):
            half = x.shape[-1] // 2
            frequencies = frequencies_of(np.arange(half), 2 * half, theta)
            angles = positions[:, None, None] * frequencies
            a, b = x[..., :half], x[..., half:]
            cos, sin = np.cos(angles), np.sin(angles)
            return np.concatenate((a * cos - b * sin, a * sin + b * cos), -1)

        for seed in range(100):
            judge = Judge(ROTATE, answer, np.random.default_rng(seed))
            ROTATE.grade(judge)  # raises at the first wrong number


def test_rotation_written_as_rotate_half_is_right():
    def answer(x, positions, theta):
        half = x.shape[-1] // 2
        angles = np.outer(positions, theta ** (-np.arange(half) / half))
        angles = np.concatenate((angles, angles), axis=-1)[:, None]
        swapped = np.concatenate((-x[..., half:], x[..., :half]), axis=-1)
        return x * np.cos(angles) + swapped * np.sin(angles)

    accepted(ROTATE, answer)


def test_rotating_in_place_is_told():
    def answer(x, positions, theta):
        turned = ROTATE.reference(x, positions, theta)
        x[...] = turned
        return x

    assert "it changed its argument x" in rejected(ROTATE, answer)


def test_a_loop_over_rows_is_a_right_permutation():
    def answer(weight, num_heads):
        moved = np.empty_like(weight)
        width = len(weight) // num_heads
        for row in range(len(weight)):
            head, inside = divmod(row, width)
            s, r = divmod(inside, width // 2)
            moved[head * width + 2 * r + s] = weight[row]
        return moved

    accepted(PERMUTE, answer)


def test_the_formula_of_transformers_is_a_right_scaling():
    def answer(frequencies, factor, low, high, trained):
        wavelengths = 2 * np.pi / frequencies
        scaled = np.where(
            wavelengths > trained / low, frequencies / factor, frequencies
        )
        smooth = (trained / wavelengths - low) / (high - low)
        blended = (1 - smooth) * frequencies / factor + smooth * frequencies
        between = (wavelengths >= trained / high) & (
            wavelengths <= trained / low
        )
        return np.where(between, blended, scaled)

    accepted(LLAMA3, answer)


def test_slopes_by_recursion_are_right_and_a_list_is_told():
    def slopes(num_heads):
        if num_heads & (num_heads - 1) == 0:
            return 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
        power = 2 ** (num_heads.bit_length() - 1)
        more = slopes(2 * power)[0::2][: num_heads - power]
        return np.concatenate((slopes(power), more))

    accepted(ALIBI, slopes)
    message = rejected(ALIBI, lambda n: list(slopes(n)))
    assert "expected a NumPy array" in message
    message = rejected(ALIBI, lambda n: torch.tensor(slopes(n)))
    assert "expected a NumPy array" in message
