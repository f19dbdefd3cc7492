"""The ring of slots against plain lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError, KVShape
from cutaway.kvcache import Ring

SHAPE = KVShape(2, 3, 4)


def ring_of(slots, impl="numpy"):
    return Ring(slots, SHAPE, impl=impl, dtype="float64")


def rows(first, count, impl="numpy"):
    """Keys full of the tokens' numbers, values of their negatives."""
    numbers = np.arange(first, first + count, dtype=float)[:, None, None]
    k = np.broadcast_to(numbers, (count, 2, 3)).copy()
    v = np.broadcast_to(-numbers, (count, 2, 4)).copy()
    return (k, v) if impl == "numpy" else tuple(map(torch.from_numpy, (k, v)))


def shown(ring, start):
    keys, values = map(np.asarray, ring.read(start))
    assert (keys == keys[:, :1, :1]).all()
    assert (values == -keys[:, :1, :1]).all()
    return keys[:, 0, 0].tolist()


def test_token_i_lies_in_slot_i_mod_slots():
    ring = ring_of(4)
    for token in range(11):
        ring.write(*rows(token, 1))
    assert ring.keys[:, 0, 0].tolist() == [8, 9, 10, 7]
    assert (ring.first, ring.stored) == (7, 11)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_any_writes_and_cuts_give_back_the_newest_in_order(impl):
    for slots, sizes in itertools.product(
        range(1, 6), itertools.product((0, 1, 2, 5), repeat=4)
    ):
        ring, kept, first = ring_of(slots, impl), [], 0
        for step, size in enumerate(sizes):
            size = min(size, slots)
            ring.write(*rows(len(kept), size, impl))
            kept += range(len(kept), len(kept) + size)
            first = max(first, len(kept) - slots)
            if step == 1 and len(kept) > first:
                kept.pop()
                ring.cut(len(kept))
            assert (ring.first, ring.stored) == (first, len(kept))
            for start in range(first, len(kept) + 1):
                assert shown(ring, start) == kept[start:]


def test_tokens_side_by_side_are_read_without_a_copy():
    ring = ring_of(4)
    ring.write(*rows(0, 4))
    assert np.shares_memory(ring.read(1)[0], ring.keys)
    ring.write(*rows(4, 2))
    assert not np.shares_memory(ring.read(3)[0], ring.keys)
    assert np.shares_memory(ring.read(4)[0], ring.keys)


def test_cutting_off_does_not_bring_back_what_was_pushed_out():
    ring = ring_of(3)
    for token in range(5):
        ring.write(*rows(token, 1))
    ring.cut(3)
    assert (ring.first, shown(ring, 2)) == (2, [2])
    with pytest.raises(ArgumentError) as info:
        ring.read(1)
    assert info.value.name == "start"
    with pytest.raises(ArgumentError) as info:
        ring.cut(1)
    assert info.value.name == "stored"
    assert (ring.first, ring.stored) == (2, 3)


def test_a_ring_of_no_slots_takes_no_token():
    ring = ring_of(0)
    ring.write(*rows(0, 0))
    assert shown(ring, 0) == []
    assert ring.nbytes == 0
    with pytest.raises(ArgumentError, match="at most 0 tokens"):
        ring.write(*rows(0, 1))


def test_more_tokens_than_slots_are_refused_and_nothing_is_written():
    ring = ring_of(3)
    ring.write(*rows(0, 2))
    with pytest.raises(ArgumentError, match="at most 3 tokens"):
        ring.write(*rows(2, 4))
    assert shown(ring, 0) == [0, 1]


@pytest.mark.parametrize("slots", [-1, 2.0, None, True])
def test_slots_that_are_no_count_are_refused(slots):
    with pytest.raises(ArgumentError) as info:
        ring_of(slots)
    assert info.value.name == "slots"


def test_bytes_are_those_of_keys_and_values():
    assert ring_of(5).nbytes == 5 * 2 * (3 + 4) * 8
