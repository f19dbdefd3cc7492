"""Permutation of q and k rows: its formula, its row map, and who needs it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core import ArgumentError
from cutaway.weights import GGUF_ROPE_LAYOUTS, permute_rows, unpermute_rows

SIZES = [(1, 2, 1), (1, 6, 5), (3, 8, 4), (9, 64, 7), (2, 59 * 2, 3)]


@pytest.mark.parametrize(("heads", "head_dim", "hidden"), SIZES)
def test_permute_is_the_formula_of_the_converter(heads, head_dim, hidden):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((heads * head_dim, hidden))
    # llama.cpp, conversion/llama.py
    halves = w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:])
    want = halves.swapaxes(1, 2).reshape(w.shape)
    assert np.array_equal(permute_rows(w, heads), want)


@pytest.mark.parametrize(("heads", "head_dim", "hidden"), SIZES)
def test_row_2j_plus_s_of_a_head_was_row_j_of_half_s(heads, head_dim, hidden):
    w = np.arange(heads * head_dim * hidden).reshape(-1, hidden)
    got = permute_rows(w, heads)
    for head in range(heads):
        for j in range(head_dim // 2):
            for s in range(2):
                to = head * head_dim + 2 * j + s
                source = head * head_dim + s * head_dim // 2 + j
                assert np.array_equal(got[to], w[source])


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    heads=st.integers(1, 5),
    half=st.integers(1, 33),
    rest=st.lists(st.integers(1, 3), max_size=2),
)
def test_the_two_undo_each_other_and_leave_their_input_alone(heads, half, rest):
    shape = (heads * 2 * half, *rest)
    w = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    before = w.copy()
    for first, second in [
        (permute_rows, unpermute_rows),
        (unpermute_rows, permute_rows),
    ]:
        moved = first(w, heads)
        assert np.array_equal(second(moved, heads), w)
        moved[:] = -1  # a new array: the input does not see this
        assert np.array_equal(w, before)


def test_the_two_differ_from_four_pairs_on_and_agree_at_two():
    # halves of two rows each: both are the swap of the middle rows
    two, four = np.arange(4), np.arange(8)
    assert permute_rows(two, 1).tolist() == [0, 2, 1, 3]
    assert unpermute_rows(two, 1).tolist() == [0, 2, 1, 3]
    assert permute_rows(four, 1).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert unpermute_rows(four, 1).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]


def test_tensors_stay_tensors():
    w = torch.arange(24).reshape(12, 2)
    got = permute_rows(w, 3)
    assert isinstance(got, torch.Tensor)
    assert np.array_equal(got.numpy(), permute_rows(w.numpy(), 3))
    assert torch.equal(unpermute_rows(got, 3), w)


@pytest.mark.parametrize("function", [permute_rows, unpermute_rows])
@pytest.mark.parametrize(
    ("shape", "heads", "name"),
    [
        ((6, 2), 4, "weight.shape"),
        ((6, 2), 2, "weight.shape"),  # heads of odd width
        ((0, 2), 1, "weight.shape"),
        ((), 1, "weight.shape"),
        ((6, 2), 0, "num_heads"),
        ((6, 2), 1.0, "num_heads"),
    ],
)
def test_rows_that_are_no_heads_are_refused(function, shape, heads, name):
    with pytest.raises(ArgumentError) as info:
        function(np.zeros(shape), heads)
    assert info.value.name == name


def test_only_some_architectures_turn_neighbours():
    # permuting every architecture is a mistake: these turn halves, and
    # their files have the rows of the original weights
    for arch in ("qwen2", "qwen3", "gemma2", "phi3", "gpt-oss", "falcon"):
        assert GGUF_ROPE_LAYOUTS[arch] == "half_split"
    for arch in ("llama", "olmo", "deepseek2", "command-r", "smollm3"):
        assert GGUF_ROPE_LAYOUTS[arch] == "interleaved"
    with pytest.raises(TypeError):
        GGUF_ROPE_LAYOUTS["llama"] = "half_split"  # pyright: ignore


def test_the_table_names_architectures_of_the_gguf_library():
    from gguf.constants import MODEL_ARCH_NAMES

    assert set(GGUF_ROPE_LAYOUTS) <= set(MODEL_ARCH_NAMES.values())
