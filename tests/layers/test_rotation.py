"""``Rotation`` turns as ``apply_rope`` does, and remembers its tables."""

import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.layers import Rotation, apply_rope, from_numpy, rope_frequencies

FREQUENCIES = rope_frequencies(6, 1e4)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("start", [0, 7])
def test_it_equals_apply_rope_at_consecutive_positions(impl, layout, start):
    x = np.random.default_rng(3).standard_normal((5, 2, 6))
    rope = Rotation(FREQUENCIES, layout=layout, impl=impl)
    got = rope(from_numpy(x, impl=impl), start)
    positions = np.arange(start, start + 5)
    want = apply_rope(x, positions, FREQUENCIES, layout=layout, impl="numpy")
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=1e-14)


def test_tables_are_kept_apart_by_start_length_and_dtype():
    rope = Rotation(FREQUENCIES, layout="half_split", impl="numpy")
    x = np.ones((3, 1, 6))
    first = rope(x, 0)
    assert not np.array_equal(rope(x, 1), first)
    assert rope(x[:2], 0).shape == (2, 1, 6)
    assert rope(x.astype(np.float32), 0).dtype == np.float32
    np.testing.assert_array_equal(rope(x, 0), first)


def test_the_attention_factor_lengthens_the_vectors():
    rope = Rotation(
        FREQUENCIES, layout="half_split", impl="numpy", attention_factor=1.5
    )
    x = np.ones((2, 1, 6))
    length = np.linalg.norm(rope(x, 4), axis=-1)
    np.testing.assert_allclose(length, 1.5 * np.sqrt(6))


def test_a_negative_start_is_refused():
    rope = Rotation(FREQUENCIES, layout="half_split", impl="numpy")
    with pytest.raises(ArgumentError, match="start"):
        rope(np.ones((1, 1, 6)), -1)
