"""From what a caller passes to requests that are known to be sound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.core.checks import check, check_choice
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError, CutawayError
from cutaway.decoder.checks import check_token_ids
from cutaway.decoder.generate import check_bias, check_context
from cutaway.sampling import SamplingParams
from cutaway.tokenizer import Tokenizer

if TYPE_CHECKING:
    Prompt = str | Sequence[int]
    Message = Mapping[str, str]
    ParamsLike = SamplingParams | Sequence[SamplingParams] | None

ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class Request:
    """A prompt that fits the model, and how to continue it.

    Attributes:
        prompt: The text that was encoded; None if ids were given.
        token_ids: The tokens to read.
        params: How to choose tokens, and when to stop.
    """

    prompt: str | None
    token_ids: list[int]
    params: SamplingParams


class RequestReader:
    """Checks and encodes prompts; each error names the one at fault.

    Args:
        tokenizer: Encodes text and conversations.
        config: Gives the vocabulary and the context that must suffice.
    """

    def __init__(self, tokenizer: Tokenizer, config: ModelConfig) -> None:
        self.tokenizer = tokenizer
        self.config = config

    def prompts(
        self, prompts: Prompt | Sequence[Prompt], params: ParamsLike
    ) -> list[Request]:
        """Read one prompt or a list of them.

        Raises:
            ArgumentError: There is none, or one is unusable.
        """
        parts = _parts(prompts, "prompt", "prompt", "prompts", _is_prompt)
        return [
            self.prompt(name, prompt, each)
            for (name, prompt), each in _with_params(parts, params)
        ]

    def conversations(
        self,
        messages: Sequence[Message] | Sequence[Sequence[Message]],
        params: ParamsLike,
    ) -> list[Request]:
        """Read one conversation or a list of them.

        Raises:
            ArgumentError: There is none, or one is unusable.
        """
        parts = _parts(
            messages, "conversation", "messages", "messages", _is_conversation
        )
        return [
            self.conversation(name, conversation, each)
            for (name, conversation), each in _with_params(parts, params)
        ]

    def prompt(
        self, name: str, prompt: Any, params: SamplingParams | None
    ) -> Request:
        """Read a text or a list of token ids.

        Raises:
            ArgumentError: It is empty, no prompt, or too long together
                with ``max_tokens``.
        """
        params = _checked_params("params", params)
        config, text = self.config, None
        if isinstance(prompt, str):
            text = prompt
            with _renamed("text", name):
                prompt = self.tokenizer.encode(text)
        ids = check_token_ids(name, prompt, config.vocab_size)
        check_context(len(ids), params.max_tokens, config.max_seq_len, name)
        check_bias(params, config.vocab_size)
        return Request(text, ids, params)

    def conversation(
        self, name: str, messages: Any, params: SamplingParams | None
    ) -> Request:
        """Read a conversation through the model's chat template.

        Raises:
            ArgumentError: A message is not one, its role is unknown, or
                all together are too long with ``max_tokens``.
        """
        if not isinstance(messages, Sequence):
            expected = "a list of messages with role and content"
            raise ArgumentError(name, repr(messages), expected)
        with _renamed("messages", name):
            text = self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=False
            )
        for place, message in enumerate(messages):
            check_choice(f"{name}[{place}]['role']", message["role"], ROLES)
        return self.prompt(name, text, params)


def _is_prompt(value: Any) -> bool:
    """Whether this is one prompt rather than a list of them."""
    if isinstance(value, (str, np.ndarray)):
        return isinstance(value, str) or value.ndim == 1
    return not isinstance(value[0], (str, Sequence, np.ndarray))


def _is_conversation(value: Any) -> bool:
    """Whether this is one conversation rather than a list of them."""
    return not isinstance(value[0], Sequence) or isinstance(value[0], str)


def _parts(
    value: Any,
    noun: str,
    one: str,
    many: str,
    is_one: Callable[[Any], bool],
) -> list[tuple[str, Any]]:
    """Split what was passed into parts, each named for messages."""
    listed = isinstance(value, (str, Sequence, np.ndarray))
    if not listed or isinstance(value, bytes) or len(value) == 0:
        expected = f"a {noun} that is not empty, or a list of them"
        raise ArgumentError(many, repr(value), expected)
    if is_one(value):
        return [(one, value)]
    return [(f"{many}[{place}]", part) for place, part in enumerate(value)]


def _with_params(
    parts: list[tuple[str, Any]], params: ParamsLike
) -> Iterable[tuple[tuple[str, Any], SamplingParams | None]]:
    """Pair each part with its parameters."""
    if not isinstance(params, (list, tuple)):
        return [(part, _checked_params("params", params)) for part in parts]
    check(
        len(params) == len(parts),
        "params",
        f"{len(params)} for {len(parts)} prompt(s)",
        "one, or as many as there are prompts",
    )
    checked = [
        _checked_params(f"params[{place}]", each)
        for place, each in enumerate(params)
    ]
    return zip(parts, checked, strict=True)


def _checked_params(name: str, params: Any) -> SamplingParams:
    """Return the parameters, or the default ones for None."""
    if params is None:
        return SamplingParams()
    if not isinstance(params, SamplingParams):
        raise ArgumentError(name, repr(params), "a SamplingParams or None")
    return params


@contextmanager
def _renamed(inner: str, name: str) -> Iterator[None]:
    """Let an error speak of the argument that the caller knows."""
    try:
        yield
    except CutawayError as error:
        renamed = error.name.replace(inner, name, 1)
        raise ArgumentError(renamed, error.got, error.expected) from error
