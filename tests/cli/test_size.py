"""``cutaway size``: exact figures, both units, and every bad input named."""

from __future__ import annotations

import json

import pytest

from cutaway.cli.dtypes import CHOICES, bytes_of
from cutaway.core import ArgumentError
from cutaway.roofline import (
    CACHE_FILES,
    CONFIGS,
    HARDWARE,
    max_batch_size,
    resident_bytes,
)
from oracles.hf_configs import config_json

WIDE = 80


def fits_80_columns(text: str) -> bool:
    return all(len(line) <= WIDE for line in text.splitlines())


def data_of(run, *args: object) -> dict:
    ended = run("size", *args, "--json")
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)


def test_llama_at_full_context_shows_both_units(run) -> None:
    ended = run("size", "llama-3.1-8b", "--tokens", 131072)
    assert (ended.code, ended.err) == (0, "")
    for shown in (
        "8,030,261,248 (8.03 billion)",
        "16.06 GB (14.96 GiB) in bfloat16",
        "131,072 bytes in bfloat16: 131.07 kB (128.00 KiB)",
        "17.18 GB (16.00 GiB), 1 sequence of 131,072 tokens",
    ):
        assert shown in ended.out
    assert fits_80_columns(ended.out)


def test_json_has_the_exact_figures(run) -> None:
    data = data_of(run, "llama-3.1-8b", "--tokens", 32768, "--batch", 3)
    assert data["num_params"] == 8_030_261_248
    assert data["weight_bytes"] == 16_060_522_496
    assert data["kv_bytes_per_token"] == 131_072
    assert data["kv_bytes"] == 3 * 4 * 2**30
    assert data["total_bytes"] == data["weight_bytes"] + data["kv_bytes"]
    assert data["source"] == "config.json of meta-llama/Llama-3.*"
    assert data["file_tensor_bytes"] is None


def test_query_heads_and_windows_and_latents_do_not_enter_the_cache(
    run,
) -> None:
    # three mistakes of public calculators: 8, 6 and nearly 2 times too much
    llama = data_of(run, "llama-3.1-70b", "--tokens", 32768)
    assert llama["kv_bytes"] == 10 * 2**30
    gemma = data_of(run, "gemma-3-27b", "--tokens", 131072)
    assert gemma["kv_bytes_if_every_layer_is_full"] == 62 * 2**30
    assert gemma["kv_bytes"] / 2**30 == pytest.approx(10.41, abs=0.005)
    deepseek = data_of(run, "deepseek-v3", "--tokens", 1)
    assert deepseek["kv_bytes"] == 70_272


def test_floor_and_reserve_are_told_apart(run) -> None:
    shown = run("size", "gpt-oss-20b", "--tokens", 131072).out
    assert "12 of 24 layers keep the last 128 tokens" in shown
    assert "12 of 24 layers keep all tokens" in shown
    assert "3.22 GB (3.00 GiB), 1 sequence of 131,072 tokens" in shown
    assert "6.44 GB (6.00 GiB) if every layer keeps all tokens" in shown
    same = run("size", "llama-3.1-8b").out
    assert "layers keep" not in same
    assert same.count("536.87 MB (512.00 MiB)") == 2
    every = run("size", "mistral-7b-v0.1").out
    assert "32 of 32 layers keep the last 4,096 tokens" in every


def test_a_hybrid_has_a_state_and_no_weights(run, tmp_path) -> None:
    ended = run("size", "jamba-1.5-large", "--tokens", 262144, "--batch", 2)
    assert (ended.code, ended.err) == (0, "")
    for shown in (
        "36,864 bytes in bfloat16",
        "63 of 72 layers keep a state",
        "9 of 72 layers keep all tokens",
        "72.25 MB (68.91 MiB) a sequence, however long",
        "19.47 GB (18.13 GiB), 2 sequences of 262,144 tokens",
        "Of this model only the cache is known.",
    ):
        assert shown in ended.out
    assert fits_80_columns(ended.out)
    assert "weights" not in ended.out
    data = data_of(run, "jamba-1.5-large", "--tokens", 262144)
    assert data["kv_bytes"] == 9 * 2**30 + data["kv_state_bytes"]
    unknown = ("num_params", "weight_bytes", "total_bytes", "max_batch")
    assert [data[key] for key in unknown] == [None] * 4
    file = tmp_path / "config.json"
    file.write_text(json.dumps(dict(CACHE_FILES["jamba-1.5-large"])), "utf-8")
    read = data_of(run, file, "--tokens", 262144)
    assert read["kv_bytes"] == data["kv_bytes"]


def test_a_hybrid_has_no_roofline(run) -> None:
    ended = run("roofline", "jamba-1.5-large")
    assert ended.code == 2
    assert "more than the cache is known" in ended.err


def test_layers_that_share_or_only_convolve_are_named(run, tmp_path) -> None:
    shown = run("size", "gemma-3n-e4b").out
    assert "15 of 35 layers share the cache of another" in shown
    assert "24 of 52 layers keep nothing" in run("size", "nemotron-h-8b").out
    file = {
        "model_type": "lfm2",
        "num_hidden_layers": 3,
        "hidden_size": 64,
        "num_attention_heads": 4,
        "full_attn_idxs": [1],
    }
    (tmp_path / "config.json").write_text(json.dumps(file), "utf-8")
    assert "2 of 3 layers keep a few inputs" in run("size", tmp_path).out


