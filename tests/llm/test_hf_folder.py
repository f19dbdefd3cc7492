"""A model written as a Hugging Face folder is the same model."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from cutaway import LLM, SamplingParams
from cutaway.core import ArgumentError, CutawayError, ModelConfig
from cutaway.core.rope_scaling import LinearScaling, Llama3Scaling, YarnScaling
from cutaway.decoder import Params, load_checkpoint
from cutaway.roofline import CONFIGS
from cutaway.tokenizer import TokenizerError
from cutaway.weights import (
    HFFolder,
    HFFolderError,
    SafetensorsError,
    SafetensorsFile,
    hf_config,
    hf_stored,
    save_hf_folder,
    save_safetensors,
)

TEXT = "hello the world"
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How many days are in a week?"},
]
INDEX = "model.safetensors.index.json"


def save(llm: LLM, path: Path, **more) -> Path:
    tensors = llm.decoder.params.to_hf(llm.config)
    save_hf_folder(path, llm.config, tensors, llm.tokenizer, **more)
    return path


@pytest.fixture(scope="module")
def source(tiny_path: Path) -> LLM:
    return LLM(tiny_path, impl="numpy")


@pytest.fixture
def folder(source: LLM, tmp_path: Path) -> Path:
    return save(source, tmp_path / "model")


def transformers_logits(path: Path, ids: list[int]) -> np.ndarray:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0].numpy()


def check_tokenizers(llm: LLM, path: Path) -> None:
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(path)
    for text in (TEXT, "  two\n\nlines", "I'll don't 12345 naïve"):
        assert theirs(text)["input_ids"] == llm.tokenizer.encode(text)
    for open_turn in (False, True):
        want = llm.tokenizer.apply_chat_template(
            MESSAGES, add_generation_prompt=open_turn, tokenize=False
        )
        got = theirs.apply_chat_template(
            MESSAGES, add_generation_prompt=open_turn, tokenize=False
        )
        assert got == want
    assert theirs.eos_token_id == llm.tokenizer.eos_token_id


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("limit", [None, 1, 5000])
def test_a_folder_gives_the_logits_of_its_source(source, tmp_path, impl, limit):
    path = save(source, tmp_path / "model", max_shard_bytes=limit)
    assert (path / INDEX).is_file() == (limit is not None)
    again = LLM(path, impl=impl)
    assert again.config == replace(source.config, rope_layout="half_split")
    assert again.tokenizer.encode(TEXT) == source.tokenizer.encode(TEXT)
    ids = source.tokenizer.encode(TEXT)
    np.testing.assert_allclose(
        again.logits(ids), source.logits(ids), rtol=0, atol=1e-3
    )
    params = SamplingParams(temperature=0, max_tokens=5)
    answers = [
        m.chat(MESSAGES[:1], params)[0].outputs[0] for m in (again, source)
    ]
    assert answers[0].token_ids == answers[1].token_ids


@pytest.mark.parametrize("limit", [None, 5000])
def test_transformers_loads_the_folder_to_the_same_logits(
    source, tmp_path, limit
):
    path = save(source, tmp_path / "model", max_shard_bytes=limit)
    ids = source.tokenizer.encode(TEXT)
    got = transformers_logits(path, ids)
    np.testing.assert_allclose(got, source.logits(ids), rtol=0, atol=1e-3)
    check_tokenizers(source, path)


def test_we_load_what_transformers_saves(source, folder, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    other = tmp_path / "theirs"
    AutoModelForCausalLM.from_pretrained(folder).save_pretrained(other)
    AutoTokenizer.from_pretrained(folder).save_pretrained(other)
    again = LLM(other, impl="numpy")
    ids = again.tokenizer.encode(TEXT)
    assert ids == source.tokenizer.encode(TEXT)
    np.testing.assert_allclose(
        again.logits(ids), source.logits(ids), rtol=0, atol=1e-3
    )
    prompt = again.tokenizer.apply_chat_template(MESSAGES, tokenize=False)
    assert prompt == source.tokenizer.apply_chat_template(
        MESSAGES, tokenize=False
    )


@pytest.mark.parametrize(("dtype", "stored"), [("F16", 2), ("BF16", 2)])
def test_a_folder_of_half_width_numbers_is_near(
    source, tmp_path, dtype, stored
):
    path = save(source, tmp_path / "model", dtype=dtype)
    with HFFolder(path) as folder:
        total = sum(info.nbytes for info in folder.tensors.values())
        elements = sum(info.size for info in folder.tensors.values())
        assert {info.dtype for info in folder.tensors.values()} == {dtype}
    assert total == stored * elements
    again = LLM(path, impl="numpy")
    ids = source.tokenizer.encode(TEXT)
    error = np.abs(again.logits(ids) - source.logits(ids)).max()
    assert 0 < error < 0.1 * np.abs(source.logits(ids)).max()


def test_untied_weights_and_half_split_rows_come_back(tmp_path, source):
    config = replace(
        source.config, tie_embeddings=False, rope_layout="half_split"
    )
    params = Params.random(config, 1, impl="numpy")
    tensors = params.to_hf(config)
    stored = hf_stored("llama", config)
    assert set(tensors) == {place.names[0] for place in stored.values()}
    save_hf_folder(tmp_path / "m", config, tensors, source.tokenizer)
    loaded = load_checkpoint(tmp_path / "m", impl="numpy")
    assert loaded.config == config
    for ours in stored:
        np.testing.assert_array_equal(loaded.params[ours], params[ours])


@pytest.mark.parametrize(
    "scaling",
    [
        LinearScaling(factor=2.0),
        Llama3Scaling(
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_seq_len=32,
        ),
        YarnScaling(factor=4.0, original_max_seq_len=32),
    ],
)
def test_scaled_frequencies_are_written_as_transformers_reads_them(
    source, tmp_path, scaling
):
    config = replace(source.config, rope_scaling=scaling)
    tensors = Params.random(config, 1, impl="numpy").to_hf(config)
    save_hf_folder(tmp_path / "m", config, tensors, source.tokenizer)
    again = LLM(tmp_path / "m", impl="numpy")
    assert again.config.rope_scaling == scaling
    ids = source.tokenizer.encode(TEXT)
    want = transformers_logits(tmp_path / "m", ids)
    np.testing.assert_allclose(again.logits(ids), want, rtol=0, atol=1e-3)


def test_to_hf_shares_memory_and_leaves_the_weights_alone(source):
    params = source.decoder.params
    before = {
        name: np.array(params[name]) for name in ("embed", "layers[0].wq")
    }
    tensors = params.to_hf(source.config)
    assert np.shares_memory(tensors["model.embed_tokens.weight"], params.embed)
    query = tensors["model.layers.0.self_attn.q_proj.weight"]
    assert not np.array_equal(query, before["layers[0].wq"])
    for name, array in before.items():
        np.testing.assert_array_equal(params[name], array)


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        ({"window": 4}, "window"),
        ({"biases": frozenset({"qkv"})}, "biases"),
        ({"logit_softcap": 30.0}, "logit_softcap"),
    ],
)
def test_a_config_that_is_no_llama_is_refused_by_name(change, lost, source):
    with pytest.raises(ArgumentError, match=lost):
        hf_config(replace(source.config, **change))
    with pytest.raises(ArgumentError):
        hf_config(CONFIGS["qwen3-0.6b"])


def test_hf_config_of_every_llama_reads_back():
    for key in ("smollm2-135m", "llama-3.1-8b", "llama-3.2-1b"):
        config = CONFIGS[key]
        back = ModelConfig.from_hf(hf_config(config))
        assert back == replace(config, rope_layout="half_split")


# -- older folders -----------------------------------------------------------


def _rewrite(folder: Path, change) -> None:
    path = folder / "model.safetensors"
    with SafetensorsFile(path) as file:
        tensors = {name: file.tensor(name) for name in file.tensors}
    change(tensors)
    save_safetensors(path, tensors)


def test_what_repeats_the_weights_is_passed_over(folder, source):
    def add(tensors):
        embed = tensors["model.embed_tokens.weight"]
        tensors["lm_head.weight"] = embed
        name = "model.layers.0.self_attn.rotary_emb.inv_freq"
        tensors[name] = np.ones(2, np.float32)

    _rewrite(folder, add)
    ids = source.tokenizer.encode(TEXT)
    np.testing.assert_allclose(
        LLM(folder, impl="numpy").logits(ids), source.logits(ids), atol=1e-3
    )


def test_an_output_matrix_of_its_own_is_not_passed_over(folder):
    def add(tensors):
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"] + 1

    _rewrite(folder, add)
    with pytest.raises(ArgumentError, match=r"lm_head\.weight"):
        LLM(folder, impl="numpy")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.pop("model.norm.weight"), r"model\.norm\.weight"),
        (
            lambda t: t.update({"model.norm.bias": np.ones(2, np.float32)}),
            r"model\.norm\.bias",
        ),
        (
            lambda t: t.update({"model.norm.weight": np.ones(3, np.float32)}),
            r"model\.norm\.weight\.shape",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_refused_by_name(folder, change, reason):
    _rewrite(folder, change)
    with pytest.raises(ArgumentError, match=reason):
        LLM(folder, impl="numpy")


def test_rows_of_the_other_layout_are_refused(folder, source):
    with HFFolder(folder) as opened, pytest.raises(ArgumentError) as caught:
        Params.from_hf(opened, source.config, impl="numpy")
    assert caught.value.name == "config.rope_layout"


def test_a_chat_template_in_a_file_of_its_own_is_read(folder, source):
    config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    template = config.pop("chat_template")
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "chat_template.jinja").write_text(template)
    again = LLM(folder, impl="numpy").tokenizer
    assert again.apply_chat_template(
        MESSAGES
    ) == source.tokenizer.apply_chat_template(MESSAGES)


@pytest.mark.parametrize("first", [None, 5000])
def test_a_second_save_is_what_is_read_not_the_first(source, tmp_path, first):
    """Whole over sharded and sharded over whole; the index or file goes."""
    path = save(source, tmp_path / "model", max_shard_bytes=first)
    (path / "chat_template.jinja").write_text("of the first save")
    tensors = source.decoder.params.to_hf(source.config)
    doubled = {name: 2 * array for name, array in tensors.items()}
    limit = 5000 if first is None else None
    save_hf_folder(
        path, source.config, doubled, source.tokenizer, max_shard_bytes=limit
    )
    assert (path / "model.safetensors").is_file() == (limit is None)
    assert (path / INDEX).is_file() == (limit is not None)
    with HFFolder(path) as opened:
        assert opened.tensors.keys() == doubled.keys()
        for name, array in doubled.items():
            np.testing.assert_array_equal(opened.tensor(name), array)
        again = opened.tokenizer()
    assert again.spec.chat_template == source.tokenizer.spec.chat_template


# -- unsound folders ---------------------------------------------------------


def test_a_missing_or_broken_file_is_named(folder):
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        whole = (folder / name).read_bytes()
        (folder / name).unlink()
        with pytest.raises(CutawayError) as caught:
            load_checkpoint(folder, impl="numpy")
        assert name in str(caught.value)
        for broken in (b"", b"{", b"[]", b"\xff", b"[" * 100_000):
            (folder / name).write_bytes(broken)
            with pytest.raises(CutawayError) as caught:
                load_checkpoint(folder, impl="numpy")
            assert name in str(caught.value)
        (folder / name).write_bytes(whole)
    load_checkpoint(folder, impl="numpy")


def test_a_chat_template_that_is_no_text_is_named(folder):
    (folder / "chat_template.jinja").write_bytes(b"{{ \xff }}")
    with pytest.raises(HFFolderError, match=r"chat_template\.jinja: got"):
        HFFolder(folder).tokenizer()


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        ({}, "weight_map"),
        ({"weight_map": {}}, "weight_map"),
        ({"weight_map": {"w": "../x.safetensors"}}, "file in the folder"),
        ({"weight_map": {"w": "/x.safetensors"}}, "file in the folder"),
        ({"weight_map": {"w": "..\\x.safetensors"}}, "file in the folder"),
        ({"weight_map": {"w": ".."}}, "file in the folder"),
        ({"weight_map": {"w": ""}}, "file in the folder"),
        ({"weight_map": {"w": 3}}, "file in the folder"),
        ({"weight_map": {"w": "none.safetensors"}}, "no such file"),
        ({"weight_map": {"nope": "part.safetensors"}}, "which lacks it"),
    ],
)
def test_an_unsound_index_is_refused(folder, index, reason):
    shutil.move(folder / "model.safetensors", folder / "part.safetensors")
    (folder / INDEX).write_text(json.dumps(index))
    with pytest.raises(CutawayError, match=reason):
        HFFolder(folder)


def test_a_folder_answers_for_its_tensors(folder):
    opened = HFFolder(folder)
    assert "tensors)" in repr(opened)
    with pytest.raises(HFFolderError, match="one of its 11 tensors"):
        opened.tensor("nope")
    opened.close()
    with pytest.raises(SafetensorsError, match="closed"):
        opened.raw("model.norm.weight")


def test_no_folder_is_said_to_be_none(tmp_path):
    with pytest.raises(HFFolderError, match="no such folder"):
        HFFolder(tmp_path / "none")
    with pytest.raises(ArgumentError, match=r"config\.json"):
        LLM(tmp_path)
    with pytest.raises(ArgumentError, match="path"):
        load_checkpoint(tmp_path / "model.bin", impl="numpy")


def test_a_failed_save_leaves_the_folder_as_it_was(source, folder):
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    tensors = source.decoder.params.to_hf(source.config)
    bad = {**tensors, "w": np.full(3, 1e9, np.float32)}
    for weights, more in (
        (bad, {"dtype": "F16"}),
        (tensors, {"dtype": "Q4_0"}),
        (tensors, {"max_shard_bytes": 0}),
    ):
        with pytest.raises(ArgumentError):
            save_hf_folder(
                folder, source.config, weights, source.tokenizer, **more
            )
    assert before == {file.name: file.read_bytes() for file in folder.iterdir()}
    assert list(folder.parent.iterdir()) == [folder]


def test_a_tokenizer_of_another_kind_is_refused(folder):
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    data["model"]["type"] = "Unigram"
    (folder / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(TokenizerError, match=r"model\.type"):
        LLM(folder)


# -- the real model ----------------------------------------------------------


@pytest.mark.model
def test_the_real_model_is_the_same_in_a_folder_and_in_transformers(
    llm, tmp_path
):
    path = save(llm, tmp_path / "smollm2")
    ids = llm.tokenizer.encode("The capital of France is")
    want = llm.logits(ids)
    again = LLM(path)
    np.testing.assert_allclose(again.logits(ids), want, rtol=0, atol=1e-3)
    assert again.tokenizer.spec.tokens == llm.tokenizer.spec.tokens
    del again
    got = transformers_logits(path, ids)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)
    check_tokenizers(llm, path)
