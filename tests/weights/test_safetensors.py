"""Safetensors: equal to the library both ways; unsound files refused."""

from __future__ import annotations

import json
import struct
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save, save_file
from safetensors.torch import load_file as load_torch
from safetensors.torch import save_file as save_torch

from cutaway.core import ArgumentError
from cutaway.weights import SafetensorsError, SafetensorsFile, save_safetensors

DTYPES = (
    *("float64", "float32", "float16", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def _arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    found = {
        f"of.{dtype}": (rng.standard_normal((3, 5)) * 50).astype(dtype)
        for dtype in DTYPES
    }
    found["empty"] = np.zeros((0, 4), np.float32)
    found["scalar"] = np.array(2.5, np.float32)
    found["a.ünïcode name"] = np.arange(7, dtype=np.float32)
    found["strided"] = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2]
    return found


def _check_equal(got: dict, want: dict) -> None:
    assert got.keys() == want.keys()
    for name, array in want.items():
        assert got[name].dtype == array.dtype
        np.testing.assert_array_equal(got[name], array, strict=True)


def test_we_read_what_the_library_writes(tmp_path: Path):
    path = tmp_path / "a.safetensors"
    arrays = {k: np.ascontiguousarray(v) for k, v in _arrays().items()}
    arrays["scalar"] = arrays["scalar"].reshape(())
    save_file(arrays, path, metadata={"format": "pt", "b": "ä"})
    with SafetensorsFile(path) as file:
        assert file.metadata == {"format": "pt", "b": "ä"}
        got = {name: file.tensor(name) for name in file.tensors}
    _check_equal(got, arrays)


def test_the_library_reads_what_we_write(tmp_path: Path):
    path = tmp_path / "a.safetensors"
    save_safetensors(path, _arrays(), metadata={"format": "pt"})
    _check_equal(load_file(path), _arrays())
    with safe_open(path, "np") as file:
        assert file.metadata() == {"format": "pt"}


# The library writes several texts of metadata in any order.
@pytest.mark.parametrize("metadata", [None, {}, {"format": "pt"}])
def test_our_bytes_are_those_of_the_library(tmp_path: Path, metadata):
    path = tmp_path / "a.safetensors"
    arrays = {k: np.ascontiguousarray(v) for k, v in _arrays().items()}
    save_safetensors(path, arrays, metadata=metadata)
    assert path.read_bytes() == save(arrays, metadata=metadata)


def test_no_tensor_at_all_is_a_file(tmp_path: Path):
    path = tmp_path / "a.safetensors"
    save_safetensors(path, {})
    assert path.read_bytes() == save({})
    assert SafetensorsFile(path).tensors == {}


def test_bfloat16_both_ways(tmp_path: Path):
    rng = np.random.default_rng(1)
    # More than the part that is converted at a time, and not a multiple.
    values = rng.standard_normal((1025, 1027)).astype(np.float32)
    rounded = torch.from_numpy(values).bfloat16()
    save_torch({"w": rounded}, tmp_path / "theirs.safetensors")
    with SafetensorsFile(tmp_path / "theirs.safetensors") as file:
        assert file.tensors["w"].dtype == "BF16"
        np.testing.assert_array_equal(file.tensor("w"), rounded.float().numpy())
    ours = tmp_path / "ours.safetensors"
    save_safetensors(ours, {"w": values}, dtype="BF16")
    assert ours.read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    assert torch.equal(load_torch(ours)["w"], rounded)


@pytest.mark.parametrize(("dtype", "numpy"), [("F32", "f4"), ("F16", "f2")])
def test_floats_are_converted_and_integers_are_not(
    tmp_path: Path, dtype, numpy
):
    path = tmp_path / "a.safetensors"
    arrays = _arrays()
    save_safetensors(path, arrays, dtype=dtype)
    for name, got in load_file(path).items():
        want = arrays[name]
        if want.dtype.kind == "f":
            want = want.astype(numpy)
        np.testing.assert_array_equal(got, want, strict=True)


@given(
    st.dictionaries(
        st.text(max_size=9).filter(lambda name: name != "__metadata__"),
        st.tuples(
            st.sampled_from(DTYPES), st.lists(st.integers(0, 3), max_size=4)
        ),
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None)
def test_any_names_and_shapes_come_back(tmp_path_factory, drawn):
    path = tmp_path_factory.mktemp("st") / "a.safetensors"
    arrays = {
        name: np.ones(shape, dtype) for name, (dtype, shape) in drawn.items()
    }
    save_safetensors(path, arrays)
    _check_equal(load_file(path), arrays)
    with SafetensorsFile(path) as file:
        _check_equal({n: file.tensor(n) for n in file.tensors}, arrays)


def test_a_tensor_is_a_writable_copy_and_a_view_is_read_only(tmp_path: Path):
    path = tmp_path / "a.safetensors"
    save_safetensors(path, {"w": np.arange(4, dtype=np.float32)})
    file = SafetensorsFile(path)
    file.tensor("w")[0] = 9
    raw = file.raw("w")
    assert raw.view("<f4").tolist() == [0, 1, 2, 3]
    assert not raw.flags.writeable
    assert file.tensor("w", np.float64).dtype == np.float64
    file.close()
    file.close()
    assert raw.view("<f4").tolist() == [0, 1, 2, 3]  # the view keeps the map
    with pytest.raises(SafetensorsError, match="closed"):
        file.raw("w")
    with pytest.raises(SafetensorsError, match="expected one of its 1 tensors"):
        file.tensor("v")


def test_an_8_bit_float_is_listed_and_refused_as_an_array(tmp_path: Path):
    path = tmp_path / "a.safetensors"
    save_torch({"w": torch.ones(4).to(torch.float8_e4m3fn)}, path)
    with SafetensorsFile(path) as file:
        assert file.tensors["w"].dtype == "F8_E4M3"
        assert file.raw("w").size == 4
        with pytest.raises(SafetensorsError, match="F8_E4M3"):
            file.tensor("w")


# -- unsound files -----------------------------------------------------------


def _file(header, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (
        struct.pack("<Q", len(text) if length is None else length) + text + data
    )


def _entry(dtype="F32", shape=(2,), span=(0, 8), **more) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": span, **more}


UNSOUND = {
    "empty": (b"", "an empty file"),
    "no length": (b"\x08\x00\x00", "header length: got 3 bytes"),
    "beyond the end": (_file({}, length=99), "is the file truncated"),
    "too long": (_file({}, length=10**8 + 1), "at most 100000000"),
    "2**63": (_file({}, length=2**63), "at most 100000000"),
    "no JSON": (_file(b"{" + b"x" * 7), "one JSON object"),
    "a list": (_file([1]), "begins with {"),
    "leading space": (_file(b" {}"), "begins with {"),
    "no UTF-8": (_file(b'{"\xff":1}'), "one JSON object"),
    "rest": (_file(b"{} {}"), "one JSON object"),
    "deep": (_file(b'{"a":' * 10**5 + b"1" + b"}" * 10**5), "deeper nesting"),
    "twice": (
        _file(
            b'{"a":%s,"a":%s}' % ((json.dumps(_entry()).encode(),) * 2),
            b"0" * 8,
        ),
        "no name twice",
    ),
    "metadata": (_file({"__metadata__": {"a": 1}}), "texts by name"),
    "metadata list": (_file({"__metadata__": ["a"]}), "texts by name"),
    "no entry": (_file({"w": 3}), "dtype, shape and data_offsets"),
    "no shape": (_file({"w": {"dtype": "F32"}}), "dtype, shape and"),
    "dtype": (_file({"w": _entry("F31")}, b"0" * 8), "dtype: got 'F31'"),
    "dtype list": (_file({"w": _entry(["F32"])}, b"0" * 8), "dtype: got"),
    "negative": (_file({"w": _entry(shape=[-2])}, b"0" * 8), "integers from 0"),
    "real shape": (_file({"w": _entry(shape=[2.0])}, b"0" * 8), "integers"),
    "bool shape": (
        _file({"w": _entry("U8", [True], [0, 1])}, b"0"),
        "integers",
    ),
    "size": (
        _file({"w": _entry(shape=[3])}, b"0" * 8),
        "got 8 bytes, expected 12",
    ),
    "huge": (_file({"w": _entry(shape=[2**40] * 9)}, b"0" * 8), "below 2**60"),
    "long": (_file({"w": _entry(shape=[2**40])}, b"0" * 8), "got 8 bytes"),
    "2**63 in a shape": (
        _file({"w": _entry(shape=[0, 2**63], span=[0, 0])}),
        "at most 64 integers from 0, product below 2**60",
    ),
    "empty and huge": (
        _file({"w": _entry(shape=[2**40, 0, 2**40], span=[0, 0])}),
        "product below 2**60",
    ),
    "2**63 in a span": (_file({"w": _entry(span=[0, 2**63])}), "begin and end"),
    "5000 digits": (
        _file(b'{"w":{"dtype":"F32","shape":[%s]}}' % (b"9" * 5000)),
        "one JSON object",
    ),
    "65 dimensions": (
        _file({"w": _entry(shape=[2**40] * 65)}, b"0" * 8),
        "at most 64 integers",
    ),
    "65 ones": (
        _file({"w": _entry(shape=[1] * 65, span=[0, 4])}, b"0" * 4),
        "at most 64 integers",
    ),
    "span": (_file({"w": _entry(span=[8, 0])}, b"0" * 8), "begin and end"),
    "three": (_file({"w": _entry(span=[0, 4, 8])}, b"0" * 8), "begin and end"),
    "cut": (_file({"w": _entry()}, b"0" * 7), "is the file truncated"),
    "left over": (_file({"w": _entry()}, b"0" * 9), "got 9 bytes, expected 8"),
    "gap": (
        _file({"w": _entry(span=[4, 12])}, b"0" * 12),
        "no overlap and no gap",
    ),
    "overlap": (
        _file({"v": _entry(), "w": _entry(span=[4, 12])}, b"0" * 12),
        "no overlap and no gap",
    ),
}

LIBRARY_READS = (
    *("leading space", "twice", "65 ones"),
    *("2**63 in a shape", "empty and huge"),
)


@pytest.mark.parametrize("case", UNSOUND)
def test_an_unsound_file_is_refused_with_the_reason(tmp_path: Path, case):
    data, reason = UNSOUND[case]
    path = tmp_path / "a.safetensors"
    path.write_bytes(data)
    with pytest.raises(SafetensorsError) as caught:
        SafetensorsFile(path)
    assert reason in str(caught.value)
    assert "a.safetensors" in caught.value.name
    if case not in LIBRARY_READS:
        with pytest.raises((SafetensorError, OSError)):
            safe_open(path, "np")


def test_64_dimensions_are_read(tmp_path: Path):
    path = tmp_path / "a.safetensors"
    path.write_bytes(_file({"w": _entry(shape=[1] * 64, span=[0, 4])}, b"0000"))
    with SafetensorsFile(path) as file:
        assert file.tensor("w").shape == (1,) * 64


def test_the_twin_among_many_names_is_found_soon(tmp_path: Path):
    """Counting each name anew took minutes for this many."""
    path = tmp_path / "a.safetensors"
    names = [*map(str, range(200_000)), "199999"]
    entry = json.dumps(_entry())
    text = ",".join(f'"{name}":{entry}' for name in names)
    path.write_bytes(_file(b"{%s}" % text.encode()))
    began = time.process_time()
    with pytest.raises(SafetensorsError, match="'199999'"):
        SafetensorsFile(path)
    assert time.process_time() - began < 30


def test_a_key_that_we_do_not_know_is_passed_over(tmp_path: Path):
    path = tmp_path / "a.safetensors"
    path.write_bytes(_file({"w": _entry(x=1)}, b"0" * 8))
    with SafetensorsFile(path) as file:
        assert file.tensors["w"].shape == (2,)


def test_every_truncation_is_refused(tmp_path: Path):
    whole = save({"a": np.ones(5, np.float32), "b": np.ones(3, np.int8)})
    path = tmp_path / "a.safetensors"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(SafetensorsError):
            SafetensorsFile(path)


@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
@settings(max_examples=300, deadline=None)
def test_a_changed_byte_is_refused_or_read(tmp_path_factory, place, value):
    whole = bytearray(save({"a": np.ones(5, np.float32)}))
    whole[place % len(whole)] = value
    path = tmp_path_factory.getbasetemp() / "changed.safetensors"
    path.write_bytes(whole)
    try:
        with SafetensorsFile(path) as file:
            arrays = [file.tensor(name) for name in file.tensors]
    except SafetensorsError:
        return
    assert sum(array.nbytes for array in arrays) <= 20 * 4


def test_a_folder_or_nothing_is_no_file(tmp_path: Path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(SafetensorsError, match="safetensors file"):
            SafetensorsFile(path)


# -- what the writer refuses -------------------------------------------------


@pytest.mark.parametrize(
    ("tensors", "more", "at_fault"),
    [
        ({"w": [1.0]}, {}, "tensors['w']"),
        ({"w": np.ones(2, np.complex64)}, {}, "tensors['w']"),
        ({"w": torch.ones(2)}, {}, "tensors['w']"),
        ({3: np.ones(2)}, {}, "tensors"),
        ({"__metadata__": np.ones(2)}, {}, "tensors"),
        ({"\ud800": np.ones(2)}, {}, "tensors"),
        ({"w": np.ones(2)}, {"dtype": "Q4_0"}, "dtype"),
        ({"w": np.ones(2)}, {"metadata": {"a": 1}}, "metadata"),
        ({"w": np.full(2, 1e5)}, {"dtype": "F16"}, "tensors['w']"),
        (
            {"v": np.ones(2), "w": np.array(np.nan)},
            {"dtype": "BF16"},
            "tensors['w']",
        ),
    ],
)
def test_bad_tensors_leave_the_old_file_as_it_was(
    tmp_path: Path, tensors, more, at_fault
):
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"old")
    with pytest.raises(ArgumentError) as caught:
        save_safetensors(path, tensors, **more)
    assert caught.value.name == at_fault
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def _mapped_bytes(path: Path) -> int:
    """Return how much of a mapped file is in memory now."""
    found, ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        key, _, rest = line.partition(":")
        if " " in key:  # the first line of a mapping ends in its path
            ours = line.endswith(str(path))
        elif key == "Rss" and ours:
            found += 1024 * int(rest.split()[0])
    return found


@pytest.mark.skipif(
    not Path("/proc/self/smaps").exists(), reason="no /proc/self/smaps"
)
def test_a_tensor_that_was_copied_leaves_memory_and_its_views_stay(
    tmp_path: Path,
):
    path = tmp_path / "a.safetensors"
    tensors = {
        "a": np.arange(1_000_003, dtype=np.float32),
        "b": np.arange(2_000_001, dtype=np.float32)[::-1].copy(),
    }
    save_safetensors(path, tensors)
    with SafetensorsFile(path) as file:
        view = file.raw("a").view(np.float32)
        assert view.sum() > 0  # pages all of it in
        assert _mapped_bytes(path) > 3_000_000
        got = {name: file.tensor(name) for name in ("b", "a")}
        assert _mapped_bytes(path) < 1_000_000
        _check_equal(got, {"b": tensors["b"], "a": tensors["a"]})
        np.testing.assert_array_equal(view, tensors["a"])
        del view
