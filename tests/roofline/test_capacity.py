"""Bytes of a decode step, memory, and the lecture's model of both."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutaway.core import CutawayError
from cutaway.roofline import (
    CONFIGS,
    decode_weight_bytes,
    hardware,
    kv_bytes_per_token,
    max_batch_size,
    num_params,
    read_time_s,
    resident_bytes,
    weight_bytes,
)

LLAMA_13B = CONFIGS["llama-2-13b"]
H100 = hardware("h100-sxm")


def lecture(config, batch_size):
    """Memory (GB), milliseconds a step, tokens/s: everything read once."""
    held = resident_bytes(config, batch_size, 1024)
    seconds = read_time_s(held, H100)
    return held / 1e9, seconds * 1e3, batch_size / seconds


@pytest.mark.parametrize(
    ("batch_size", "gigabytes", "milliseconds", "tokens_per_s"),
    [
        (1, 26.87, 8.02, 124.7),
        (64, 79.72, 23.80, 2689.5),
        (256, 240.78, 71.87, 3561.8),
    ],
)
def test_the_lectures_13b_model_on_an_h100(
    batch_size, gigabytes, milliseconds, tokens_per_s
):
    held, ms, rate = lecture(LLAMA_13B, batch_size)
    assert round(held, 2) == gigabytes
    assert round(ms, 2) == milliseconds
    assert rate == pytest.approx(tokens_per_s, abs=0.06)


def test_the_lectures_parameters_leave_out_the_norms():
    norms = (2 * LLAMA_13B.num_layers + 1) * LLAMA_13B.hidden_size
    assert norms == 414_720
    assert num_params(LLAMA_13B) - norms == 13_015_449_600
    assert kv_bytes_per_token(LLAMA_13B) * 1024 == 838_860_800


def test_five_query_heads_to_one_key_head():
    shared = replace(LLAMA_13B, num_kv_heads=8)
    assert shared.group_size == 5
    held, _, rate = lecture(shared, 256)
    assert round(num_params(shared) / 1e9, 2) == 11.34
    assert round(kv_bytes_per_token(shared) * 1024 / 1e9, 3) == 0.168
    assert round(held, 2) == 65.63
    assert round(rate) == 13_068


@pytest.mark.parametrize(
    ("model", "gigabytes", "milliseconds"),
    [
        ("llama-3.1-8b", 15.01, 4.48),
        ("llama-2-13b", 25.70, 7.67),
        ("llama-3.1-70b", 139.0, 41.5),
    ],
)
def test_an_untied_embedding_is_a_row_not_a_matrix(
    model, gigabytes, milliseconds
):
    config = CONFIGS[model]
    strict = decode_weight_bytes(config)
    assert strict / 1e9 == pytest.approx(gigabytes, abs=0.05)
    assert read_time_s(strict, H100) * 1e3 == pytest.approx(
        milliseconds, abs=0.006
    )
    table = config.vocab_size * config.hidden_size
    row = config.hidden_size
    assert weight_bytes(config) - strict == 2 * (table - row)


def test_a_tied_embedding_is_read_whole_as_the_output_matrix():
    config = CONFIGS["smollm2-135m"]
    extra = decode_weight_bytes(config, 4) - weight_bytes(config, 4)
    assert extra == 4 * config.hidden_size


DECODE_TABLE = {  # ms a step if every parameter is read; 16 bits
    "llama-3.1-8b": "7.88 4.79 3.35 2.01",
    "llama-2-13b": "12.77 7.77 5.42 3.25",
    "llama-3.1-70b": "69.2 42.1 29.4 17.6",
    "smollm2-135m": "0.132 0.0803 0.0560 0.0336",
}


@pytest.mark.parametrize("model", DECODE_TABLE)
def test_the_decode_table(model):
    machines = ("a100-sxm-80gb", "h100-sxm", "h200-sxm", "b200-hgx")
    printed = DECODE_TABLE[model].split()
    for name, expected in zip(machines, printed, strict=True):
        ms = read_time_s(weight_bytes(CONFIGS[model]), hardware(name)) * 1e3
        decimals = len(expected.partition(".")[2])
        assert f"{ms:.{decimals}f}" == expected


def test_70b_in_16_bits_fits_no_gpu_of_the_table_below_180_gb():
    config = CONFIGS["llama-3.1-70b"]
    assert round(weight_bytes(config) / 1e9, 1) == 141.1
    assert weight_bytes(config) > hardware("h200-sxm").memory_bytes
    assert max_batch_size(config, hardware("h200-sxm"), 1) == 0
    assert max_batch_size(config, hardware("b200-hgx"), 1024) > 0


@pytest.mark.parametrize("kv_len", [1, 1000, 4096])
@pytest.mark.parametrize("model", ["llama-3.1-8b", "llama-2-13b"])
def test_the_largest_batch_fits_and_one_more_does_not(model, kv_len):
    config = CONFIGS[model]
    batch = max_batch_size(config, H100, kv_len)
    assert resident_bytes(config, batch, kv_len) <= H100.memory_bytes
    assert resident_bytes(config, batch + 1, kv_len) > H100.memory_bytes


def test_fewer_bits_make_room():
    config = CONFIGS["llama-3.1-70b"]
    assert max_batch_size(config, H100, 4096) == 0
    some = max_batch_size(config, H100, 4096, weight_bytes_per_param=0.5)
    more = max_batch_size(
        config,
        H100,
        4096,
        weight_bytes_per_param=0.5,
        kv_bytes_per_element=1,
    )
    assert some > 0
    assert more in (2 * some, 2 * some + 1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: resident_bytes(LLAMA_13B, -1, 1), "batch_size"),
        (lambda: resident_bytes(LLAMA_13B, 1, -1), "kv_len"),
        (
            lambda: resident_bytes(LLAMA_13B, 1, 1, kv_bytes_per_element=0),
            "bytes_per_element",
        ),
        (lambda: max_batch_size(LLAMA_13B, H100, 0), "kv_len"),
        (
            lambda: max_batch_size(
                LLAMA_13B, H100, 1, weight_bytes_per_param=-1
            ),
            "bytes_per_param",
        ),
        (lambda: decode_weight_bytes(LLAMA_13B, 0), "bytes_per_param"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(CutawayError, match=name):
        call()
