"""The order of operations of four samplers, as data.

Cuts and scalings do not commute: with the same parameters two engines can
draw from different sets of tokens. An order is a tuple of steps, and a step
has the name of the parameter that drives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from cutaway.core.checks import check
from cutaway.core.errors import ArgumentError
from cutaway.sampling.params import SamplingParams

_PENALTIES = (
    "logit_bias",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
)

# Left out: steps that no parameter here drives. Hugging Face: forced and
# forbidden tokens, top-h, epsilon, eta; vLLM: minimum tokens, bad words;
# llama.cpp: DRY, top-n-sigma, XTC.
ORDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "cutaway": (
            *_PENALTIES,
            "temperature",
            "top_k",
            "top_p",
            "min_p",
            "typical_p",
        ),
        "huggingface": (
            "logit_bias",
            "repetition_penalty",
            "temperature",
            "top_k",
            "top_p",
            "min_p",
            "typical_p",
        ),
        "vllm": (*_PENALTIES, "temperature", "min_p", "top_k", "top_p"),
        "llama.cpp": (
            *_PENALTIES,
            "top_k",
            "typical_p",
            "top_p",
            "min_p",
            "temperature",
        ),
    }
)
STEPS = ORDERS["cutaway"]
_NEUTRAL = MappingProxyType(
    {each.name: each.default for each in fields(SamplingParams)}
)


def steps_of(params: SamplingParams, order: Any) -> tuple[str, ...]:
    """Return the steps that change something, in their order.

    Args:
        params: A step whose parameter has its default does nothing.
        order: A key of ``ORDERS``, or steps in an order of your own.

    Raises:
        ArgumentError: The order is unknown, has an unknown step or one
            twice, or lacks a step that the parameters ask for.

    >>> steps_of(SamplingParams(temperature=0.8, top_p=0.9), "llama.cpp")
    ('top_p', 'temperature')
    """
    steps = _steps(order)
    asked = [step for step in STEPS if getattr(params, step) != _NEUTRAL[step]]
    for step in asked:
        expected = f"{_NEUTRAL[step]}: the order {order!r} has no such step"
        check(step in steps, step, getattr(params, step), expected)
    return tuple(step for step in steps if step in asked)


def _steps(order: Any) -> tuple[str, ...]:
    """Return the steps of an order, checked."""
    if isinstance(order, str) and order in ORDERS:
        return ORDERS[order]
    names = ", ".join(repr(name) for name in ORDERS)
    if isinstance(order, str) or not isinstance(order, Sequence):
        raise ArgumentError(
            "order", repr(order), f"{names}, or a list of steps"
        )
    for step in order:
        check(step in STEPS, "order", repr(step), f"steps of {STEPS}")
    check(len(set(order)) == len(order), "order", order, "each step once")
    return tuple(order)