def test_a_file_that_no_decoder_reads_still_has_a_cache(run, tmp_path) -> None:
    # a bias in the attention of a Llama: our decoder has none
    file = {**config_json("llama-3.1-8b"), "attention_bias": True}
    (tmp_path / "config.json").write_text(json.dumps(file), "utf-8")
    data = data_of(run, tmp_path)
    assert data["kv_bytes_per_token"] == 131_072
    assert data["num_params"] is None


def test_devices_share_heads_until_there_are_no_more(run) -> None:
    whole = data_of(run, "llama-3.1-70b", "--tokens", 32768)
    for tp, share in ((2, 2), (8, 8), (16, 8), (64, 8)):
        data = data_of(run, "llama-3.1-70b", "--tokens", 32768, "--tp", tp)
        assert data["weight_bytes"] * tp == whole["weight_bytes"]
        for key in ("kv_bytes", "kv_bytes_if_every_layer_is_full"):
            assert data[key] * share == whole[key]
        assert data["num_params"] == whole["num_params"]
    shown = run("size", "llama-3.1-70b", "--tp", 8).out
    assert "8; the sizes below are those of one" in shown
    assert "tokens that fit on 8" in shown
    assert "devices" not in run("size", "llama-3.1-70b").out


def test_what_fits_on_many_devices(run) -> None:
    data = data_of(run, "llama-3.1-70b", "--tokens", 8192, "--tp", 4)
    left = 80e9 - 70_553_706_496 * 2 / 4
    assert data["max_batch"]["h100-sxm"] == left // (8192 * 327_680 / 4)


def test_keys_and_values_may_have_two_formats(run) -> None:
    data = data_of(run, "smollm2-135m", "--cache-dtype", "q8_0/q4_0")
    assert data["kv_bytes_per_token"] == 5760 * (8.5 + 4.5) / 8
    one = data_of(run, "smollm2-135m", "--cache-dtype", "q8_0")
    assert one["kv_bytes_per_token"] == 12_240


def test_active_parameters_are_shown_where_not_all_are(run) -> None:
    shown = run("size", "mixtral-8x7b").out
    assert "46,702,792,704 (46.70 billion)" in shown
    assert "12,879,925,248 (12.88 billion) a token" in shown
    assert "active" not in run("size", "llama-3.1-8b").out


def test_what_fits_on_an_accelerator(run) -> None:
    most = data_of(run, "llama-2-13b", "--tokens", 1024)["max_batch"]
    assert set(most) == set(HARDWARE)
    # 80 GB less 26.03 GB of weights, over 838,860,800 bytes a sequence
    assert most["h100-sxm"] == 64
    assert data_of(run, "deepseek-v3")["max_batch"]["h100-sxm"] == 0
    shown = run("size", "deepseek-v3").out
    assert "none" in shown
    empty = data_of(run, "gpt2", "--tokens", 0)["max_batch"]
    assert set(empty.values()) == {None}
    assert "any" in run("size", "gpt2", "--tokens", 0).out
    # weights that do not fit alone leave no room for an empty sequence
    heavy = data_of(run, "deepseek-v3", "--tokens", 0)["max_batch"]
    assert set(heavy.values()) == {0}


@pytest.mark.parametrize("tokens", [1, 4096])
def test_what_fits_is_what_the_roofline_says_fits(run, tokens) -> None:
    data = data_of(
        run, "gpt-oss-20b", "--tokens", tokens, "--batch", 3, "--dtype", "mxfp4"
    )
    config, sizes = CONFIGS["gpt-oss-20b"], {"weight_bytes_per_param": 4.25 / 8}
    total = resident_bytes(config, 3, tokens, **sizes)
    assert data["total_bytes"] == total
    for name, entry in HARDWARE.items():
        most = max_batch_size(config, entry, tokens, **sizes)
        assert data["max_batch"][name] == most > 0


@pytest.mark.parametrize("dtype", [*CHOICES, "BFloat16", "Q4_K"])
def test_every_format_is_counted_with_its_scales(run, dtype) -> None:
    data = data_of(run, "gpt2", "--dtype", dtype, "--kv-dtype", dtype)
    size = bytes_of("--dtype", dtype)
    assert data["weight_bytes"] == 124_439_808 * size
    assert data["kv_bytes_per_token"] == 18_432 * size
    assert data["dtype"] == dtype.lower()


def test_four_bits_are_more_than_half_a_byte() -> None:
    assert bytes_of("--dtype", "int4") == 0.5
    assert bytes_of("--dtype", "q4_k") * 8 == 4.5
    assert bytes_of("--dtype", "q4_1") * 8 == 5.0
    assert bytes_of("--dtype", "mxfp4") * 8 == 4.25


