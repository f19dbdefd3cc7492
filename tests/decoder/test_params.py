"""Weights: drawn or read, named, and refused when they do not fit."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError, ModelConfig
from cutaway.decoder import Decoder, Params
from cutaway.decoder.shapes import layer_shapes, weight_shapes

CONFIG = ModelConfig(
    num_layers=2,
    hidden_size=12,
    num_heads=4,
    num_kv_heads=2,
    head_dim=6,
    ffn_size=16,
    vocab_size=9,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=32,
    tie_embeddings=True,
)
SHAPES = {
    "token_embd.weight": (9, 12),
    "output_norm.weight": (12,),
    "output.weight": (9, 12),
}
for _layer in range(2):
    SHAPES |= {
        f"blk.{_layer}.attn_norm.weight": (12,),
        f"blk.{_layer}.attn_q.weight": (24, 12),
        f"blk.{_layer}.attn_k.weight": (12, 12),
        f"blk.{_layer}.attn_v.weight": (12, 12),
        f"blk.{_layer}.attn_output.weight": (12, 24),
        f"blk.{_layer}.ffn_norm.weight": (12,),
        f"blk.{_layer}.ffn_gate.weight": (16, 12),
        f"blk.{_layer}.ffn_up.weight": (16, 12),
        f"blk.{_layer}.ffn_down.weight": (12, 16),
    }
TIED_SHAPES = {n: s for n, s in SHAPES.items() if n != "output.weight"}


class FakeFile:
    """The part of a GGUF file that ``Params`` reads."""

    def __init__(self, shapes):
        rng = np.random.default_rng(0)
        self.arrays = {n: rng.standard_normal(s) for n, s in shapes.items()}
        self.tensors = {
            n: SimpleNamespace(name=n, shape=s) for n, s in shapes.items()
        }
        self.read = []

    def tensor(self, name, dtype=np.float32):
        self.read.append(name)
        return self.arrays[name].astype(dtype)


def flat(params):
    """All arrays by name."""
    named = {"embed": params.embed, "final_norm": params.final_norm}
    named["unembed"] = params.unembed
    for index, layer in enumerate(params.layers):
        for name in layer_shapes(CONFIG, index):
            named[f"{index}.{name}"] = getattr(layer, name)
    return named


def test_names_are_those_of_the_weights_there_are():
    names = Params.random(CONFIG, 0, impl="numpy").names()
    assert sorted(names) == sorted(weight_shapes(CONFIG))
    assert "unembed" not in names
    config = dataclasses.replace(CONFIG, tie_embeddings=False)
    names = Params.random(config, 0, impl="numpy").names()
    assert sorted(names) == sorted(weight_shapes(config))


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_tensor_of_the_file_lands_in_its_place(impl, dtype):
    file = FakeFile(SHAPES)
    config = dataclasses.replace(CONFIG, tie_embeddings=False)
    params = Params.from_gguf(file, config, impl=impl, dtype=dtype)
    place = {
        "token_embd.weight": params.embed,
        "output_norm.weight": params.final_norm,
        "output.weight": params.unembed,
    }
    for i, layer in enumerate(params.layers):
        place |= {
            f"blk.{i}.attn_norm.weight": layer.attn_norm,
            f"blk.{i}.attn_q.weight": layer.wq,
            f"blk.{i}.attn_k.weight": layer.wk,
            f"blk.{i}.attn_v.weight": layer.wv,
            f"blk.{i}.attn_output.weight": layer.wo,
            f"blk.{i}.ffn_norm.weight": layer.ffn_norm,
            f"blk.{i}.ffn_gate.weight": layer.w_gate,
            f"blk.{i}.ffn_up.weight": layer.w_up,
            f"blk.{i}.ffn_down.weight": layer.w_down,
        }
    assert set(place) == set(SHAPES)
    for name, array in place.items():
        want = file.arrays[name].astype(dtype)
        assert np.array_equal(np.asarray(array), want), name
        assert str(array.dtype).endswith(dtype)
        assert isinstance(array, torch.Tensor) == (impl == "torch")
    assert sorted(file.read) == sorted(SHAPES)  # each tensor once


def test_tied_weights_are_one_array():
    file = FakeFile(TIED_SHAPES)
    params = Params.from_gguf(file, CONFIG, impl="numpy")
    assert params.unembed is params.embed
    assert file.read.count("token_embd.weight") == 1


@pytest.mark.parametrize(
    "extra", ["output.weight", "blk.0.attn_q.bias", "rope_freqs.weight"]
)
def test_a_tensor_that_would_be_ignored_is_refused(extra):
    # a bias left out gives text that looks right and is not
    file = FakeFile({**TIED_SHAPES, extra: (9, 12)})
    with pytest.raises(ArgumentError, match=extra) as info:
        Params.from_gguf(file, CONFIG, impl="numpy")
    assert info.value.name == "file.tensors"
    assert file.read == []


def test_a_file_for_the_other_rotary_layout_is_refused():
    # its q and k would turn the wrong pairs, without an error
    file = FakeFile(TIED_SHAPES)
    config = dataclasses.replace(CONFIG, rope_layout="half_split")
    with pytest.raises(ArgumentError, match="'interleaved'") as info:
        Params.from_gguf(file, config, impl="numpy")
    assert info.value.name == "config.rope_layout"
    assert file.read == []


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_missing_tensor_is_named(name):
    config = dataclasses.replace(CONFIG, tie_embeddings=False)
    file = FakeFile({n: s for n, s in SHAPES.items() if n != name})
    with pytest.raises(ArgumentError, match="no such tensor") as info:
        Params.from_gguf(file, config, impl="numpy")
    assert info.value.name == name


@pytest.mark.parametrize("name", sorted(TIED_SHAPES))
def test_a_tensor_of_another_shape_is_named_before_it_is_read(name):
    wrong = (SHAPES[name][0] + 1, *SHAPES[name][1:])
    file = FakeFile({**TIED_SHAPES, name: wrong})
    with pytest.raises(ArgumentError) as info:
        Params.from_gguf(file, CONFIG, impl="numpy")
    assert info.value.name == f"{name}.shape"
    assert info.value.got == str(wrong)
    assert name not in file.read


def test_random_weights_depend_on_the_seed_alone():
    first = flat(Params.random(CONFIG, 5, impl="numpy", dtype="float64"))
    again = flat(Params.random(CONFIG, 5, impl="torch", dtype="float64"))
    narrow = flat(Params.random(CONFIG, 5, impl="numpy"))
    other = flat(Params.random(CONFIG, 6, impl="numpy", dtype="float64"))
    for name, array in first.items():
        assert np.array_equal(array, again[name].numpy()), name
        assert np.array_equal(array.astype(np.float32), narrow[name]), name
        assert not np.array_equal(array, other[name]), name


def test_a_dtype_that_is_not_offered_is_refused():
    with pytest.raises(ArgumentError, match="'float32', 'float64'"):
        Params.from_gguf(
            FakeFile(TIED_SHAPES), CONFIG, impl="numpy", dtype="float16"
        )


@pytest.mark.parametrize(
    ("seed", "options", "name"),
    [
        (-1, {"impl": "numpy"}, "seed"),
        (1.5, {"impl": "numpy"}, "seed"),
        (0, {"impl": "numpy", "dtype": "float16"}, "dtype"),
        (0, {"impl": "jax"}, "impl"),
    ],
)
def test_random_weights_refuse_bad_arguments(seed, options, name):
    with pytest.raises(ArgumentError) as info:
        Params.random(CONFIG, seed, **options)
    assert info.value.name == name


@pytest.mark.parametrize("name", layer_shapes(CONFIG, 1))
def test_a_decoder_names_the_weight_that_does_not_fit(name):
    params = Params.random(CONFIG, 0, impl="numpy")
    last = params.layers[1]
    array = getattr(last, name)
    for wrong, suffix in (
        (array[:-1], ".shape"),
        (array.astype(np.float64), ".dtype"),
        (torch.from_numpy(array), ""),
    ):
        layer = dataclasses.replace(last, **{name: wrong})
        broken = dataclasses.replace(params, layers=(params.layers[0], layer))
        with pytest.raises(ArgumentError) as info:
            Decoder(CONFIG, broken, impl="numpy")
        assert info.value.name == f"params.layers[1].{name}{suffix}"


def test_a_decoder_names_the_weight_that_is_missing_and_one_too_many():
    biased = dataclasses.replace(CONFIG, biases=frozenset({"qkv"}))
    plain = Params.random(CONFIG, 0, impl="numpy")
    with pytest.raises(ArgumentError) as info:
        Decoder(biased, plain, impl="numpy")
    name = "params.layers[0].bq"
    assert (info.value.name, info.value.got) == (name, "None")
    with pytest.raises(ArgumentError, match="has no such weight") as info:
        Decoder(CONFIG, Params.random(biased, 0, impl="numpy"), impl="numpy")
    assert info.value.name == name
    with pytest.raises(ArgumentError, match=r"layers\[0\]\.bq: got None"):
        plain["layers[0].bq"]


@pytest.mark.parametrize("name", ["embed", "unembed", "final_norm"])
def test_a_decoder_names_a_table_that_does_not_fit(name):
    params = Params.random(CONFIG, 0, impl="numpy")
    broken = dataclasses.replace(params, **{name: getattr(params, name)[1:]})
    with pytest.raises(ArgumentError) as info:
        Decoder(CONFIG, broken, impl="numpy")
    assert info.value.name == f"params.{name}.shape"


def test_a_decoder_wants_as_many_layers_as_the_config():
    params = Params.random(CONFIG, 0, impl="numpy")
    broken = dataclasses.replace(params, layers=params.layers[:1])
    with pytest.raises(ArgumentError, match=r"params\.layers: got 1"):
        Decoder(CONFIG, broken, impl="numpy")


def test_weights_of_the_other_backend_are_refused():
    params = Params.random(CONFIG, 0, impl="numpy")
    with pytest.raises(ArgumentError, match=r"params\.embed: got ndarray"):
        Decoder(CONFIG, params, impl="torch")
    with pytest.raises(ArgumentError, match="impl"):
        Decoder(CONFIG, params, impl="jax")
