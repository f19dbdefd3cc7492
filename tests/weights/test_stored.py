"""Where a file keeps a weight: read, and written back."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.roofline import CONFIGS
from cutaway.weights import Stored, find_stored, hf_stored, whole


class Tensors:
    """Arrays in the place of a file."""

    def __init__(self, **arrays):
        self.arrays = arrays
        self.tensors = {
            name: SimpleNamespace(shape=array.shape)
            for name, array in arrays.items()
        }
        self.read = []

    def tensor(self, name, dtype=None):
        self.read.append(name)
        return self.arrays[name].astype(dtype)


WEIGHT = np.arange(12.0).reshape(4, 3)  # [out, in]
OTHER = -1 - WEIGHT


@pytest.mark.parametrize(
    ("place", "arrays"),
    [
        (Stored(("t",)), {"t": WEIGHT}),
        (Stored(("t",), transposed=True), {"t": WEIGHT.T}),
        (
            Stored(("t",), part=1, parts=2, transposed=True),
            {"t": np.hstack([OTHER.T, WEIGHT.T])},
        ),
        (
            Stored(("t",), part=1, parts=2, interleaved=True, transposed=True),
            {"t": np.stack([OTHER.T, WEIGHT.T], axis=-1).reshape(3, 8)},
        ),
        (
            Stored(("a", "b", "c", "d"), stacked=True),
            dict(zip("abcd", WEIGHT, strict=True)),
        ),
    ],
)
def test_a_weight_is_found_however_it_lies(place, arrays):
    file = Tensors(**arrays)
    got = place.read(file, WEIGHT.shape, np.float32)
    np.testing.assert_array_equal(got, WEIGHT)
    assert got.dtype == np.float32
    assert got.flags.c_contiguous
    assert file.read == list(place.names)
    if place.parts > 1:
        with pytest.raises(ArgumentError, match="t: got one of 2"):
            place.written(WEIGHT)
        return
    written = place.written(WEIGHT)
    assert set(written) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(written[name], array)


def test_nothing_is_read_before_all_tensors_are_there_and_fit():
    place = Stored(("a", "b"), stacked=True)
    file = Tensors(a=np.zeros(3))
    with pytest.raises(ArgumentError, match="b: got no such tensor"):
        place.read(file, (2, 3), np.float32)
    file = Tensors(a=np.zeros(3), b=np.zeros(4))
    with pytest.raises(ArgumentError, match=r"b\.shape"):
        place.read(file, (2, 3), np.float32)
    assert file.read == []


def test_a_weight_without_a_place_is_named():
    with pytest.raises(ArgumentError, match="weight: got q_norm"):
        find_stored(whole({"wq": "q"}), "q_norm")


def test_experts_are_named_in_the_layers_that_have_them():
    config = CONFIGS["deepseek-v3"]
    stored = hf_stored("deepseek_v3", config)
    assert stored["layers[2].w_up"].names == (
        "model.layers.2.mlp.up_proj.weight",
    )
    names = stored["layers[3].w_up"].names
    assert len(names) == 256
    assert names[7] == "model.layers.3.mlp.experts.7.up_proj.weight"


@pytest.mark.parametrize("kind", ["llama", "gemma2", "gpt_oss", "opt", "gpt2"])
def test_no_two_weights_are_the_same_numbers(kind):
    stored = hf_stored(kind, CONFIGS["gpt-oss-20b"])
    places = [(place.names, place.part) for place in stored.values()]
    assert len(set(places)) == len(places)


def test_an_unknown_family_is_refused():
    with pytest.raises(ArgumentError, match="model_type: got 'bloom'"):
        hf_stored("bloom", CONFIGS["gpt2"])
