"""``cutaway chat``: talk with the model."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Annotated

import typer

from cutaway.cli.options import (
    DEFAULT_MODEL,
    Cache,
    FrequencyPenalty,
    Impl,
    MaxTokens,
    MinP,
    Model,
    PresencePenalty,
    RepetitionPenalty,
    Seed,
    Temperature,
    TopK,
    TopP,
)
from cutaway.core.errors import CutawayError

if TYPE_CHECKING:
    from cutaway.llm import LLM
    from cutaway.sampling import SamplingParams

HELP = "/reset forgets the conversation, /quit or Ctrl-D leaves"


def run(
    system: Annotated[
        str | None,
        typer.Option(
            help="System message.",
            show_default="the chat template's own",
            metavar="TEXT",
        ),
    ] = None,
    max_tokens: MaxTokens = 256,
    temperature: Temperature = 0.0,
    top_k: TopK = None,
    top_p: TopP = 1.0,
    min_p: MinP = 0.0,
    repetition_penalty: RepetitionPenalty = 1.0,
    frequency_penalty: FrequencyPenalty = 0.0,
    presence_penalty: PresencePenalty = 0.0,
    seed: Seed = None,
    model: Model = DEFAULT_MODEL,
    impl: Impl = "torch",
    cache: Cache = "contiguous",
) -> None:
    """Talk with the model, which remembers the conversation.

    Ctrl-C stops the answer and keeps what was said; /reset forgets the
    conversation; /quit or Ctrl-D leaves. Each line of a pipe is a message.

    Examples:

    cutaway chat --temperature 0.7 --top-p 0.9

    echo "What is the capital of France?" | cutaway chat
    """
    from cutaway.llm import LLM
    from cutaway.sampling import SamplingParams

    params = SamplingParams(
        max_tokens=max_tokens,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        repetition_penalty=repetition_penalty,
        frequency_penalty=frequency_penalty,
        presence_penalty=presence_penalty,
        seed=seed,
    )
    llm = LLM(model, impl=impl, cache=cache)
    conversation = Conversation(llm, params, system)
    if sys.stdin.isatty():
        _talk(conversation)
    else:
        _read_through(conversation)


class Conversation:
    """A model, and what was said to it and by it.

    Invariants:

    - the history holds what the reader saw: a turn that failed, or was
      stopped before its first character, is not in it;
    - ``reset`` leaves the system message alone.

    Args:
        llm: The model.
        params: How it chooses tokens.
        system: The system message, if any.
    """

    def __init__(
        self, llm: LLM, params: SamplingParams, system: str | None = None
    ) -> None:
        self._llm = llm
        self._params = params
        self._start = (
            [] if system is None else [{"role": "system", "content": system}]
        )
        self.messages = list(self._start)

    def reset(self) -> None:
        """Forget all but the system message."""
        self.messages = list(self._start)

    def answer(self, text: str) -> Generator[str, None, None]:
        """Yield the pieces of the model's answer to a message.

        Args:
            text: What the user says.

        Raises:
            CutawayError: The message is unusable or the context is full.
        """
        question = {"role": "user", "content": text}
        deltas = self._llm.stream_chat([*self.messages, question], self._params)
        said = ""
        try:
            for delta in deltas:
                said += delta.text
                yield delta.text
        finally:
            if said:
                reply = {"role": "assistant", "content": said}
                self.messages += [question, reply]


def _read_through(conversation: Conversation) -> None:
    """Answer each line of a pipe or file; an error ends the run."""
    if isinstance(sys.stdin, io.TextIOWrapper):  # the tokenizer will refuse
        sys.stdin.reconfigure(errors="surrogateescape")
    for line in sys.stdin:
        text = line.strip()
        if text == "/quit":
            return
        if text == "/reset":
            conversation.reset()
        elif text:
            for piece in conversation.answer(text):
                print(piece, end="", flush=True)
            print()


def _talk(conversation: Conversation) -> None:
    """Talk with a person at a terminal."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  gives input() arrows and history
    print(HELP)
    while True:
        try:
            text = input("> ").strip()
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print(f"\n{HELP}")
            continue
        if text == "/quit":
            return
        if text == "/reset":
            conversation.reset()
        elif text.startswith("/"):
            print(HELP)
        elif text:
            _answer(conversation, text)


def _answer(conversation: Conversation, text: str) -> None:
    """Print one answer; Ctrl-C stops it, an error leaves the talk going."""
    pieces = conversation.answer(text)
    try:
        for piece in pieces:
            print(piece, end="", flush=True)
    except KeyboardInterrupt:
        print(" [stopped]", end="")
    except CutawayError as error:
        print(f"cutaway: {error}", file=sys.stderr)
        return
    finally:
        pieces.close()
    print()
