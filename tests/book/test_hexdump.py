"""Bytes shown as they lie in a file."""

from __future__ import annotations

import pytest

from cutaway.book.hexdump import dump
from cutaway.core import ArgumentError


def shown(capsys, *args) -> list[str]:
    dump(*args)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16])
def test_every_byte_is_shown_once_eight_a_row(capsys, count):
    data = bytes(range(100, 120))
    rows = shown(capsys, data, 3, count)
    assert [int(row[:8]) for row in rows if row] == list(range(3, 3 + count, 8))
    together = bytes.fromhex("".join(row[10:33] for row in rows))
    assert together == data[3 : 3 + count]


def test_letters_stand_behind_and_dots_for_the_rest(capsys):
    [row] = shown(capsys, b"Aa~\x7f\x00\xff <")
    assert row.endswith("  Aa~... <")


def test_without_a_count_all_of_the_rest_is_shown(capsys):
    assert len(shown(capsys, bytes(20), 4)) == 2


@pytest.mark.parametrize(
    ("args", "at_fault"),
    [
        (("text",), "data"),
        ((b"abc", 4), "first"),
        ((b"abc", -1), "first"),
        ((b"abc", 1, 3), "count"),
        ((b"abc", 1, -1), "count"),
    ],
)
def test_bytes_that_are_not_there_are_refused(args, at_fault):
    with pytest.raises(ArgumentError) as caught:
        dump(*args)
    assert caught.value.name == at_fault
