"""What a cache says it occupies is what the process grows by."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cutaway.kvcache import CACHES

# A process of its own: what another test freed would be used again.
GROWTH = """
import sys
from dataclasses import replace
import numpy as np
import psutil
from cutaway.kvcache import make_cache
from cutaway.layers import from_numpy
from cutaway.roofline import CONFIGS

kind, impl, dtype, tokens = *sys.argv[1:4], int(sys.argv[4])
config = CONFIGS["smollm2-135m"]
rows = from_numpy(np.ones((512, *config.kv_shape[:2]), dtype), impl=impl)

def fill(config):
    cache = make_cache(kind, config, tokens, impl=impl, dtype=dtype)
    for _ in range(tokens // 512):
        for layer in range(config.num_layers):
            cache.append(layer, rows, rows)
    for layer in range(config.num_layers):
        cache.append(layer, rows[:0], rows[:0])  # what was put off is done
    assert cache.num_tokens == tokens
    return cache

# One layer first: then imports, threads and working memory are there. It
# stays, or the other would get its memory.
first = fill(replace(config, num_layers=1))
before = psutil.Process().memory_info().rss
cache = fill(config)
print(cache.nbytes, psutil.Process().memory_info().rss - before)
"""


def growth(kind: str, impl: str, dtype: str, tokens: int) -> tuple[int, int]:
    """Bytes that the cache states, and those that the process grew by."""
    # What is freed goes back to the system at once, not into a reserve.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", GROWTH, kind, impl, dtype, str(tokens)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    stated, grown = map(int, done.stdout.split())
    return stated, grown


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize(("dtype", "width"), [("float32", 4), ("float64", 8)])
def test_the_process_grows_by_nbytes(impl, dtype, width):
    tokens = 2048
    stated, grown = growth("contiguous", impl, dtype, tokens)
    # K and V, 30 layers, 3 heads of 64 numbers
    assert stated == 2 * 30 * 3 * 64 * width * tokens
    assert grown == pytest.approx(stated, rel=0.05)


@pytest.mark.parametrize("kind", sorted(set(CACHES) - {"contiguous"}))
def test_what_every_other_cache_states_is_what_it_takes(kind):
    stated, grown = growth(kind, "torch", "float32", 4096)
    assert 0 < stated <= 2 * 30 * 3 * 64 * 4 * 4096 * 1.02
    assert grown == pytest.approx(stated, rel=0.05)
