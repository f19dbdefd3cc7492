"""Exercise 4: one tensor out of the bytes of a safetensors file."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def read_tensor(data: np.ndarray, name: str) -> np.ndarray:
    """Return a tensor of float32 numbers from the bytes of a whole file."""
    length = int.from_bytes(bytes(data[:8]), "little")
    entry = json.loads(bytes(data[8 : 8 + length]))[name]
    start, end = entry["data_offsets"]
    first = 8 + length
    numbers = data[first + start : first + end].tobytes()
    return np.frombuffer(numbers, "<f4").reshape(entry["shape"])


def _file(tensors: dict[str, np.ndarray], padding: int) -> np.ndarray:
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, array in tensors.items():
        start, end = end, end + array.nbytes
        entries[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    header = json.dumps(entries).encode() + b" " * padding
    numbers = b"".join(array.tobytes() for array in tensors.values())
    whole = len(header).to_bytes(8, "little") + header + numbers
    return np.frombuffer(whole, np.uint8).copy()


def _grade(judge: Judge) -> None:
    shapes = ((3, 4), (4, 3), (5,), (2, 3, 4), (1, 7), (0, 3), ())
    for padding in (0, 3, 300):
        tensors = {
            f"layers.{number}.weight": judge.rng.normal(size=shape).astype(
                "<f4"
            )
            for number, shape in enumerate(shapes)
        }
        data = _file(tensors, padding)
        for name in map(str, judge.rng.permutation(list(tensors))):
            expected = read_tensor(data, name)
            judge.same_array(judge.call(data, name), expected, data, name)


def _from(
    first: Callable[[int], int],
    layout: str = "<f4",
    order: str = "little",
) -> Callable[[np.ndarray, str], np.ndarray]:
    """Return an answer that counts from another byte, or reads otherwise."""

    def answer(data: np.ndarray, name: str) -> np.ndarray:
        length = int.from_bytes(bytes(data[:8]), "little")
        entry = json.loads(bytes(data[8 : 8 + length]))[name]
        start, end = entry["data_offsets"]
        base = first(length)
        packed = data[base + start : base + end].tobytes()
        packed = packed[: len(packed) // 4 * 4].ljust(end - start, b"\0")
        numbers = np.frombuffer(packed, layout).astype(np.float32)
        return numbers.reshape(entry["shape"])

    return answer


def _by_place(data: np.ndarray, name: str) -> np.ndarray:
    length = int.from_bytes(bytes(data[:8]), "little")
    entry = json.loads(bytes(data[8 : 8 + length]))[name]
    start, end = entry["data_offsets"]
    packed = data[8 + length :][: end - start].tobytes()
    return np.frombuffer(packed, "<f4").reshape(entry["shape"])


def _columns_first(data: np.ndarray, name: str) -> np.ndarray:
    right = read_tensor(data, name)
    return right.reshape(-1).reshape(right.shape, order="F")


EXERCISE = Exercise(
    id="flow/weights:4",
    title="One tensor out of a safetensors file",
    reference=read_tensor,
    grade=_grade,
    hints=(
        "`int.from_bytes(bytes(data[:8]), 'little')` is the length of the "
        "JSON, which begins at byte 8.",
        "`json.loads(bytes(data[8 : 8 + length]))[name]` has the shape and "
        "the two `data_offsets`. They count from the end of the JSON.",
        "Cut `data[8 + length + start : 8 + length + end]` out, read it with "
        "`np.frombuffer(part.tobytes(), '<f4')`, then `reshape`.",
    ),
    reread="The other container: safetensors",
    mistakes=(
        Mistake(
            _from(lambda length: 0),
            "the offsets count from the end of the JSON, not of the file's "
            "first byte",
        ),
        Mistake(
            _from(lambda length: length),
            "the eight bytes of the length were not counted",
        ),
        Mistake(
            _from(lambda length: 8),
            "the JSON was not skipped: the numbers follow it",
        ),
        Mistake(
            _from(lambda length: -(-(8 + length) // 32) * 32),
            "no padding to a multiple of 32: that is GGUF",
        ),
        Mistake(
            _by_place,
            "the first tensor's bytes were taken: add the start",
        ),
        Mistake(
            _from(lambda length: 8 + length, layout=">f4"),
            "the numbers are little-endian: '<f4'",
        ),
        Mistake(
            lambda data, name: read_tensor(data, name).reshape(-1),
            "the shape was not applied",
        ),
        Mistake(
            lambda data, name: read_tensor(data, name).T,
            "the axes are reversed; safetensors lists them as NumPy does",
        ),
        Mistake(
            _columns_first,
            "the numbers fill rows first, as NumPy does by default",
        ),
    ),
)
