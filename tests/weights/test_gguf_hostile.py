"""Broken and hostile GGUF files: a clear error, at once, in little memory."""

from __future__ import annotations

import struct

import pytest

from cutaway.weights import GGUFError, GGUFFile
from oracles import gguf_bytes as make
from oracles.cost import cpu_seconds, peak_bytes

BILLION = 10**9
HUGE = 2**64 - 1
TEXT, ARRAY = 8, 9
ALIGNMENT = "general.alignment"


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


def one(*tensors: bytes, data: int = 16) -> bytes:
    """A file with these tensors and ``data`` bytes of weights."""
    return make.gguf((), tensors, bytes(data))


def key(kind: int, payload: bytes, name: str | bytes = "k") -> bytes:
    """A file with this one metadata entry, and some bytes after it."""
    return make.gguf((make.pair(name, kind, payload),), (), bytes(64))


SOUND = make.gguf(
    (make.pair("k", TEXT, make.string("v")),), (make.tensor(),), bytes(16)
)

CASES = {
    "other format": (b"PK\3\4" + SOUND[4:], r"magic: got b'PK\\x03\\x04'"),
    "version 1": (make.gguf(version=1), "version: got 1, expected 3"),
    "version 2": (make.gguf(version=2), "version: got 2, expected 3"),
    "version 4": (make.gguf(version=4), "version: got 4, expected 3"),
    "big-endian": (
        b"GGUF" + struct.pack(">IQQ", 3, 1, 1) + bytes(64),
        "version: got 3 in big-endian byte order, expected 3, little-endian",
    ),
    "magic only": (
        b"GGUF",
        "version: got the end, 0 bytes on, expected 4 bytes or more",
    ),
    "billions of tensors": (
        make.gguf(num_tensors=4 * BILLION),
        "tensor count: got 4000000000, expected at most",
    ),
    "billions of keys": (
        make.gguf(num_pairs=4 * BILLION),
        "metadata count: got 4000000000, expected at most",
    ),
    "most tensors": (make.gguf(num_tensors=HUGE), "tensor count: got 18446"),
    "more keys than bytes": (
        make.gguf((make.pair("k", 0, b"\1"),), num_pairs=4),
        "metadata count: got 4, expected at most 3",
    ),
    "key longer than the file": (
        make.gguf((make.string("k", HUGE) + bytes(32),)),
        "key 0, length: got 18446744073709551615, expected at most",
    ),
    "key over 65,535 bytes": (
        key(0, b"\1", "k" * 65_536),
        "key 0, length: got 65536, expected at most 65535",
    ),
    "key not UTF-8": (
        key(0, b"\1", b"\xff\xfe"),
        r"key 0: got the bytes b'\\xff\\xfe', expected UTF-8 text",
    ),
    "key twice": (
        make.gguf((make.pair("k", 0, b"\1"), make.pair("k", 0, b"\2"))),
        "key: got 'k', expected no key twice",
    ),
    "value type 13": (key(13, b""), "type: got 13, expected a value type"),
    "bool of 2": (key(7, b"\2"), "key 'k': got 2, expected 0 or 1"),
    "bools of 2": (key(ARRAY, make.array(7, 2, b"\1\2")), "got 2, expected 0"),
    "text longer than the file": (
        key(TEXT, make.string("v", 2**40)),
        "key 'k', length: got 1099511627776, expected at most",
    ),
    "text not UTF-8": (
        key(TEXT, make.string(b"ab\xc3")),
        r"key 'k': got the bytes b'ab\\xc3', expected UTF-8 text",
    ),
    "array of a billion numbers": (
        key(ARRAY, make.array(12, BILLION)),
        "key 'k', array length: got 1000000000, expected at most",
    ),
    "array of a billion texts": (
        key(ARRAY, make.array(TEXT, BILLION)),
        "key 'k', array length: got 1000000000, expected at most",
    ),
    "array of arrays": (
        key(ARRAY, make.array(ARRAY, 1, make.array(0, 1, b"\1"))),
        "element type: got 9, expected a value type, .* do not nest",
    ),
    "array of unknowns": (
        key(ARRAY, make.array(77, 1, b"\1")),
        "element type: got 77, expected a value type",
    ),
    "text in array longer than the file": (
        key(
            ARRAY,
            make.array(TEXT, 2, make.string("a") + make.string("b", HUGE)),
        ),
        r"key 'k'\[1\]: got a length beyond the end",
    ),
    "texts in array end early": (
        make.gguf(
            (make.pair("k", ARRAY, make.array(TEXT, 2, make.string("a" * 9))),),
            alignment=1,
        ),
        r"key 'k'\[1\]: got a length beyond the end",
    ),
    "text in array not UTF-8": (
        key(ARRAY, make.array(TEXT, 1, make.string(b"\xff"))),
        r"key 'k': got the bytes b'\\xff'",
    ),
    "alignment 0": (
        make.gguf((make.pair(ALIGNMENT, 4, u32(0)),)),
        "alignment: got 0, expected a positive multiple of 8",
    ),
    "alignment 12": (
        make.gguf((make.pair(ALIGNMENT, 4, u32(12)),)),
        "alignment: got 12, expected a positive multiple of 8",
    ),
    "alignment below 0": (
        make.gguf((make.pair(ALIGNMENT, 5, struct.pack("<i", -8)),)),
        "alignment: got -8, expected a positive multiple of 8",
    ),
    "alignment a text": (
        make.gguf((make.pair(ALIGNMENT, TEXT, make.string("32")),)),
        "alignment: got str, expected an integer",
    ),
    "alignment a bool": (
        make.gguf((make.pair(ALIGNMENT, 7, b"\1"),)),
        "alignment: got bool, expected an integer",
    ),
    "alignment beyond the file": (
        make.gguf(
            (make.pair(ALIGNMENT, 4, u32(2**32 - 8)),),
            (make.tensor(),),
            bytes(16),
        ),
        "tensor 'w', end: got byte 16 of the weights, expected at most 0",
    ),
    "tensor twice": (
        one(make.tensor(), make.tensor(offset=32), data=64),
        "tensor name: got 'w', expected no name twice",
    ),
    "name over 64 bytes": (
        one(make.tensor("w" * 65)),
        "tensor 0, name, length: got 65, expected at most 64",
    ),
    "no dimensions": (
        one(make.tensor(dims=()), data=64),
        "tensor 'w', dimensions: got 0, expected 1 to 4",
    ),
    "5 dimensions": (
        one(make.tensor(dims=(1,) * 5)),
        "tensor 'w', dimensions: got 5, expected 1 to 4",
    ),
    "billions of dimensions": (
        one(make.tensor(num_dims=2**32 - 1)),
        "tensor 'w', dimensions: got 4294967295, expected 1 to 4",
    ),
    "a dimension of 0": (
        one(make.tensor(dims=(4, 0))),
        r"tensor 'w', shape: got \(0, 4\), expected 1 to",
    ),
    "dimensions that overflow to 0": (
        one(make.tensor(dims=(2**32, 2**32))),
        r"tensor 'w', shape: got \(4294967296, 4294967296\)",
    ),
    "dimensions that overflow to 1": (
        one(make.tensor(dims=(HUGE, HUGE))),
        "tensor 'w', shape: got",
    ),
    "rows cut inside a block": (
        one(make.tensor(dims=(33,), kind=3)),
        r"tensor 'w', shape: got \(33,\), expected rows of a multiple of 32",
    ),
    "unknown type": (
        one(make.tensor(kind=4)),
        "tensor 'w', type: got 4, expected one of 0, 1, 2, 3, 6",
    ),
    "offset not aligned": (
        one(make.tensor(offset=16), data=64),
        "tensor 'w', offset: got 16, expected a multiple of 32",
    ),
    "offset beyond the file": (
        one(make.tensor(offset=2**63)),
        "tensor 'w', end: got byte 9223372036854775824 of the weights",
    ),
    "tensor larger than the file": (
        one(make.tensor(dims=(2**40,))),
        "expected at most 16: is the file truncated?",
    ),
    "tensors that overlap": (
        one(make.tensor("a", (16,)), make.tensor("b", offset=32), data=96),
        "tensor 'b', offset: got 32, expected 64 or more",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_hostile_file_is_refused(case, tmp_path):
    data, message = CASES[case]
    path = tmp_path / "hostile.gguf"
    path.write_bytes(data)
    with pytest.raises(GGUFError, match=message):
        GGUFFile(path)
    assert_costs_nothing(path)


def assert_costs_nothing(path) -> None:
    def refuse() -> None:
        with pytest.raises(GGUFError):
            GGUFFile(path)

    assert cpu_seconds(refuse, 0.02) < 0.02
    assert peak_bytes(refuse) < 1_000_000


def test_every_cut_of_a_sound_file_is_refused(tmp_path):
    path = tmp_path / "sound.gguf"
    path.write_bytes(SOUND)
    assert GGUFFile(path).metadata == {"k": "v"}
    for length in range(len(SOUND)):
        path.write_bytes(SOUND[:length])
        with pytest.raises(GGUFError):
            GGUFFile(path)


def test_the_error_names_the_file(tmp_path):
    path = tmp_path / "old.gguf"
    path.write_bytes(make.gguf(version=2))
    with pytest.raises(GGUFError) as caught:
        GGUFFile(path)
    assert caught.value.name == "old.gguf: version"
    assert caught.value.got == "2"
    assert caught.value.expected == "3, little-endian"


@pytest.mark.parametrize("kind", [0, TEXT])
def test_large_sparse_file_cannot_make_the_reader_work(kind, tmp_path):
    # A file with holes is cheap to make: 1 GiB of zeros that read as a
    # billion numbers, or as 134 million empty texts, or as one long text.
    path = tmp_path / "sparse.gguf"
    heads = (
        make.array(kind, 2**30 - 512),
        make.array(kind, 2**27 - 512),
        make.array(kind, 2**21),
    )
    payloads = [make.pair("k", ARRAY, head) for head in heads]
    payloads.append(make.pair("k", TEXT, struct.pack("<Q", 2**30 - 512)))
    for payload in payloads:
        path.write_bytes(make.gguf((payload,)))
        with path.open("r+b") as file:
            file.truncate(2**30)
        with pytest.raises(GGUFError, match=r"length: got .* at most"):
            GGUFFile(path)
        assert_costs_nothing(path)


def test_a_header_of_gigabytes_is_given_up(tmp_path):
    # 128 keys whose texts are 16 MiB each, all of them a hole in the file.
    path = tmp_path / "texts.gguf"
    with path.open("wb") as file:
        file.write(make.gguf(num_pairs=128, alignment=1))
        for number in range(128):
            head = struct.pack("<Q", 2**24)
            file.write(make.pair(f"k{number}", TEXT, head))
            file.seek(2**24, 1)
        file.truncate()

    def refuse() -> None:
        with pytest.raises(GGUFError, match="key 'k7', length: got 16777216"):
            GGUFFile(path)

    assert cpu_seconds(refuse, 0.5) < 0.5
    assert peak_bytes(refuse) < 2e8
