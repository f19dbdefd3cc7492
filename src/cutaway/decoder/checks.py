"""What a decoder refuses, before it has changed anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.attention import AttentionVariant
from cutaway.core.checks import check, check_int
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.decoder.params import Params
from cutaway.decoder.shapes import weight_shapes
from cutaway.layers import check_array

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from jaxtyping import Int


def check_token_ids(
    name: str, token_ids: Sequence[int], vocab_size: int
) -> list[int]:
    """Return token ids as a list of ints, or say which one is unusable.

    Args:
        name: The argument's name, for the message.
        token_ids: At least one id, each below ``vocab_size``.
        vocab_size: Size of the vocabulary.

    Raises:
        ArgumentError: There is none, or one is no token.

    >>> check_token_ids("prompt", [3, 99], vocab_size=10)
    Traceback (most recent call last):
        ...
    cutaway.core.errors.ArgumentError: prompt[1]: got 99, expected an \
integer from 0 to 9
    """
    try:
        ids = list(token_ids)
    except TypeError:
        got = repr(token_ids)
        raise ArgumentError(name, got, "a list of token ids") from None
    check(len(ids) > 0, name, "no token", "at least one token")
    return [
        check_int(f"{name}[{place}]", token_id, 0, vocab_size - 1)
        for place, token_id in enumerate(ids)
    ]


def check_next_tokens(
    token_ids: Sequence[int], start: int, config: ModelConfig
) -> Int[np.ndarray, " tokens"]:
    """Return the ids as int64, or say which one cannot be read.

    Args:
        token_ids: What the caller wants read.
        start: Position of the first of them.
        config: The model, for its vocabulary and its longest text.

    Raises:
        ArgumentError: They are not a flat, non-empty list of token ids,
            or reach beyond ``config.max_seq_len``.
    """
    ids = check_token_ids("token_ids", token_ids, config.vocab_size)
    check(
        start + len(ids) <= config.max_seq_len,
        "token_ids",
        f"{len(ids)} tokens behind {start}",
        f"at most max_seq_len = {config.max_seq_len} tokens together",
    )
    return np.array(ids, np.int64)


def check_params(config: ModelConfig, params: Params, *, impl: str) -> None:
    """Raise unless every weight has the shape, kind and dtype it must.

    Args:
        config: The sizes that the weights must have.
        params: The weights; all of one dtype.
        impl: The backend that they must belong to.

    Raises:
        ArgumentError: It names the first weight that does not fit.
    """

    def fit(name: str, array: Any, shape: tuple[int, ...]) -> None:
        name = f"params.{name}"
        check_array(name, array, shape, impl=impl)
        dtype = params.embed.dtype
        check(array.dtype == dtype, f"{name}.dtype", array.dtype, f"{dtype}")

    got, expected = len(params.layers), config.num_layers
    check(got == expected, "params.layers", got, f"{expected} layers")
    shapes, names = weight_shapes(config), params.names()
    shapes["unembed"] = shapes["embed"]  # tied or not
    for name, shape in shapes.items():
        there = name == "unembed" or name in names
        check(there, f"params.{name}", "None", "an array")
        fit(name, params[name], shape)
    for name in names:
        expected = "None: the model has no such weight"
        check(name in shapes, f"params.{name}", "an array", expected)


def check_variant(
    variant: AttentionVariant | None, config: ModelConfig
) -> None:
    """Raise unless a variant of attention suits the model's heads.

    Args:
        variant: What was given; None suits every model.
        config: The model.

    Raises:
        ArgumentError: It is no variant, or one for other heads.
    """
    if variant is None:
        return
    usable = isinstance(variant, AttentionVariant)
    check(usable, "variant", repr(variant), "an AttentionVariant or None")
    fits = variant.num_heads in (None, config.num_heads)
    expected = f"{config.num_heads}, the heads of the model"
    check(fits, "variant.num_heads", variant.num_heads, expected)