def test_tokens_default_to_what_the_model_reads(run) -> None:
    assert data_of(run, "gpt2")["tokens"] == 1024
    assert data_of(run, "llama-3.1-8b")["tokens"] == 4096
    long = run("size", "gpt2", "--tokens", 1025)
    assert "made for 1,024 tokens" in long.out
    assert "made for" not in run("size", "gpt2").out


def test_a_config_file_and_its_folder_are_read(run, tmp_path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config_json("qwen3-0.6b")), encoding="utf-8")
    for place in (file, tmp_path):
        data = data_of(run, place)
        assert data["num_params"] == 596_049_920
        assert data["source"] == "config.json"


def test_a_gguf_file_is_measured_as_it_is(run, tiny_path) -> None:
    data = data_of(run, tiny_path)
    assert data["tokens"] == 200
    assert data["file_tensor_bytes"] > 0
    shown = run("size", tiny_path).out
    assert "in the file" in shown
    assert "bits a weight" in shown


@pytest.mark.model
def test_the_fetched_model_shows_its_bits_a_weight(run) -> None:
    shown = run("size", "smollm2-135m-instruct").out
    assert "134,515,008 (134.5 million)" in shown
    assert "96.58 MB (92.10 MiB), 5.74 bits a weight" in shown


def test_a_model_that_was_not_fetched_is_not_fetched_now(
    run, monkeypatch, tmp_path
) -> None:
    monkeypatch.delenv("CUTAWAY_MODELS", raising=False)
    monkeypatch.setenv("CUTAWAY_CACHE", str(tmp_path))
    ended = run("size", "smollm2-135m-instruct")
    assert ended.code == 2
    assert "cutaway doctor --fetch" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_list_shows_every_model(run) -> None:
    ended = run("size", "--list")
    assert ended.code == 0
    known = {*CONFIGS, *CACHE_FILES}
    assert all(f" {name} " in ended.out for name in known)
    assert fits_80_columns(ended.out)
    data = json.loads(run("size", "--list", "--json").out)
    assert set(data) == known
    assert data["jamba-1.5-mini"]["kv_bytes_per_token"] == 16_384
    assert data["jamba-1.5-mini"]["num_params"] is None
    assert data["gpt-oss-20b"]["active_params"] == 4_187_440_704


@pytest.mark.parametrize("name", [*CONFIGS, *CACHE_FILES])
def test_every_known_model_has_a_report_of_80_columns(run, name) -> None:
    ended = run("size", name, "--batch", 64)
    assert (ended.code, ended.err) == (0, "")
    assert fits_80_columns(ended.out)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["llama-4"], "model: got 'llama-4', expected a name"),
        (["x" * 300], "model: got 'xxx"),  # too long for a file's name
        (["gpt\0"], "model: got 'gpt\\x00', expected a name"),
        ([], "MODEL: got none, expected a name or a path"),
        (["gpt2", "--tokens", -1], "--tokens: got -1, expected an integer"),
        (["gpt2", "--batch", 0], "--batch: got 0, expected an integer >= 1"),
        (["gpt2", "--dtype", "fp7"], "--dtype: got 'fp7', expected one of"),
        (["gpt2", "--kv-dtype", ""], "--cache-dtype: got '', expected one"),
        (["gpt2", "--cache-dtype", "int8/"], "--cache-dtype: got '', expec"),
        (["gpt2", "--cache-dtype", "/int8"], "--cache-dtype: got '', expec"),
        (["gpt2", "--tp", 0], "--tp: got 0, expected an integer >= 1"),
        (["gpt2", "--tp", 5], "tp: got 5, expected a divisor or a multiple"),
    ],
)
def test_bad_input_is_named_and_exits_2(run, args, named) -> None:
    ended = run("size", *args)
    assert ended.code == 2
    assert ended.err.startswith(f"cutaway: {named}")
    assert ended.err.count("\n") == 1
    assert ended.out == ""


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "expected JSON in UTF-8"),
        ("[]", "config: got list, expected a mapping"),
        ("{}", "model_type: got no such key"),
        ('{"model_type": "bert"}', "model_type: got 'bert'"),
        ('{"model_type": "mamba"}', "num_hidden_layers: got no such"),
        ('{"model_type": ["gpt2"]}', "model_type: got ['gpt2']"),
        ("[" * 100_000, "expected JSON in UTF-8"),
        ('{"model_type": "gpt2", "n_embd": 4}', "n_positions: got no such"),
    ],
)
def test_a_bad_config_file_is_named(run, tmp_path, content, named) -> None:
    (tmp_path / "config.json").write_text(content, encoding="utf-8")
    ended = run("size", tmp_path)
    assert ended.code == 2
    assert named in ended.err
    assert "Traceback" not in ended.err


def test_other_files_are_refused(run, tmp_path) -> None:
    text = tmp_path / "model.txt"
    text.write_text("x", encoding="utf-8")
    broken = tmp_path / "model.gguf"
    broken.write_bytes(b"not a model")
    for place in (text, tmp_path, broken):
        ended = run("size", place)
        assert ended.code == 2
        assert "expected" in ended.err
        assert "Traceback" not in ended.err


def test_an_unknown_format_is_an_argument_error() -> None:
    with pytest.raises(ArgumentError, match="bfloat16"):
        bytes_of("--dtype", "bf16")
