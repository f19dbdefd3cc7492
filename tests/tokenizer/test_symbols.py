from __future__ import annotations

import pytest
from transformers.convert_slow_tokenizer import bytes_to_unicode

from cutaway.tokenizer import BYTE_TO_SYMBOL, to_bytes, to_symbols
from oracles.slow_bpe import byte_symbols


def test_symbols_are_those_of_gpt2():
    peer = bytes_to_unicode()
    assert list(BYTE_TO_SYMBOL) == [peer[byte] for byte in range(256)]
    assert list(BYTE_TO_SYMBOL) == byte_symbols()


def test_188_bytes_stand_for_themselves_and_68_are_moved_up():
    same = [b for b in range(256) if BYTE_TO_SYMBOL[b] == chr(b)]
    moved = [s for b, s in enumerate(BYTE_TO_SYMBOL) if s != chr(b)]
    assert len(same) == 188
    assert moved == [chr(0x100 + n) for n in range(68)]
    assert (BYTE_TO_SYMBOL[0x20], BYTE_TO_SYMBOL[0x0A]) == ("Ġ", "Ċ")


def test_every_byte_comes_back_from_its_symbol():
    every = bytes(range(256))
    assert len(set(to_symbols(every))) == 256
    assert to_bytes(to_symbols(every)) == every


def test_a_character_that_is_no_symbol_is_refused():
    with pytest.raises(KeyError):
        to_bytes("a b")
