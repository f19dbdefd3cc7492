"""One description of an attention variant, for every implementation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_int, check_real
from cutaway.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Mask = Callable[[Any, Any, Any], Any]
    Score = Callable[[Any, Any, Any, Any], Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionVariant:
    """What one kind of attention does to the scores before the softmax.

    Both functions get positions and heads as arrays that broadcast against
    the scores, and are made of operators (``<=``, ``&``, ``-``, ``*``),
    which NumPy arrays and tensors both understand. So one description
    serves every implementation unchanged. Variants combine with ``&``:
    both masks hold, the score functions apply from left to right.

    Attributes:
        name: What it is called where it is printed.
        mask_mod: ``(q_pos, kv_pos, head) -> bool``, true where the query
            sees the key; None hides nothing.
        score_mod: ``(score, q_pos, kv_pos, head) -> score``, applied to
            the scaled scores; None leaves them.
        sink_logit: One number per query head that joins the softmax as the
            score of a key with value zero; it is neither scaled nor
            masked. None has none.
        scale: Factor of the scores; None is ``head_dim ** -0.5``.
        num_heads: Query heads it is made for; None fits any number. A
            ``sink_logit`` settles it.

    Raises:
        ArgumentError: A function cannot be called, a number is out of
            range, or two parts are made for different numbers of heads.

    Source: Dong et al. 2024 (FlexAttention), arXiv 2412.05496 (mask_mod
    and score_mod); openai/gpt-oss, ``gpt_oss/torch/model.py``, function
    ``sdpa`` (sinks).
    Differs: FlexAttention's functions also get the batch index, and its
    positions count from the first query; here they are absolute.

    >>> even = AttentionVariant(
    ...     name="even", mask_mod=lambda q_pos, kv_pos, head: kv_pos % 2 == 0)
    >>> even & AttentionVariant(name="halved", scale=0.5)
    <AttentionVariant even & halved>
    """

    name: str = "custom"
    mask_mod: Mask | None = None
    score_mod: Score | None = None
    sink_logit: Sequence[float] | None = None
    scale: float | None = None
    num_heads: int | None = None

    def __post_init__(self) -> None:
        for part in ("mask_mod", "score_mod"):
            function = getattr(self, part)
            usable = function is None or callable(function)
            check(usable, part, repr(function), "a function or None")
        if self.scale is not None:
            check_real("scale", self.scale, 0)
        if self.num_heads is not None:
            check_int("num_heads", self.num_heads, low=1)
        if self.sink_logit is not None:
            sinks = _numbers("sink_logit", self.sink_logit)
            heads = _same("num_heads", self.num_heads, len(sinks))
            object.__setattr__(self, "sink_logit", sinks)
            object.__setattr__(self, "num_heads", heads)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __and__(self, other: AttentionVariant) -> AttentionVariant:
        """Return the variant that does what both do.

        Raises:
            ArgumentError: Both set the scale or a sink, or they are made
                for different numbers of heads.
        """
        if not isinstance(other, AttentionVariant):
            return NotImplemented
        return AttentionVariant(
            name=f"{self.name} & {other.name}",
            mask_mod=_both_masks(self.mask_mod, other.mask_mod),
            score_mod=_in_order(self.score_mod, other.score_mod),
            sink_logit=_one_of("sink_logit", self.sink_logit, other.sink_logit),
            scale=_one_of("scale", self.scale, other.scale),
            num_heads=_same("num_heads", self.num_heads, other.num_heads),
        )


def per_head(values: Sequence[float], head: Any, like: Any) -> Any:
    """Return ``values[head]`` as an array of the kind and dtype of ``like``.

    The one thing a score function needs beside operators: a number of its
    own for each head.

    Args:
        values: One number per head.
        head: A head, or an array of heads.
        like: The scores that the result will be combined with.

    >>> per_head((0.5, 0.25), np.array([1, 1, 0]), like=np.zeros(3))
    array([0.25, 0.25, 0.5 ])
    """
    if hasattr(like, "new_tensor"):
        return like.new_tensor(values)[head]
    return np.asarray(values, np.asarray(like).dtype)[head]


def _both_masks(first: Mask | None, second: Mask | None) -> Mask | None:
    """Return the mask that lets through what both let through."""
    if first is None or second is None:
        return first or second
    return lambda q_pos, kv_pos, head: (
        first(q_pos, kv_pos, head) & second(q_pos, kv_pos, head)
    )


def _in_order(first: Score | None, second: Score | None) -> Score | None:
    """Return the score function that applies one after the other."""
    if first is None or second is None:
        return first or second
    return lambda score, q_pos, kv_pos, head: second(
        first(score, q_pos, kv_pos, head), q_pos, kv_pos, head
    )


def _one_of(name: str, first: Any, second: Any) -> Any:
    """Return the one that is set; both would contradict each other."""
    check(first is None or second is None, name, "two", "at most one")
    return first if second is None else second


def _same(name: str, first: int | None, second: int | None) -> int | None:
    """Return the number both agree on; None agrees with any."""
    if first is None or second is None:
        return first if second is None else second
    check(first == second, name, f"{first} and {second}", "the same number")
    return first


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    """Return finite numbers as a tuple of floats, at least one."""
    try:
        items = list(values)
    except TypeError:
        got = repr(values)
        raise ArgumentError(name, got, "one number per head") from None
    check(len(items) > 0, name, "no number", "one number per head")
    return tuple(
        check_real(f"{name}[{head}]", item, -float("inf"))
        for head, item in enumerate(items)
    )
