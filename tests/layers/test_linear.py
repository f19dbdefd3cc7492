"""linear and embed: against loops, on awkward shapes, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError
from cutaway.layers import embed, linear, linear_per_head
from oracles import loops
from oracles.budget import assert_within_budget

SHAPES = [  # rows, in, out
    (0, 3, 5),
    (1, 1, 1),
    (1, 7, 3),
    (1, 64, 24),
    (2, 5, 16),
    (3, 59, 13),
    (8, 6, 40),
    (9, 6, 40),
    (33, 12, 7),
]


def draw(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize(("rows", "in_size", "out_size"), SHAPES)
def test_numpy_linear_equals_the_loops(rows, in_size, out_size):
    x, w = draw(1, (rows, in_size), (out_size, in_size))
    got = linear(x, w, impl="numpy")
    assert got.shape == (rows, out_size)
    np.testing.assert_allclose(got, loops.linear(x, w), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("rows", "in_size", "out_size"), SHAPES)
def test_torch_linear_keeps_the_error_budget(rows, in_size, out_size):
    exact = draw(2, (rows, in_size), (out_size, in_size))
    x, w = (a.astype(np.float32) for a in exact)
    got = linear(torch.from_numpy(x), torch.from_numpy(w), impl="torch")
    assert got.shape == (rows, out_size)
    assert got.is_contiguous()  # what reads it next is slow otherwise
    assert_within_budget(
        got.numpy(),
        linear(x, w, impl="numpy"),
        loops.linear(x, w),
    )


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9])
def test_torch_linear_in_float64_equals_the_loops(rows):
    x, w = draw(3, (rows, 10), (14, 10))
    got = linear(torch.from_numpy(x), torch.from_numpy(w), impl="torch")
    np.testing.assert_allclose(got, loops.linear(x, w), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 20])
def test_torch_linear_takes_a_weight_in_any_memory_order(rows):
    x, w = draw(4, (rows, 6), (10, 6))
    column_major = torch.from_numpy(np.ascontiguousarray(w.T)).t()
    assert not column_major.is_contiguous()
    got = linear(torch.from_numpy(x), column_major, impl="torch")
    np.testing.assert_allclose(got, x @ w.T, atol=1e-12)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("lead", [(), (2, 3), (4, 0), (5, 2)])
def test_linear_keeps_leading_dimensions(impl, lead):
    x, w = draw(5, (*lead, 4), (6, 4))
    if impl == "torch":
        got = linear(torch.from_numpy(x), torch.from_numpy(w), impl=impl)
    else:
        got = linear(x, w, impl=impl)
    assert tuple(got.shape) == (*lead, 6)
    np.testing.assert_allclose(np.asarray(got), x @ w.T, atol=1e-12)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_linear_and_embed_keep_the_dtype(impl, dtype):
    x, w = (a.astype(dtype) for a in draw(6, (1, 4), (3, 4)))
    ids = np.array([2, 0])
    if impl == "torch":
        x, w, ids = map(torch.from_numpy, (x, w, ids))
    assert str(linear(x, w, impl=impl).dtype).endswith(dtype)
    assert str(embed(ids, w, impl=impl).dtype).endswith(dtype)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("ids", [[], [4], [3, 0, 3, 1]])
def test_embed_picks_rows_in_order(impl, ids):
    (w,) = draw(7, (5, 3))
    token_ids = np.array(ids, dtype=np.int64)
    if impl == "torch":
        got = embed(
            torch.from_numpy(token_ids), torch.from_numpy(w), impl=impl
        ).numpy()
    else:
        got = embed(token_ids, w, impl=impl)
    assert got.shape == (len(ids), 3)
    for row, token in zip(got, ids, strict=True):
        assert row.tolist() == w[token].tolist()


def test_inner_sizes_that_differ_are_named():
    with pytest.raises(
        ArgumentError, match=r"x.shape: got \(2, 3\).*4"
    ) as info:
        linear(np.zeros((2, 3)), np.zeros((5, 4)), impl="numpy")
    assert info.value.name == "x.shape"


def test_an_array_of_the_other_backend_is_named():
    x, w = np.zeros((2, 4)), np.zeros((5, 4))
    with pytest.raises(ArgumentError, match=r"weight: got ndarray.*torch"):
        linear(x, w, impl="torch")
    with pytest.raises(ArgumentError, match=r"x: got Tensor.*numpy"):
        linear(torch.zeros(2, 4), w, impl="numpy")


@pytest.mark.parametrize("impl", ["auto", "Torch", "", None])
def test_an_unknown_impl_is_refused_and_the_known_ones_listed(impl):
    with pytest.raises(ArgumentError, match="'numpy', 'torch'") as info:
        linear(np.zeros((1, 1)), np.zeros((1, 1)), impl=impl)
    assert info.value.name == "impl"


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("tokens", [0, 1, 2, 9])
@pytest.mark.parametrize("heads", [1, 3])
def test_each_head_has_a_matrix_of_its_own(impl, tokens, heads):
    x, w = draw(4, (tokens, heads, 5), (heads, 7, 5))
    arrays = (x, w) if impl == "numpy" else map(torch.from_numpy, (x, w))
    got = linear_per_head(*arrays, impl=impl)
    assert tuple(got.shape) == (tokens, heads, 7)
    for head in range(heads):
        want = loops.linear(x[:, head], w[head])
        np.testing.assert_allclose(got[:, head], want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_the_matrices_of_heads_may_be_transposed_views(impl):
    x, w = draw(5, (4, 3, 7), (3, 9, 7))
    part = w[:, 2:7]  # rows of a larger matrix
    if impl == "torch":
        x, part = torch.from_numpy(x), torch.from_numpy(part)
    forth = linear_per_head(x, part, impl=impl)
    back = linear_per_head(forth, part.swapaxes(1, 2), impl=impl)
    want = np.einsum("thi,hoi,hoj->thj", x, w[:, 2:7], w[:, 2:7])
    np.testing.assert_allclose(back, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 2, 7), (4, 3, 6), (4, 7)])
def test_heads_and_widths_of_linear_per_head_must_fit(shape):
    with pytest.raises(ArgumentError) as info:
        linear_per_head(np.zeros(shape), np.zeros((3, 5, 7)), impl="numpy")
    assert info.value.name == "x.shape"
