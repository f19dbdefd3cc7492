"""Ridge points are of one card, one format, dense peaks, one document."""

from __future__ import annotations

import pytest

from cutaway.roofline import HARDWARE, hardware

SPARSE_16_BIT = {  # TFLOP/s as data sheets print them, with 2:4 sparsity
    "a100-sxm-80gb": 624,
    "h100-sxm": 1979,
    "h100-pcie": 1513,
    "h200-sxm": 1979,
    "b200-hgx": 4500,
    "gb200": 5000,
}


@pytest.mark.parametrize("name", SPARSE_16_BIT)
def test_peaks_are_half_of_the_sparse_ones_on_the_data_sheet(name):
    dense = hardware(name).peak("bfloat16") / 1e12
    assert dense == pytest.approx(SPARSE_16_BIT[name] / 2, rel=1e-3)


def test_the_ridge_of_an_h100_is_295_and_591_is_that_of_8_bits():
    h100 = hardware("h100-sxm")
    assert round(h100.ridge("bfloat16")) == 295
    assert round(h100.ridge("float8")) == 591
    assert round(1979e12 / h100.bandwidth_bytes_per_s) == 591  # the trap


def test_there_is_no_one_ridge_of_the_a100():
    small, large = hardware("a100-sxm-40gb"), hardware("a100-sxm-80gb")
    assert small.peak("bfloat16") == large.peak("bfloat16")
    assert round(small.ridge("bfloat16"), 1) == 200.6
    assert round(large.ridge("bfloat16"), 1) == 153.0
    assert round(312e12 / 1.5e12) == 208  # bandwidth rounded, as in a blog


def test_the_h100_pcie_is_slower_in_both_respects_and_has_a_higher_ridge():
    pcie, sxm = hardware("h100-pcie"), hardware("h100-sxm")
    assert pcie.peak("bfloat16") == 756e12 < sxm.peak("bfloat16")
    assert pcie.bandwidth_bytes_per_s == 2e12 < sxm.bandwidth_bytes_per_s
    assert pcie.ridge("bfloat16") == 378 > sxm.ridge("bfloat16")


def test_both_bandwidths_that_are_printed_for_the_b200_are_there():
    one, other = hardware("b200-hgx"), hardware("b200-hgx-7.7tb")
    assert one.ridge("bfloat16") == 281.25
    assert round(other.ridge("bfloat16"), 1) == 292.2
    assert one.memory_bytes == 180 * 10**9
    assert "192" in one.note


def test_every_machine_names_its_form_its_memory_and_its_source():
    for machine in HARDWARE.values():
        assert " GB" in machine.name
        assert machine.source
    for name in ("a100-sxm-40gb", "a100-sxm-80gb", "h100-pcie", "h100-sxm"):
        form = name.split("-")[1].upper()
        assert form in hardware(name).name.upper()
