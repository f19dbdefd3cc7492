"""Folders of other families than Llama: types, names, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway import LLM
from cutaway.core import ArgumentError, ModelConfig
from cutaway.decoder import Decoder, Params, load_checkpoint
from cutaway.weights import (
    HFFolder,
    hf_stored,
    save_hf_folder,
    save_safetensors,
)
from oracles.hf_families import (
    FAMILIES,
    IDS,
    decoder_of,
    make_family,
    read,
)
from oracles.tiny_model import write_tiny_model


@pytest.mark.parametrize("case", ["gpt_oss", "mixtral", "gemma3"])
def test_bfloat16_files_are_read_as_they_are(tmp_path, case):
    peer = make_family(tmp_path, case, stored=torch.bfloat16)
    with HFFolder(tmp_path) as folder:
        dtypes = {info.dtype for info in folder.tensors.values()}
    assert dtypes == {"BF16"}
    got = read(decoder_of(peer, "torch"), IDS)
    np.testing.assert_allclose(got, peer.logits(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", ["qwen3_moe", "gemma2", "gpt_oss"])
def test_float32_is_close(peers, case):
    with HFFolder(peers(case).path) as folder:
        config = ModelConfig.from_hf(folder.config)
        params = Params.from_hf(folder, config, impl="torch")
    decoder = Decoder(config, params)
    got, want = read(decoder, IDS, (4, 5)), peers(case).logits()
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)


@pytest.mark.parametrize("case", FAMILIES)
def test_weights_go_back_under_the_names_they_came_from(peers, case):
    decoder = decoder_of(peers(case), "numpy")
    with HFFolder(peers(case).path) as folder:
        kind = folder.config["model_type"]
        want = {name: folder.tensor(name) for name in folder.tensors}
    if kind in ("gpt_oss", "gpt2"):
        with pytest.raises(ArgumentError, match="a whole tensor"):
            decoder.params.to_hf(decoder.config, kind)
        return
    got = decoder.params.to_hf(decoder.config, kind)
    assert set(got) == set(want)
    for name, array in want.items():
        np.testing.assert_array_equal(got[name], array)


def test_names_of_another_family_have_no_place_for_some_weights(peers):
    decoder = decoder_of(peers("gemma2"), "numpy")
    with pytest.raises(ArgumentError, match="attn_post_norm"):
        decoder.params.to_hf(decoder.config)  # Llama's
    with pytest.raises(ArgumentError, match="model_type: got 'gemma3'"):
        hf_stored("gemma3", decoder.config)


def test_a_whole_folder_is_loaded_with_its_tokenizer(peers, tmp_path):
    source = write_tiny_model(tmp_path / "tiny.gguf")
    llama = LLM(source, impl="numpy")
    tensors = llama.decoder.params.to_hf(llama.config)
    save_hf_folder(tmp_path, llama.config, tensors, llama.tokenizer)
    # the tokenizer stays; configuration and weights become another's
    with HFFolder(peers("qwen3").path) as folder:
        tensors = {name: folder.tensor(name) for name in folder.tensors}
        config = (folder.path / "config.json").read_bytes()
    save_safetensors(tmp_path / "model.safetensors", tensors)
    (tmp_path / "config.json").write_bytes(config)
    model = load_checkpoint(tmp_path, impl="numpy", dtype="float64")
    assert model.config.norm.qk
    got = read(Decoder(model.config, model.params, impl="numpy"), IDS)
    want = peers("qwen3").logits()
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)
    assert model.tokenizer.vocab_size == llama.tokenizer.vocab_size


def damaged(peer, path, change):
    """A copy of a folder whose tensors have been changed."""
    with HFFolder(peer.path) as folder:
        tensors = {name: folder.tensor(name) for name in folder.tensors}
    change(tensors)
    save_safetensors(path / "model.safetensors", tensors)
    (path / "config.json").write_bytes((peer.path / "config.json").read_bytes())
    with HFFolder(path) as folder:
        config = ModelConfig.from_hf(folder.config)
        Params.from_hf(folder, config, impl="numpy", dtype="float64")


LAYER = "model.layers.1."
DAMAGE = {
    "qwen2": LAYER + "self_attn.k_proj.bias",
    "qwen3": LAYER + "self_attn.q_norm.weight",
    "gemma2": LAYER + "pre_feedforward_layernorm.weight",
    "mixtral": LAYER + "block_sparse_moe.experts.4.w3.weight",
    "gpt_oss": LAYER + "mlp.experts.gate_up_proj",
    "opt": "model.decoder.embed_positions.weight",
    "gpt2": "transformer.h.2.attn.c_attn.bias",
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_missing_tensor_and_one_of_another_shape_are_named(
    peers, tmp_path, case
):
    name = DAMAGE[case]
    with pytest.raises(ArgumentError) as info:
        damaged(peers(case), tmp_path, lambda tensors: tensors.pop(name))
    assert (info.value.name, info.value.got) == (name, "no such tensor")
    with pytest.raises(ArgumentError) as info:
        damaged(
            peers(case),
            tmp_path,
            lambda tensors: tensors.update({name: tensors[name][..., 1:]}),
        )
    assert info.value.name == f"{name}.shape"


@pytest.mark.parametrize(
    ("case", "extra"),
    [
        ("qwen3", LAYER + "self_attn.k_proj.bias"),
        ("mixtral", LAYER + "block_sparse_moe.experts.5.w1.weight"),
        # gpt-oss as published: experts in MXFP4
        ("gpt_oss", LAYER + "mlp.experts.gate_up_proj_blocks"),
    ],
)
def test_a_tensor_that_would_be_left_out_is_refused(
    peers, tmp_path, case, extra
):
    with pytest.raises(ArgumentError) as info:
        damaged(
            peers(case),
            tmp_path,
            lambda tensors: tensors.update({extra: np.zeros((2, 2))}),
        )
    assert (info.value.name, info.value.got) == ("file.tensors", extra)
