"""``cutaway roofline``: the right machine, dense, and every bad input."""

from __future__ import annotations

import json
import math

import pytest

from cutaway.roofline import (
    CONFIGS,
    HARDWARE,
    Hardware,
    decode_weight_bytes,
    hardware,
    kv_bytes_per_token,
)

WIDE = 80


@pytest.fixture
def here(monkeypatch):
    """Let the measurement return a machine of the test's making."""
    import cutaway.roofline

    machine = Hardware(
        name="this machine (2 threads)",
        peak_flops={"float32": 60e9},
        bandwidth_bytes_per_s=20e9,
        memory_bytes=16 * 10**9,
        source="measured here",
    )
    monkeypatch.setattr(cutaway.roofline, "measure_hardware", lambda: machine)
    return machine


def fits_80_columns(text: str) -> bool:
    return all(len(line) <= WIDE for line in text.splitlines())


def data_of(run, *args: object) -> dict:
    ended = run("roofline", *args, "--json")
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)


def test_the_report_says_which_card_dense_and_the_ridge(run) -> None:
    ended = run("roofline", "llama-3.1-8b", "--gpu", "H100-SXM")
    assert (ended.code, ended.err) == (0, "")
    for shown in (
        "NVIDIA H100 SXM5 80 GB",
        "989.4 TFLOP/s dense in bfloat16",
        "3.35 TB/s",
        "295.3 FLOP/byte",
        "80.00 GB (74.51 GiB)",
        "with 2:4 sparsity",
    ):
        assert shown in ended.out
    assert fits_80_columns(ended.out)


def test_decode_at_batch_1_reads_every_weight_once(run) -> None:
    data = data_of(run, "llama-3.1-8b", "--context", 1023)
    config, gpu = CONFIGS["llama-3.1-8b"], hardware("h100-sxm")
    moved = decode_weight_bytes(config) + 1025 * kv_bytes_per_token(config)
    decode = data["phases"]["decode"]
    assert decode["bytes"] == moved
    least = moved / gpu.bandwidth_bytes_per_s
    assert decode["time_s"] == pytest.approx(least, rel=1e-9)
    assert decode["bound"] == "memory"
    assert decode["tokens_per_s"] == pytest.approx(1 / least)


def test_a_long_prompt_waits_for_arithmetic(run) -> None:
    prefill = data_of(run, "llama-3.1-8b", "--prompt", 4096)["phases"][
        "prefill"
    ]
    assert prefill["bound"] == "compute"
    assert prefill["intensity_flop_per_byte"] > 295.3
    assert prefill["flops"] / 989.4e12 <= prefill["time_s"]


def test_a_batch_shares_the_weights(run) -> None:
    one, many = (
        data_of(run, "llama-3.1-8b", "--batch", n)["phases"]["decode"]
        for n in (1, 64)
    )
    assert many["tokens_per_s"] > 20 * one["tokens_per_s"]
    assert many["time_s"] < 3 * one["time_s"]


def test_times_of_the_operations_add_up(run) -> None:
    for name in ("smollm2-135m", "deepseek-v3", "gemma-3-27b"):
        for phase in data_of(run, name)["phases"].values():
            total = math.fsum(op["time_s"] for op in phase["ops"])
            assert total == pytest.approx(phase["time_s"], rel=1e-9)


def test_weights_that_the_machine_cannot_multiply_are_widened(run) -> None:
    data = data_of(run, "llama-3.1-8b", "--dtype", "q4_k")
    assert data["arithmetic"] == "bfloat16"
    assert data["peak_flops"] == 989.4e12
    ended = run("roofline", "llama-3.1-8b", "--dtype", "q4_k")
    assert "q4_k widened" in ended.out
    native = data_of(run, "llama-3.1-8b", "--dtype", "float8")
    assert native["arithmetic"] == "float8"
    assert native["peak_flops"] == 1978.9e12
    a100 = ("--gpu", "a100-sxm-80gb")
    widened = data_of(run, "llama-3.1-8b", "--dtype", "float8", *a100)
    assert widened["arithmetic"] == "bfloat16"


def test_what_does_not_fit_is_said(run) -> None:
    assert "does not fit" in run("roofline", "llama-3.1-70b").out
    fits = run("roofline", "llama-3.1-70b", "--gpu", "mi300x").out
    assert "does not fit" not in fits
    assert (
        "made for 1,024 tokens"
        in run("roofline", "gpt2", "--context", 1024).out
    )
    assert "made for" not in run("roofline", "gpt2", "--context", 1023).out


def test_experts_are_explained(run) -> None:
    assert "Experts:" in run("roofline", "mixtral-8x7b").out
    assert "Experts:" not in run("roofline", "gpt2").out


def test_this_machine_is_measured_in_float32(run, here) -> None:
    data = data_of(run, "smollm2-135m", "--gpu", "here", "--prompt", 16)
    assert (data["dtype"], data["kv_dtype"]) == ("float32", "float32")
    assert data["machine"] == here.name
    decode = data["phases"]["decode"]["time_s"]
    assert decode == pytest.approx(538_062_336 / 20e9, rel=0.01)
    shown = run("roofline", "smollm2-135m", "--gpu", "here").out
    assert "60 GFLOP/s dense in float32" in shown
    assert "20 GB/s" in shown
    packed = data_of(run, "smollm2-135m", "--gpu", "here", "--dtype", "q4_0")
    assert packed["arithmetic"] == "float32"


def test_list_shows_every_accelerator_dense(run) -> None:
    ended = run("roofline", "--list")
    assert ended.code == 0
    assert all(f" {name} " in ended.out for name in HARDWARE)
    assert "989.4" in ended.out
    assert "1,979" not in ended.out
    assert fits_80_columns(ended.out)
    data = json.loads(run("roofline", "--list", "--json").out)
    assert data["h100-pcie"]["ridge_flop_per_byte"] == 378
    assert all(entry["source"] for entry in data.values())


@pytest.mark.parametrize("name", CONFIGS)
def test_every_known_model_has_a_report_of_80_columns(run, name) -> None:
    ended = run("roofline", name, "--batch", 256, "--gpu", "b200-hgx-7.7tb")
    assert (ended.code, ended.err) == (0, "")
    assert fits_80_columns(ended.out)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ([], "MODEL: got none"),
        (["llama-4"], "model: got 'llama-4'"),
        (
            ["gpt2", "--gpu", "h100"],
            "--gpu: got 'h100', expected a100-sxm-40gb",
        ),
        (["gpt2", "--batch", 0], "--batch: got 0"),
        (["gpt2", "--prompt", 0], "--prompt: got 0"),
        (["gpt2", "--context", -1], "--context: got -1"),
        (["gpt2", "--dtype", "half"], "--dtype: got 'half', expected one of"),
        (["gpt2", "--kv-dtype", "half"], "--kv-dtype: got 'half'"),
        (["gpt2", "--dtype", "float32"], "--dtype: got 'float32', expected"),
    ],
)
def test_bad_input_is_named_and_exits_2(run, args, named) -> None:
    ended = run("roofline", *args)
    assert ended.code == 2
    assert ended.err.startswith(f"cutaway: {named}")
    assert ended.err.count("\n") == 1
    assert ended.out == ""


def test_nothing_is_measured_before_the_input_is_checked(
    run, monkeypatch
) -> None:
    import cutaway.roofline

    def fail():
        raise AssertionError("measured")

    monkeypatch.setattr(cutaway.roofline, "measure_hardware", fail)
    for bad in (["--batch", 0], ["--dtype", "half"], ["--prompt", 0]):
        assert run("roofline", "gpt2", "--gpu", "here", *bad).code == 2
