"""Arrays of either backend: shared memory, checks, and lazy torch."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError
from cutaway.layers import (
    check_array,
    concat,
    empty,
    from_numpy,
    inference,
    to_numpy,
)

IMPLS = ["numpy", "torch"]


@pytest.mark.parametrize("impl", IMPLS)
def test_round_trip_shares_memory(impl):
    array = np.arange(6.0).reshape(2, 3)
    there = from_numpy(array, impl=impl)
    back = to_numpy(there, impl=impl)
    there[0, 1] = 7
    assert array[0, 1] == back[0, 1] == 7


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_empty_has_the_shape_and_dtype(impl, dtype):
    array = empty((2, 0, 3), dtype, impl=impl)
    assert tuple(array.shape) == (2, 0, 3)
    assert to_numpy(array, impl=impl).dtype == dtype


def test_only_the_two_float_types_are_made():
    with pytest.raises(ArgumentError, match="'float32', 'float64'"):
        empty((1,), "float16", impl="numpy")


def test_nothing_is_recorded_for_gradients_inside_inference():
    weight = torch.ones(2, requires_grad=True)
    with inference(impl="torch"):
        product = weight * 2
    assert not product.requires_grad
    with inference(impl="numpy"):
        assert (weight * 2).requires_grad


@pytest.mark.parametrize(
    ("array", "shape", "name"),
    [
        (np.zeros(3), (4,), "x.shape"),
        (np.zeros((3, 4)), ("tokens",), "x.shape"),
        (torch.zeros(3), (3,), "x"),
        ([1.0], (1,), "x"),
    ],
)
def test_check_array_names_what_does_not_fit(array, shape, name):
    with pytest.raises(ArgumentError) as info:
        check_array("x", array, shape, impl="numpy")
    assert info.value.name == name


def test_the_numpy_path_never_loads_torch():
    code = (
        "import sys, cutaway.layers, cutaway.attention, cutaway.kvcache\n"
        "import numpy as np\n"
        "from cutaway.core import ModelConfig\n"
        "from cutaway.decoder import Decoder, Params\n"
        "c = ModelConfig(num_layers=1, hidden_size=4, num_heads=1,\n"
        "    num_kv_heads=1, head_dim=4, ffn_size=4, vocab_size=5,\n"
        "    rope_theta=1e4, norm_eps=1e-5, max_seq_len=8)\n"
        "d = Decoder(c, Params.random(c, 0, impl='numpy'), impl='numpy')\n"
        "print(d.forward([1, 2], d.new_cache(4)).shape)\n"
        "print(sorted(m for m in sys.modules if m == 'torch'))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.split("\n")[:2] == ["(2, 5)", "[]"]


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_concat_repeats_what_has_size_one(impl):
    parts = [np.arange(6.0).reshape(3, 1, 2), np.ones((3, 4, 1))]
    arrays = [from_numpy(part, impl=impl) for part in parts]
    got = np.asarray(concat(arrays, impl=impl))
    assert got.shape == (3, 4, 3)
    for row, head in np.ndindex(3, 4):
        assert got[row, head].tolist() == [2 * row, 2 * row + 1, 1]
    got[:] = 7  # a copy: the parts are as they were
    assert parts[0][0, 0].tolist() == [0, 1]


def test_concat_names_what_does_not_fit():
    for parts, name in (
        ([], "parts"),
        ([np.ones((2, 1)), np.ones((3, 1))], "parts"),
        ([np.ones((2, 1)), [1.0]], "parts[1]"),
    ):
        with pytest.raises(ArgumentError) as info:
            concat(parts, impl="numpy")
        assert info.value.name == name
