"""Time from work and peaks."""

from __future__ import annotations

import pytest

from cutaway.core import CutawayError
from cutaway.roofline import (
    CONFIGS,
    Hardware,
    OpCount,
    attainable_flops,
    forward_counts,
    hardware,
    predict_time,
    read_time_s,
    weight_bytes,
)

MACHINE = Hardware(
    name="test",
    peak_flops={"float32": 100.0, "bfloat16": 400.0},
    bandwidth_bytes_per_s=10.0,
    memory_bytes=1,
    source="test",
)


def op(name, flops, weights=0.0, kv=0.0, activations=0.0):
    return OpCount(
        name=name,
        layer_count=1,
        flops=flops,
        weight_bytes=weights,
        kv_bytes=kv,
        activation_bytes=activations,
    )


def test_an_operation_takes_the_longer_of_its_two_times():
    slow, fast = predict_time(
        [op("compute", 1000, weights=10), op("memory", 100, weights=30)],
        MACHINE,
    ).ops
    assert (slow.time_s, slow.bound) == (10.0, "compute")
    assert (fast.time_s, fast.bound) == (3.0, "memory")


def test_the_total_is_the_sum_and_says_what_most_of_it_waits_for():
    ops = [op("compute", 1000, weights=10), op("memory", 100, weights=30)]
    both = predict_time(ops, MACHINE)
    assert both.total_s == 13.0
    assert (both.compute_s, both.memory_s) == (11.0, 4.0)
    assert both.bound == "compute"
    assert predict_time(ops[1:], MACHINE).bound == "memory"
    assert both.hardware == "test"


def test_the_dtype_picks_the_peak():
    work = [op("w", 4000, weights=10)]
    assert predict_time(work, MACHINE, "float32").total_s == 40.0
    assert predict_time(work, MACHINE, "bfloat16").total_s == 10.0


def test_all_three_kinds_of_bytes_count_and_activations_may_be_left_out():
    work = [op("w", 0, weights=10, kv=20, activations=30)]
    assert predict_time(work, MACHINE).total_s == 6.0
    assert predict_time(work, MACHINE, activations=False).total_s == 3.0


def test_no_work_takes_no_time():
    empty = predict_time([], MACHINE)
    assert (empty.total_s, empty.bound) == (0, "memory")


def test_an_unknown_dtype_is_refused():
    with pytest.raises(CutawayError, match="dtype"):
        predict_time([], MACHINE, "float64")


def test_decode_waits_for_memory_and_a_long_prefill_for_arithmetic():
    gpu = hardware("h100-sxm")
    sizes = {
        "weight_bytes_per_param": 2,
        "kv_bytes_per_element": 2,
        "activation_bytes_per_element": 2,
    }
    config = CONFIGS["llama-3.1-8b"]
    decode = predict_time(
        forward_counts(config, 1, 1000, **sizes), gpu, "bfloat16"
    )
    prefill = predict_time(
        forward_counts(config, 2048, 0, **sizes),
        gpu,
        "bfloat16",
        activations=False,
    )
    assert decode.bound == "memory"
    assert prefill.bound == "compute"
    matmuls = {o.name: o.bound for o in prefill.ops}
    assert matmuls["w_up"] == "compute"
    assert all(o.bound == "memory" for o in decode.ops)


@pytest.mark.parametrize(
    ("model", "gpu", "milliseconds"),
    [
        ("llama-3.1-8b", "a100-sxm-80gb", 7.88),
        ("llama-3.1-8b", "h100-sxm", 4.79),
        ("llama-3.1-8b", "h200-sxm", 3.35),
        ("llama-3.1-8b", "b200-hgx", 2.01),
        ("llama-2-13b", "a100-sxm-80gb", 12.77),
        ("llama-2-13b", "h100-sxm", 7.77),
        ("llama-2-13b", "h200-sxm", 5.42),
        ("llama-2-13b", "b200-hgx", 3.25),
        ("llama-3.1-70b", "h100-sxm", 42.12),
        ("smollm2-135m", "h100-sxm", 0.0803),
    ],
)
def test_reading_every_weight_once_takes_the_known_time(
    model, gpu, milliseconds
):
    seconds = read_time_s(weight_bytes(CONFIGS[model]), hardware(gpu))
    assert seconds * 1e3 == pytest.approx(milliseconds, rel=2e-3)


def test_the_strict_bound_leaves_out_the_lookup():
    ops = forward_counts(
        CONFIGS["llama-3.1-8b"], 1, 0, weight_bytes_per_param=2
    )
    moved = sum(o.weight_bytes for o in ops)
    assert round(moved / 1e9, 2) == 15.01
    seconds = read_time_s(moved, hardware("h100-sxm"))
    assert round(1 / seconds) == 223


def test_the_roof_is_a_slope_up_to_the_ridge_and_flat_beyond():
    ridge = MACHINE.ridge("float32")
    assert attainable_flops(0, MACHINE) == 0
    assert attainable_flops(ridge / 2, MACHINE) == 50.0
    assert attainable_flops(ridge, MACHINE) == 100.0
    assert attainable_flops(ridge * 9, MACHINE) == 100.0
    with pytest.raises(CutawayError, match="intensity"):
        attainable_flops(-1, MACHINE)
