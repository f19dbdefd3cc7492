"""The loop that turns a decoder into a writer: prefill, then decode."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from cutaway.core.checks import check
from cutaway.core.protocols import KVCache
from cutaway.decoder.checks import check_token_ids
from cutaway.decoder.decoder import Decoder
from cutaway.sampling import (
    History,
    SamplingParams,
    new_generator,
    sample,
)

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from cutaway.decoder.decoder import Observe

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True, eq=False)
class Step:
    """One generated token.

    Attributes:
        token_id: The token.
        logits: ``[vocab]``, the scores it was chosen from, before any cut.
        finish_reason: ``"stop"`` after a stop token, ``"length"`` when
            ``max_tokens`` are reached, None while the answer goes on.
        elapsed_s: Seconds spent on this token; what the caller does
            between two tokens does not count. The first one reads the
            whole prompt.
    """

    token_id: int
    logits: Float[np.ndarray, " vocab"]
    finish_reason: FinishReason | None
    elapsed_s: float


def generate_tokens(
    decoder: Decoder,
    prompt_token_ids: Sequence[int],
    params: SamplingParams,
    *,
    stop_token_ids: Collection[int],
    cache: KVCache | None = None,
    clock: Callable[[], float] = time.perf_counter,
    observe: Observe | None = None,
) -> Iterator[Step]:
    """Yield the tokens that follow a prompt, one by one.

    Prefill reads the whole prompt in one pass, or, if the cache says by an
    attribute ``chunk_tokens`` that it takes no more at once, in passes of
    that many. The last row of logits gives the first token. Every further
    token costs a pass over one token, the one before it: all others are in
    the cache. The last token is not read at all.

    Args:
        decoder: The model.
        prompt_token_ids: At least one token; follows what ``cache`` holds.
        params: How to choose, and when to stop. A seed makes the answer
            repeatable; each call has a generator of its own. The
            repetition penalty sees this prompt and the answer, the other
            two the answer alone.
        stop_token_ids: The model's own end-of-answer tokens; left aside
            with ``params.ignore_eos``. The ones in ``params`` always count.
            A stop token is yielded, as the last.
        cache: Grows by the prompt and all tokens but the last; None makes
            one of just that size.
        clock: Returns seconds.
        observe: As for ``Decoder.forward``, in every pass.

    Returns:
        An iterator that computes a token each time it is asked for one.

    Raises:
        ArgumentError: The prompt is empty or bad, it and ``max_tokens``
            go beyond the context, or a bias is for a token beyond the
            vocabulary. Raised by the call itself, before anything is
            computed.
        CacheFullError: A cache of the caller's has too little room; raised
            by the step that does not fit.

    Cost: one prefill pass, or one per ``chunk_tokens`` of the prompt, and
    ``n - 1`` passes over one token for n tokens.
    Differs: Hugging Face ``generate`` counts the prompt in its
    ``max_length``; ``max_tokens`` is the answer alone, as in vLLM.

    >>> from cutaway.core import ModelConfig
    >>> from cutaway.decoder import Params
    >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> decoder = Decoder(
    ...     config, Params.random(config, 0, impl="numpy"), impl="numpy")
    >>> greedy = SamplingParams(temperature=0, max_tokens=3)
    >>> steps = generate_tokens(decoder, [1, 2], greedy, stop_token_ids=())
    >>> [step.finish_reason for step in steps]
    [None, None, 'length']
    """
    max_seq_len = decoder.config.max_seq_len
    ids = check_token_ids(
        "prompt_token_ids", prompt_token_ids, decoder.config.vocab_size
    )
    held = 0 if cache is None else cache.num_tokens
    check_context(held + len(ids), params.max_tokens, max_seq_len)
    check_bias(params, decoder.config.vocab_size)
    stops = set(params.stop_token_ids)
    if not params.ignore_eos:
        stops.update(stop_token_ids)
    if cache is None:
        cache = decoder.new_cache(len(ids) + params.max_tokens - 1)
    passes = partial(_last_logits, decoder, cache=cache, observe=observe)
    return _steps(passes, ids, params, stops, clock)


def _last_logits(
    decoder: Decoder,
    token_ids: list[int],
    *,
    cache: KVCache,
    observe: Observe | None,
) -> Float[np.ndarray, "1 vocab"]:
    """Read tokens, in passes as long as the cache takes; score the next."""
    most = getattr(cache, "chunk_tokens", len(token_ids))
    *starts, last = range(0, len(token_ids), most)
    for start in starts:
        chunk = token_ids[start : start + most]
        decoder.forward(chunk, cache, last_only=True, observe=observe)
    rest = token_ids[last:]
    return decoder.forward(rest, cache, last_only=True, observe=observe)


def _steps(
    forward: Callable[[list[int]], Float[np.ndarray, "1 vocab"]],
    unread: list[int],
    params: SamplingParams,
    stops: set[int],
    clock: Callable[[], float],
) -> Iterator[Step]:
    """Read, choose, yield, until a stop token or the last one allowed."""
    generator = new_generator(params)
    answer: list[int] = []
    history = History(tuple(unread), answer)
    for remaining in reversed(range(params.max_tokens)):
        started = clock()
        logits = forward(unread)[0]
        token_id = sample(logits, params, generator, history)
        answer.append(token_id)
        finish_reason: FinishReason | None = None
        if token_id in stops:
            finish_reason = "stop"
        elif remaining == 0:
            finish_reason = "length"
        yield Step(token_id, logits, finish_reason, clock() - started)
        if finish_reason is not None:
            return
        unread = [token_id]


def check_context(
    prompt_tokens: int, max_tokens: int, max_seq_len: int, name: str = "prompt"
) -> None:
    """Raise unless a prompt and its longest answer fit the context.

    Args:
        prompt_tokens: Tokens of the prompt, and any before it.
        max_tokens: Most tokens to generate.
        max_seq_len: Positions the model was made for.
        name: The prompt's name, for the message.

    Raises:
        ArgumentError: They do not fit; both numbers are in the message.

    >>> check_context(60, 5, 64)
    Traceback (most recent call last):
        ...
    cutaway.core.errors.ArgumentError: prompt + max_tokens: got 60 + 5 = 65 \
tokens, expected at most max_seq_len = 64
    """
    check(
        prompt_tokens + max_tokens <= max_seq_len,
        f"{name} + max_tokens",
        f"{prompt_tokens} + {max_tokens} = {prompt_tokens + max_tokens} tokens",
        f"at most max_seq_len = {max_seq_len}",
    )


def check_bias(params: SamplingParams, vocab_size: int) -> None:
    """Raise if a logit bias is for a token that the model does not have.

    Args:
        params: Holds the bias, if any.
        vocab_size: Tokens of the model.

    Raises:
        ArgumentError: A token id is beyond the vocabulary.

    >>> check_bias(SamplingParams(logit_bias={3: 1.0}), 4)
    """
    for token_id, _ in params.logit_bias:
        expected = f"a token id below {vocab_size}"
        check(token_id < vocab_size, "params.logit_bias", token_id, expected)
