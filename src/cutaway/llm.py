"""The public face: a model that completes prompts and answers chats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutaway.core.backends import IMPLS
from cutaway.core.checks import check, check_choice
from cutaway.core.errors import ArgumentError
from cutaway.core.protocols import KVCache
from cutaway.decoder import Decoder, load_checkpoint
from cutaway.decoder.checks import check_next_tokens
from cutaway.decoder.generate import generate_tokens
from cutaway.inputs import Request, RequestReader
from cutaway.kvcache import CacheFactory, cache_factory
from cutaway.outputs import (
    CompletionOutput,
    RequestMetrics,
    RequestOutput,
    TextDelta,
)
from cutaway.sampling import SamplingParams
from cutaway.weights import MODELS, fetch

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from cutaway.inputs import Message, ParamsLike, Prompt

DEFAULT_MODEL = "smollm2-135m-instruct"
DTYPES = ("float32", "float64")


class LLM:
    """A language model, ready to generate.

    Making one loads it: the file is fetched if need be (once, into the
    user's cache), and its weights are dequantised into memory. Two objects
    hold two copies, so make one and keep it. Calls check all their input
    before they compute anything.

    Args:
        model: A known name, the path of a ``.gguf`` file, or that of a
            Hugging Face folder.
        impl: ``"torch"`` or ``"numpy"``.
        dtype: ``"float32"`` or ``"float64"``, of weights and activations.
        cache: Where keys and values are kept: a name in
            ``kvcache.CACHES``, or a factory. Each request has its own.

    Attributes:
        tokenizer: Text to tokens and back.
        config: Sizes of the model.
        decoder: Tokens to logits.

    Raises:
        ArgumentError: No such model, implementation, dtype or cache.
        FetchError: The model's file could not be had.
        CutawayError: The file or folder is broken; of a kind that names
            its format, such as ``GGUFError``.

    Cost: 4 bytes of memory a weight in float32 (0.54 GB for the default
    model), and about a second.
    Source: the names are those of vLLM's ``LLM``.
    Differs: requests run one after another, and weights are never kept in
    their quantised form.

    >>> llm = LLM("smollm2-135m-instruct")
    >>> greedy = SamplingParams(temperature=0, max_tokens=2)
    >>> llm.generate("The capital of France is", greedy)[0].outputs[0].text
    ' Paris.'
    """

    def __init__(
        self,
        model: str | os.PathLike[str] = DEFAULT_MODEL,
        *,
        impl: str = "torch",
        dtype: str = "float32",
        cache: str | CacheFactory = "contiguous",
    ) -> None:
        check_choice("impl", impl, IMPLS)
        check_choice("dtype", dtype, DTYPES)
        self._cache = cache_factory(cache, name="cache")
        path = _model_path(model)
        checkpoint = load_checkpoint(path, impl=impl, dtype=dtype)
        self.config = checkpoint.config
        self.tokenizer = checkpoint.tokenizer
        self.decoder = Decoder(self.config, checkpoint.params, impl=impl)
        self._read = RequestReader(self.tokenizer, self.config)
        self.model = os.fspath(model)

    def __repr__(self) -> str:
        return (
            f"LLM({self.model!r}, impl={self.decoder.impl!r}, "
            f"dtype={self.decoder.dtype!r})"
        )

    def generate(
        self,
        prompts: Prompt | Sequence[Prompt],
        params: ParamsLike = None,
        *,
        progress: bool = False,
    ) -> list[RequestOutput]:
        """Continue one prompt or several.

        Args:
            prompts: A text, a list of token ids, or a list of either.
            params: For all prompts, or one for each; None is
                ``SamplingParams()``. With a seed, each prompt has its own
                generator of that seed: an answer does not depend on its
                neighbours.
            progress: Show a progress bar if stderr is a terminal.

        Returns:
            One output for each prompt, in their order; a list even for
            one.

        Raises:
            ArgumentError: A prompt is empty, of a wrong type, or too long
                together with ``max_tokens``.
        """
        return self._run(self._read.prompts(prompts, params), progress)

    def chat(
        self,
        messages: Sequence[Message] | Sequence[Sequence[Message]],
        params: ParamsLike = None,
        *,
        progress: bool = False,
    ) -> list[RequestOutput]:
        """Answer one conversation or several.

        Args:
            messages: Mappings with ``role`` and ``content``, or a list of
                such lists. The model's chat template turns each into text.
            params: As for ``generate``.
            progress: As for ``generate``.

        Returns:
            One output for each conversation, in their order.

        Raises:
            ArgumentError: A message is not one, or the conversation is
                too long together with ``max_tokens``.
        """
        return self._run(self._read.conversations(messages, params), progress)

    def stream(
        self, prompt: Prompt, params: SamplingParams | None = None
    ) -> Iterator[TextDelta]:
        """Continue one prompt, token by token.

        The texts, joined, are what ``generate`` returns. Input is checked
        by the call itself; each token is computed when it is asked for.

        Args:
            prompt: A text or a list of token ids.
            params: None is ``SamplingParams()``.

        Raises:
            ArgumentError: As for ``generate``.
        """
        return self._deltas(self._read.prompt("prompt", prompt, params))

    def stream_chat(
        self,
        messages: Sequence[Message],
        params: SamplingParams | None = None,
    ) -> Iterator[TextDelta]:
        """Answer one conversation, token by token.

        Args:
            messages: Mappings with ``role`` and ``content``.
            params: None is ``SamplingParams()``.

        Raises:
            ArgumentError: As for ``chat``.
        """
        return self._deltas(
            self._read.conversation("messages", messages, params)
        )

    def logits(
        self, token_ids: Sequence[int]
    ) -> Float[np.ndarray, "tokens vocab"]:
        """Return the scores of every next token, after each token given.

        Args:
            token_ids: At least one, at most ``config.max_seq_len``.

        Returns:
            ``[tokens, vocab]``, float32 unless the model was loaded as
            float64; row i scores what follows token i.

        Raises:
            ArgumentError: There is no token, one is unknown, or there are
                too many.

        Cost: one prefill pass; the result takes 4 bytes x tokens x vocab,
        197 kB a token for the default model.
        """
        ids = check_next_tokens(token_ids, 0, self.config).tolist()
        return self.decoder.forward(ids, self._new_cache(len(ids)))

    def _new_cache(self, capacity_tokens: int) -> KVCache:
        """Return a cache of the kind that was asked for."""
        return self.decoder.new_cache(capacity_tokens, kind=self._cache)

    def _run(
        self, requests: list[Request], progress: bool
    ) -> list[RequestOutput]:
        """Answer the requests, one after another."""
        total = sum(request.params.max_tokens for request in requests)
        with _token_bar(total, progress) as advance:
            return [self._answer(request, advance) for request in requests]

    def _answer(
        self, request: Request, advance: Callable[[int], None]
    ) -> RequestOutput:
        """Gather all tokens of an answer."""
        deltas = []
        for delta in self._deltas(request):
            deltas.append(delta)
            advance(1)
        advance(request.params.max_tokens - len(deltas))  # never to come
        answer = CompletionOutput(
            index=0,
            token_ids=[delta.token_id for delta in deltas],
            text="".join(delta.text for delta in deltas),
            finish_reason=deltas[-1].finish_reason,
        )
        return RequestOutput(
            prompt=request.prompt,
            prompt_token_ids=request.token_ids,
            outputs=[answer],
            num_cached_tokens=0,
            metrics=RequestMetrics.from_deltas(deltas, len(request.token_ids)),
        )

    def _deltas(self, request: Request) -> Iterator[TextDelta]:
        """Generate the tokens of an answer and decode each at once."""
        decoded = self.tokenizer.stream(
            skip_special_tokens=request.params.skip_special_tokens
        )
        ids, params = request.token_ids, request.params
        for step in generate_tokens(
            self.decoder,
            ids,
            params,
            stop_token_ids=self.tokenizer.stop_token_ids,
            cache=self._new_cache(len(ids) + params.max_tokens - 1),
        ):
            text = decoded.push(step.token_id)
            if step.finish_reason is not None:
                text += decoded.finish()
            yield TextDelta(
                text, step.token_id, step.finish_reason, step.elapsed_s
            )


def _model_path(model: Any) -> Path:
    """Return the file or folder of a model, fetching a known one."""
    known = ", ".join(MODELS)
    expected = (
        f"a known model ({known}) or the path of a .gguf file "
        "or of a folder with config.json"
    )
    if isinstance(model, str) and model in MODELS:
        return fetch(model, progress=True)  # drawn on a terminal only
    if not isinstance(model, (str, os.PathLike)):
        raise ArgumentError("model", repr(model), expected)
    path = Path(model)
    if (path / "config.json").is_file():
        return path
    if path.suffix.lower() != ".gguf":
        raise ArgumentError("model", repr(os.fspath(model)), expected)
    check(path.is_file(), "model", f"no file at {path}", expected)
    return path


@contextmanager
def _token_bar(total: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """Give a function that moves a progress bar by some tokens."""
    if not shown:
        yield lambda tokens: None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(
        console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("tokens", total=total)
        yield lambda tokens: bar.advance(task, tokens)
