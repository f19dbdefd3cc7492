from __future__ import annotations

import gc
import random
import subprocess
import sys
import time

import pytest

from cutaway.tokenizer import Tokenizer, encoder


def best_s(run, repeat: int) -> float:
    """Return the least time of a few runs, in seconds."""
    times = []
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.model
def test_the_tokenizer_is_built_in_less_than_150_ms(metadata):
    assert best_s(lambda: Tokenizer.from_gguf(metadata), 7) < 0.15


@pytest.mark.model
def test_english_is_encoded_at_300000_characters_a_second(metadata):
    """Words as frequent as in English (Zipf), 8,000 different ones."""
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    weights = [1 / (rank + 2) for rank in range(26)]
    rng = random.Random(0)
    words = [
        "".join(rng.choices(letters, weights, k=rng.randint(2, 10)))
        for _ in range(8_000)
    ]
    frequency = [1 / (rank + 1) for rank in range(len(words))]
    text = " ".join(rng.choices(words, frequency, k=60_000))

    def cold() -> None:
        Tokenizer.from_gguf(metadata).encode(text)

    assert len(text) / best_s(cold, 3) > 300_000


@pytest.mark.model
def test_a_word_of_100000_characters_takes_seconds_not_hours(tokenizer):
    """In O(n^2) each of these would take 10^10 steps."""
    for word in ("a" * 100_000, " " * 100_000, "ab" * 50_000):
        assert best_s(lambda word=word: tokenizer.encode(word), 1) < 10


def test_the_cache_is_bounded_and_long_words_stay_out(toy, monkeypatch):
    monkeypatch.setattr(encoder, "_CACHED_WORDS", 10)
    cache = toy._encoder._cache
    cache.clear()
    expected = [toy.encode(f" {'a' * n}") for n in range(1, 60)]
    assert 0 < len(cache) <= 10
    assert max(map(len, cache), default=0) <= encoder._LONGEST_CACHED_WORD
    again = [toy.encode(f" {'a' * n}") for n in range(1, 60)]
    assert again == expected


def test_importing_loads_neither_torch_nor_jinja():
    code = (
        "import sys, cutaway.tokenizer; "
        "print(sorted({'torch', 'jinja2', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
