"""Reading sound GGUF files."""

from __future__ import annotations

import struct

import gguf
import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.weights import GGUFError, GGUFFile
from oracles import gguf_bytes as make


@pytest.fixture
def written(tmp_path):
    """A file that the gguf package wrote, with what went into it."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((3, 64)).astype(np.float32)
    vector = np.arange(5, dtype=np.float32)
    packed = gguf.quantize(matrix, gguf.GGMLQuantizationType.Q4_1)
    path = tmp_path / "written.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("llama.block_count", 2)
    writer.add_array("tokenizer.ggml.tokens", ["a", "é", "", "🙂"])
    writer.add_tensor(
        "matrix", packed, raw_dtype=gguf.GGMLQuantizationType.Q4_1
    )
    writer.add_tensor("vector", vector)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, matrix, packed, vector


def test_a_file_of_the_gguf_package_is_read_back(written):
    path, matrix, packed, vector = written
    with GGUFFile(path) as file:
        assert file.version == 3
        assert file.path == path
        assert file.metadata["general.architecture"] == "llama"
        assert file.metadata["llama.block_count"] == 2
        assert file.metadata["tokenizer.ggml.tokens"] == ["a", "é", "", "🙂"]
        assert list(file.tensors) == ["matrix", "vector"]
        info = file.tensors["matrix"]
        assert (info.shape, info.dtype, info.nbytes) == ((3, 64), "Q4_1", 120)
        assert info.size == 192
        np.testing.assert_array_equal(file.raw("matrix"), packed.reshape(-1))
        np.testing.assert_array_equal(file.tensor("vector"), vector)
        want = gguf.dequantize(packed, gguf.GGMLQuantizationType.Q4_1)
        np.testing.assert_array_equal(file.tensor("matrix"), want)
        assert np.abs(file.tensor("matrix", np.float64) - matrix).max() < 0.3


NUMBERS = [
    (0, "<B", 255),
    (1, "<b", -128),
    (2, "<H", 65_535),
    (3, "<h", -32_768),
    (4, "<I", 2**32 - 1),
    (5, "<i", -(2**31)),
    (6, "<f", 0.15625),
    (10, "<Q", 2**64 - 1),
    (11, "<q", -(2**63)),
    (12, "<d", 0.1),
]


@pytest.mark.parametrize(("kind", "layout", "value"), NUMBERS)
def test_numbers_come_as_python_numbers(tmp_path, kind, layout, value):
    one = struct.pack(layout, value)
    pairs = (
        make.pair("one", kind, one),
        make.pair("many", 9, make.array(kind, 3, one * 3)),
        make.pair("none", 9, make.array(kind, 0)),
    )
    path = tmp_path / "numbers.gguf"
    path.write_bytes(make.gguf(pairs))
    metadata = GGUFFile(path).metadata
    assert metadata == {"one": value, "many": [value] * 3, "none": []}
    assert type(metadata["one"]) is type(value)
    assert type(metadata["many"][0]) is type(value)


def test_bools_and_strings_come_as_such(tmp_path):
    strings = make.string("") + make.string("Ġ t") + make.string("x" * 300)
    pairs = (
        make.pair("yes", 7, b"\1"),
        make.pair("no", 7, b"\0"),
        make.pair("bits", 9, make.array(7, 3, b"\1\0\1")),
        make.pair("text", 8, make.string("naïve 🙂\n")),
        make.pair("texts", 9, make.array(8, 3, strings)),
    )
    path = tmp_path / "values.gguf"
    path.write_bytes(make.gguf(pairs))
    metadata = GGUFFile(path).metadata
    assert metadata["yes"] is True
    assert metadata["no"] is False
    assert metadata["bits"] == [True, False, True]
    assert metadata["bits"][1] is False
    assert metadata["text"] == "naïve 🙂\n"
    assert metadata["texts"] == ["", "Ġ t", "x" * 300]


def test_shapes_are_the_reverse_of_the_file_s(tmp_path):
    values = np.arange(24, dtype="<f4")
    tensors = (make.tensor("cube", (2, 3, 4)),)
    path = tmp_path / "cube.gguf"
    path.write_bytes(make.gguf((), tensors, values.tobytes()))
    file = GGUFFile(path)
    assert file.tensors["cube"].shape == (4, 3, 2)
    np.testing.assert_array_equal(file.tensor("cube"), values.reshape(4, 3, 2))


@pytest.mark.parametrize("alignment", [8, 64, 4096])
def test_alignment_of_the_file_is_used(tmp_path, alignment):
    pairs = (make.pair("general.alignment", 4, struct.pack("<I", alignment)),)
    second = max(alignment, 16)
    tensors = (make.tensor("a"), make.tensor("b", offset=second))
    data = np.ones(4, "<f4").tobytes().ljust(second, b"\0")
    data += np.full(4, 2, "<f4").tobytes()
    path = tmp_path / "aligned.gguf"
    path.write_bytes(make.gguf(pairs, tensors, data, alignment=alignment))
    file = GGUFFile(path)
    assert file.data_offset % alignment == 0
    assert file.tensor("a").tolist() == [1] * 4
    assert file.tensor("b").tolist() == [2] * 4


def test_a_file_without_tensors_may_end_after_its_metadata(tmp_path):
    path = tmp_path / "vocabulary.gguf"
    path.write_bytes(make.gguf((make.pair("k", 0, b"\7"),), alignment=1))
    assert GGUFFile(path).metadata == {"k": 7}


def test_raw_is_a_read_only_view_that_outlives_the_file(written):
    path, _, packed, _ = written
    file = GGUFFile(path)
    view = file.raw("matrix")
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    file.close()
    file.close()
    np.testing.assert_array_equal(view, packed.reshape(-1))
    with pytest.raises(GGUFError, match="a closed file"):
        file.raw("matrix")


def test_a_dequantised_tensor_is_writable_and_its_own(written):
    path, _, _, vector = written
    with GGUFFile(path) as file:
        first = file.tensor("vector")
        first += 1
        np.testing.assert_array_equal(file.tensor("vector"), vector)


def test_an_unknown_tensor_is_named(written):
    with (
        GGUFFile(written[0]) as file,
        pytest.raises(GGUFError, match="'nothing', expected one of its 2"),
    ):
        file.raw("nothing")


def test_a_type_without_dequantiser_can_be_read_raw(tmp_path):
    path = tmp_path / "q2.gguf"
    tensors = (make.tensor("w", (256,), kind=10),)
    path.write_bytes(make.gguf((), tensors, bytes(range(84))))
    file = GGUFFile(path)
    assert file.raw("w").tolist() == list(range(84))
    with pytest.raises(ArgumentError, match="type_name: got 'Q2_K'"):
        file.tensor("w")


def test_paths_without_a_file_are_named(tmp_path):
    with pytest.raises(GGUFError, match="got no such file, expected a GGUF"):
        GGUFFile(tmp_path / "absent.gguf")
    with pytest.raises(GGUFError, match="got a folder"):
        GGUFFile(tmp_path)
    empty = tmp_path / "empty.gguf"
    empty.touch()
    with pytest.raises(GGUFError, match="got an empty file"):
        GGUFFile(empty)
