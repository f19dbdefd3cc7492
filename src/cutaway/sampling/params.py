"""What a request asks of the sampler: one frozen, checked record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from cutaway.core.checks import check, check_flag, check_int, check_real
from cutaway.core.errors import ArgumentError
from cutaway.sampling.penalties import LARGEST_PENALTY, checked_bias

if TYPE_CHECKING:
    from typing import Never

    Bias = Mapping[int, float] | Iterable[tuple[int, float]]


@dataclass(frozen=True, init=False, repr=False)
class SamplingParams:
    """How to choose tokens, and when to stop.

    The names are vLLM's. Every value is checked when the object is made,
    so that whatever holds one can trust it. ``None`` means "off".

    Args:
        temperature: Divides the logits; 0 is greedy decoding.
        top_k: Keep the k most likely tokens; None keeps all.
        top_p: Keep the smallest set of likely tokens whose probabilities
            sum to at least this; 1 keeps all.
        min_p: Drop tokens less likely than this fraction of the likeliest;
            0 drops none.
        typical_p: Keep the tokens of the most typical surprise, up to this
            probability; 1 keeps all.
        repetition_penalty: Divides the logits above 0, and multiplies the
            others, of tokens in the prompt or the answer; 1 is off.
        frequency_penalty: Subtracted from a token's logit each time the
            answer has it; in [-2, 2].
        presence_penalty: Subtracted once if the answer has the token at
            all; in [-2, 2].
        logit_bias: Numbers in [-100, 100] to add to the logits of tokens: a
            mapping from ids, kept as pairs.
        seed: Seed of the request's own generator; None takes fresh
            entropy.
        max_tokens: Most tokens to generate.
        stop_token_ids: Further tokens that end the answer; the one that
            did is kept as the last token.
        ignore_eos: Go on past the model's end-of-answer token.
        skip_special_tokens: Leave special tokens out of the text (never
            out of the ids).

    Raises:
        ArgumentError: A value is out of range, or a name is unknown.

    Source: vLLM, ``vllm/sampling_params.py``.
    Differs: ``top_k=None`` is off (vLLM: 0 or -1), and ``max_tokens`` is
    always a number. ``typical_p`` is Hugging Face's and llama.cpp's.

    >>> SamplingParams(temperature=0, max_tokens=32)
    SamplingParams(temperature=0.0, max_tokens=32)
    >>> SamplingParams(temprature=0)
    Traceback (most recent call last):
        ...
    cutaway.core.errors.ArgumentError: temprature: got an unknown parameter, \
expected temperature
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    repetition_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    seed: int | None = None
    max_tokens: int = 16
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    skip_special_tokens: bool = True

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        min_p: float = 0.0,
        typical_p: float = 1.0,
        repetition_penalty: float = 1.0,
        frequency_penalty: float = 0.0,
        presence_penalty: float = 0.0,
        logit_bias: Bias = (),
        seed: int | None = None,
        max_tokens: int = 16,
        stop_token_ids: Iterable[int] = (),
        ignore_eos: bool = False,
        skip_special_tokens: bool = True,
        **unknown: Never,
    ) -> None:
        for name in unknown:
            raise ArgumentError(name, "an unknown parameter", _known(name))
        check_flag("ignore_eos", ignore_eos)
        check_flag("skip_special_tokens", skip_special_tokens)
        values = {
            "temperature": check_real("temperature", temperature, 0),
            "top_k": _int_or_none("top_k", top_k, low=1),
            "top_p": _share("top_p", top_p),
            "min_p": _fraction_below_one("min_p", min_p),
            "typical_p": _share("typical_p", typical_p),
            "repetition_penalty": check_real(
                "repetition_penalty", repetition_penalty, 0, open_low=True
            ),
            "frequency_penalty": _moderate(
                "frequency_penalty", frequency_penalty
            ),
            "presence_penalty": _moderate("presence_penalty", presence_penalty),
            "logit_bias": checked_bias("logit_bias", logit_bias),
            "seed": _int_or_none("seed", seed, low=0),
            "max_tokens": check_int("max_tokens", max_tokens, low=1),
            "stop_token_ids": _token_ids("stop_token_ids", stop_token_ids),
            "ignore_eos": ignore_eos,
            "skip_special_tokens": skip_special_tokens,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        changed = ", ".join(
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        )
        return f"SamplingParams({changed})"

    @property
    def is_greedy(self) -> bool:
        """Whether the likeliest token is always taken."""
        return self.temperature == 0


def _known(unknown: str) -> str:
    """Return the known parameter nearest to a name, or all of them."""
    names = [field.name for field in fields(SamplingParams)]
    nearest = get_close_matches(unknown, names, n=1)
    return nearest[0] if nearest else "one of " + ", ".join(names)


def _int_or_none(name: str, value: Any, low: int) -> int | None:
    """Return None or an integer of at least ``low``."""
    if value is None:
        return None
    try:
        return check_int(name, value, low)
    except ArgumentError as error:
        expected = f"None or {error.expected}"
        raise ArgumentError(name, error.got, expected) from None


def _fraction_below_one(name: str, value: Any) -> float:
    """Return a float in [0, 1): at 1 the cut would hang on rounding."""
    number = check_real(name, value, 0, 1)
    check(number < 1, name, value, "a number in [0, 1)")
    return number


def _share(name: str, value: Any) -> float:
    """Return a float in (0, 1]."""
    return check_real(name, value, 0, 1, open_low=True)


def _moderate(name: str, value: Any) -> float:
    """Return a penalty that is subtracted, in [-2, 2]."""
    return check_real(name, value, -LARGEST_PENALTY, LARGEST_PENALTY)


def _token_ids(name: str, value: Any) -> tuple[int, ...]:
    """Return a tuple of token ids."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ArgumentError(name, repr(value), "token ids, such as (2, 0)")
    return tuple(
        check_int(f"{name}[{place}]", token_id, low=0)
        for place, token_id in enumerate(value)
    )
