"""Mutated GGUF files: refused or read, never slow, never hungry.

Everything but ``GGUFError`` is a failure. A mutant that is still accepted
must keep the reader's promise: all of its tensors lie inside the file.
"""

from __future__ import annotations

import mmap
import random
import struct
import tempfile
from functools import partial
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.weights import GGUFError, GGUFFile
from cutaway.weights.gguf_header import Header, read_header
from oracles.cost import cpu_seconds, peak_bytes

EDGES = [
    *(0, 1, 2, 7, 8, 9, 12, 13, 31, 32, 33, 255, 256, 65_535, 65_536),
    *(2**20, 2**21, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 10**9, 4 * 10**9),
    *(2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 8, 2**64 - 1),
]


def small_file() -> bytes:
    """A file of the gguf package with every kind of value and tensor."""
    writer = gguf.GGUFWriter(None, "llama")
    for number, name in enumerate(
        (
            "uint8",
            "int8",
            "uint16",
            "int16",
            "uint32",
            "int32",
            "uint64",
            "int64",
        )
    ):
        getattr(writer, f"add_{name}")(f"key.{name}", number)
    writer.add_float32("key.float32", 0.5)
    writer.add_float64("key.float64", 0.25)
    writer.add_bool("key.bool", True)
    writer.add_string("key.string", "naïve")
    writer.add_array("key.strings", ["a", "bc", "", "é"] * 8)
    writer.add_array("key.ints", list(range(20)))
    writer.add_array("key.floats", [0.5] * 20)
    writer.add_array("key.bools", [True, False])
    writer.add_custom_alignment(32)
    rng = np.random.default_rng(0)
    for name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "F16", "BF16"):
        kind = gguf.GGMLQuantizationType[name]
        values = rng.standard_normal((2, 64)).astype(np.float32)
        packed = gguf.quantize(values, kind)
        writer.add_tensor(f"tensor.{name}", packed, raw_dtype=kind)
    for name in ("Q4_K", "Q6_K"):
        size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1]
        packed = rng.integers(0, 256, (1, size), dtype=np.uint8)
        kind = gguf.GGMLQuantizationType[name]
        writer.add_tensor(f"tensor.{name}", packed, raw_dtype=kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.gguf"
        writer.write_header_to_file(path)
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path.read_bytes()


def mutate(data: bytearray, rng: random.Random) -> None:
    """Change a file in place: bytes, numbers, cuts, copies, holes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data))
        other = min(len(data), at + rng.choice((1, 4, 8, 32, 200)))
        match rng.randrange(7):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                edge = struct.pack("<Q", rng.choice(EDGES))
                width = rng.choice((1, 2, 4, 8))
                data[at : at + width] = edge[:width]
            case 2:
                near = (len(data) - at + rng.randint(-9, 9)) % 2**64
                data[at : at + 8] = struct.pack("<Q", near)
            case 3:
                del data[at:]
            case 4:
                del data[at:other]
            case 5:
                data[at:at] = data[at:other]
            case 6:
                data[at:other] = rng.randbytes(other - at)
        if not data:
            data += b"G"


def assert_sound(header: Header, size: int) -> None:
    end = 0
    for info in sorted(header.tensors.values(), key=lambda t: t.offset):
        assert info.offset >= end
        end = info.offset + info.nbytes
        assert header.data_offset + end <= size


def refusal(data: bytes | mmap.mmap) -> str | None:
    """The reader's complaint; None if it accepts the file, rightly."""
    try:
        header = read_header(data, "mutant.gguf")
    except GGUFError as error:
        return str(error)
    assert_sound(header, len(data))
    return None


def test_the_file_to_mutate_is_read():
    header = read_header(small_file(), "small.gguf")
    assert len(header.tensors) == 9
    assert len(header.metadata) == 18


@pytest.mark.parametrize("seed", range(8))
def test_mutants_of_a_small_file_are_refused_or_read(seed):
    rng = random.Random(seed)
    original = small_file()
    refused = 0
    for _ in range(1000):
        data = bytearray(original)
        mutate(data, rng)
        complaint = refusal(bytes(data))
        refused += complaint is not None
        assert len(complaint or "") < 1000
        assert cpu_seconds(partial(refusal, bytes(data)), 0.02) < 0.02
    assert 300 < refused < 1000


def test_mutants_of_a_small_file_take_little_memory():
    rng = random.Random(100)
    original = small_file()
    for _ in range(500):
        data = bytearray(original)
        mutate(data, rng)
        assert peak_bytes(partial(refusal, bytes(data))) < 500_000


def test_tensors_of_accepted_mutants_can_all_be_read(tmp_path):
    rng = random.Random(200)
    original = small_file()
    path = tmp_path / "mutant.gguf"
    accepted = 0
    for _ in range(300):
        data = bytearray(original)
        mutate(data, rng)
        path.write_bytes(data)
        try:
            file = GGUFFile(path)
        except GGUFError:
            continue
        accepted += 1
        for name, info in file.tensors.items():
            assert file.raw(name).size == info.nbytes
            if info.dtype in ("Q4_0", "Q4_1", "Q5_0", "Q8_0", "Q4_K", "F16"):
                assert file.tensor(name).shape == info.shape
        file.close()
    assert accepted > 50


@settings(max_examples=300, deadline=1000)
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_refused_or_read(tail, announced):
    data = b"GGUF\3\0\0\0" + tail if announced else tail
    assert len(refusal(data) or "") < 1000


@pytest.mark.model
@pytest.mark.parametrize("traced", [False, True])
def test_mutants_of_the_real_file_cost_little(model_path, traced):
    # A private map of the real file: writes stay in memory, and a mutant
    # whose array runs on into the weights meets 96 MB of them.
    rng = random.Random(300 + traced)
    with model_path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    end = read_header(data, "real.gguf").data_offset
    keys = (b".tokens", b".token_type", b".merges", b".chat_template", b"w.")
    marks = [data.find(key) + len(key) for key in keys]
    refused = 0
    tries = 6 if traced else 40  # tracing makes a read ten times slower
    for _ in range(tries):
        near = rng.choice((0, *marks)) + rng.randrange(17)
        at = rng.choice((near, near, near, rng.randrange(end - 8)))
        kept = data[at : at + 8]
        width = rng.choice((1, 4, 8))
        data[at : at + width] = struct.pack("<Q", rng.choice(EDGES))[:width]
        complaint = refusal(data)
        refused += complaint is not None
        assert len(complaint or "") < 1000
        if traced:
            assert peak_bytes(partial(refusal, data)) < 64e6
        else:
            assert cpu_seconds(partial(refusal, data), 0.3) < 0.3
        data[at : at + 8] = kept
    data.close()
    assert refused > tries // 3
