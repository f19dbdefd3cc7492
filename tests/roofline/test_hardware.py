"""The table of accelerators: dense figures, named products, ridges."""

from __future__ import annotations

import pytest

from cutaway.core import CutawayError
from cutaway.roofline import HARDWARE, Hardware, hardware

RIDGES = {
    "a100-sxm-80gb": 153.0,
    "h100-sxm": 295.3,
    "h200-sxm": 206.1,
    "b200-hgx": 281.25,
    "gb200": 312.5,
    "mi300x": 246.6,
}


def test_every_entry_has_a_known_ridge():
    assert set(RIDGES) == set(HARDWARE)


@pytest.mark.parametrize("name", RIDGES)
def test_ridge_is_the_published_one(name):
    ridge = hardware(name).ridge("bfloat16")
    assert abs(ridge - RIDGES[name]) <= 0.05


def test_the_h100_ridge_of_591_is_that_of_float8():
    assert round(hardware("h100-sxm").ridge("float8")) == 591


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
