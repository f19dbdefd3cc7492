"""What a request gives back: tokens, text, and how long they took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cutaway.decoder.generate import FinishReason
from cutaway.roofline import RequestTimes


@dataclass(frozen=True)
class CompletionOutput:
    """One answer to a prompt.

    Attributes:
        index: Its place among the answers to the prompt; 0.
        token_ids: All generated tokens, a final stop token included.
        text: The tokens decoded, special ones left out by default.
        finish_reason: ``"stop"`` after a stop token, ``"length"`` after
            ``max_tokens``; None only of an answer still being written.
    """

    index: int
    token_ids: list[int]
    text: str
    finish_reason: FinishReason | None


@dataclass(frozen=True)
class RequestMetrics:
    """Where the time of a request went.

    Requests run one after another and none waits in a queue: the clock of
    each starts with its own prefill.

    Attributes:
        ttft_s: Time to first token: prefill and the first choice.
        itl_s: Inter-token latencies, one for each further token.
        num_prompt_tokens: Tokens of the prompt.
        num_generated_tokens: Tokens of the answer, a stop token included.

    >>> RequestMetrics(0.5, [0.25, 0.25], 37, 3).total_s
    1.0
    """

    ttft_s: float
    itl_s: list[float]
    num_prompt_tokens: int
    num_generated_tokens: int

    @classmethod
    def from_deltas(
        cls, deltas: Sequence[TextDelta], num_prompt_tokens: int
    ) -> RequestMetrics:
        """Collect the times of an answer that was streamed.

        Args:
            deltas: All of its tokens, at least one.
            num_prompt_tokens: Tokens of the prompt.
        """
        first, *others = (delta.elapsed_s for delta in deltas)
        return cls(first, others, num_prompt_tokens, len(deltas))

    @property
    def total_s(self) -> float:
        """Seconds from the start of prefill to the last token."""
        return self.ttft_s + sum(self.itl_s)

    @property
    def mean_itl_s(self) -> float | None:
        """Mean inter-token latency; None for an answer of one token."""
        return sum(self.itl_s) / len(self.itl_s) if self.itl_s else None

    @property
    def times(self) -> RequestTimes:
        """The moments at which tokens came, for figures over requests."""
        return RequestTimes.from_gaps(self.ttft_s, self.itl_s)


@dataclass(frozen=True)
class RequestOutput:
    """A prompt and its answer.

    Attributes:
        prompt: The text that was encoded, chat template applied; None for
            a prompt of token ids.
        prompt_token_ids: The tokens the model read.
        outputs: The answers; always one.
        num_cached_tokens: Prompt tokens whose keys and values an earlier
            request had left behind; 0, as nothing is shared here.
        metrics: How long it took.
    """

    prompt: str | None
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]
    num_cached_tokens: int
    metrics: RequestMetrics


@dataclass(frozen=True)
class TextDelta:
    """One token of an answer that is still being written.

    Attributes:
        text: The characters that this token completes; may be empty. All
            of an answer's, joined, are its text.
        token_id: The token.
        finish_reason: As in ``CompletionOutput``; None before the last.
        elapsed_s: Seconds spent on it.
    """

    text: str
    token_id: int
    finish_reason: FinishReason | None
    elapsed_s: float
