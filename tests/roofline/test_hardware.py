"""The table of accelerators: dense figures, named products, ridges."""

from __future__ import annotations

import pytest

from cutaway.core import CutawayError
from cutaway.roofline import HARDWARE, Hardware, hardware

RIDGES = {
    "a100-sxm-40gb": 200.6,
    "a100-sxm-80gb": 153.0,
    "h100-pcie": 378.0,
    "h100-sxm": 295.3,
    "h200-sxm": 206.1,
    "b200-hgx": 281.25,
    "b200-hgx-7.7tb": 292.2,
    "gb200": 312.5,
    "mi300x": 246.6,
}

SPARSE_16_BIT = {  # TFLOP/s as data sheets print them, with 2:4 sparsity
    "a100-sxm-80gb": 624,
    "h100-sxm": 1979,
    "h100-pcie": 1513,
    "h200-sxm": 1979,
    "b200-hgx": 4500,
    "gb200": 5000,
}


def test_every_entry_has_a_known_ridge():
    assert set(RIDGES) == set(HARDWARE)


@pytest.mark.parametrize("name", RIDGES)
def test_ridge_is_the_published_one(name):
    ridge = hardware(name).ridge("bfloat16")
    assert abs(ridge - RIDGES[name]) <= 0.05


@pytest.mark.parametrize("name", SPARSE_16_BIT)
def test_peaks_are_half_of_the_sparse_ones_on_the_data_sheet(name):
    dense = hardware(name).peak("bfloat16") / 1e12
    assert dense == pytest.approx(SPARSE_16_BIT[name] / 2, rel=1e-3)


def test_the_h100_ridge_of_591_is_that_of_float8():
    assert round(hardware("h100-sxm").ridge("float8")) == 591


def test_sparse_peaks_would_double_the_ridge():
    # 591 FLOP/byte for an H100 is the data sheet's sparse 1,979 TFLOP/s
    # over 3.35 TB/s: a figure that no dense product reaches.
    h100 = hardware("h100-sxm")
    sparse = 1979e12 / h100.bandwidth_bytes_per_s
    assert round(sparse) == 591
    assert sparse == pytest.approx(2 * h100.ridge("bfloat16"), rel=1e-3)


def test_there_is_no_one_a100_ridge():
    large, small = hardware("a100-sxm-80gb"), hardware("a100-sxm-40gb")
    assert large.peak("bfloat16") == small.peak("bfloat16")
    assert round(large.ridge("bfloat16")) == 153
    assert round(small.ridge("bfloat16")) == 201
    # a widely read figure is that of 1.5 TB/s, rounded
    assert round(small.peak("bfloat16") / 1.5e12) == 208


def test_the_h100_of_a_pcie_slot_is_another_machine():
    pcie, sxm = hardware("h100-pcie"), hardware("h100-sxm")
    assert pcie.peak("bfloat16") == 756e12
    assert pcie.bandwidth_bytes_per_s == 2.0e12
    # slower in both respects, and its ridge is higher, not lower
    assert pcie.peak("bfloat16") < sxm.peak("bfloat16")
    assert pcie.bandwidth_bytes_per_s < sxm.bandwidth_bytes_per_s
    assert pcie.ridge("bfloat16") > sxm.ridge("bfloat16")
    assert pcie.num_sms < sxm.num_sms


def test_two_editions_of_the_b200_differ_in_bandwidth_only():
    slow, fast = hardware("b200-hgx-7.7tb"), hardware("b200-hgx")
    assert slow.peak_flops == fast.peak_flops
    assert slow.memory_bytes == fast.memory_bytes
    assert round(slow.ridge("bfloat16"), 1) == 292.2
    assert fast.ridge("bfloat16") == 281.25
    for entry in (slow, fast):
        assert "7.7" in entry.note + entry.name
    assert fast.memory_bytes == 180 * 10**9
    assert "192" in fast.note


def test_every_name_tells_the_memory_and_of_twins_the_form():
    assert all(" GB" in machine.name for machine in HARDWARE.values())
    for name in ("a100-sxm-40gb", "a100-sxm-80gb", "h100-pcie", "h100-sxm"):
        form = name.split("-")[1].upper()
        assert form in hardware(name).name.upper()


def test_chips_are_described_where_a_source_does():
    a100, h100 = hardware("a100-sxm-80gb"), hardware("h100-sxm")
    assert (a100.num_sms, a100.l2_bytes) == (108, 41_943_040)
    assert a100.shared_bytes_per_sm == 167_936
    assert (h100.num_sms, h100.shared_bytes_per_sm) == (132, 228 * 1024)
    assert hardware("b200-hgx").num_sms == 148
    assert hardware("mi300x").num_sms is None


@pytest.mark.parametrize("name", RIDGES)
def test_peaks_are_dense_and_the_note_warns_of_the_sparse_ones(name):
    # No dense 16-bit peak of these generations reaches 3 PFLOP/s.
    entry = HARDWARE[name]
    assert entry.peak("bfloat16") < 3e15
    assert "spars" in entry.note
    assert entry.source


def test_h100_and_a100_peaks_follow_from_units_and_clocks():
    h100 = 132 * 4096 * 1.83e9
    a100 = 108 * 2048 * 1.41e9
    assert h100 == pytest.approx(hardware("h100-sxm").peak("float16"), rel=1e-4)
    assert a100 == pytest.approx(
        hardware("a100-sxm-80gb").peak("float16"), rel=1e-3
    )


def test_unknown_names_list_the_known():
    with pytest.raises(CutawayError, match="h100-sxm") as caught:
        hardware("h100")
    assert caught.value.name == "hardware"


def test_unknown_dtypes_list_the_known():
    with pytest.raises(CutawayError, match="bfloat16"):
        hardware("h100-sxm").ridge("float32")


def test_entries_cannot_be_changed():
    entry = hardware("h100-sxm")
    with pytest.raises(TypeError):
        entry.peak_flops["bfloat16"] = 1.0
    with pytest.raises(TypeError):
        HARDWARE["h100-sxm"] = entry


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("peak_flops", {"float32": 0}),
        ("bandwidth_bytes_per_s", -1.0),
        ("memory_bytes", 1.5),
        ("num_sms", 0),
        ("l2_bytes", 4e7),
        ("shared_bytes_per_sm", -1),
    ],
)
def test_impossible_figures_are_refused(field, value):
    fields = {
        "name": "x",
        "peak_flops": {"float32": 1.0},
        "bandwidth_bytes_per_s": 1.0,
        "memory_bytes": 1,
        "source": "test",
    }
    with pytest.raises(CutawayError, match=field):
        Hardware(**{**fields, field: value})
