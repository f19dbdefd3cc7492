"""``cutaway generate``: continue a prompt."""

from __future__ import annotations

import sys
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
from cutaway.core.errors import ArgumentError

if TYPE_CHECKING:
    from cutaway.outputs import RequestMetrics


def run(
    prompt: Annotated[
        str,
        typer.Argument(
            help="The text to continue; - reads it from standard input, "
            "without a final line break."
        ),
    ],
    max_tokens: MaxTokens = 64,
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
    stream: Annotated[
        bool,
        typer.Option(help="Print each token as soon as it is chosen."),
    ] = True,
    stats: Annotated[
        bool,
        typer.Option(help="Report tokens and speed on standard error."),
    ] = False,
) -> None:
    """Continue a prompt; the text that follows goes to standard output.

    The prompt is read as it is, without a chat template: for questions and
    answers there is [bold]cutaway chat[/].

    Examples:

    cutaway generate "The capital of France is" --max-tokens 8

    cutaway generate "Once upon a time" --temperature 0.8 --top-p 0.9 --seed 1

    cat story.txt | cutaway generate - --no-stream > more.txt
    """
    from cutaway.llm import LLM
    from cutaway.outputs import RequestMetrics
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
    text = _standard_input() if prompt == "-" else prompt
    llm = LLM(model, impl=impl, cache=cache)
    if not stream:
        output = llm.generate(text, params, progress=True)[0]
        print(output.outputs[0].text)
        if stats:
            _report(output.metrics)
        return
    deltas = []
    for delta in llm.stream(text, params):
        deltas.append(delta)
        print(delta.text, end="", flush=True)
    print()
    if stats:
        prompt_tokens = len(llm.tokenizer.encode(text))
        _report(RequestMetrics.from_deltas(deltas, prompt_tokens))


def _standard_input() -> str:
    """Read all of standard input; a last line break is not of the text."""
    data = sys.stdin.buffer.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        got = f"byte {data[error.start]:#04x} at offset {error.start}"
        raise ArgumentError("standard input", got, "UTF-8 text") from None
    return text.removesuffix("\n").removesuffix("\r")


def _report(metrics: RequestMetrics) -> None:
    """Print where the time went, on standard error."""
    parts = [
        f"prompt {metrics.num_prompt_tokens} tokens",
        f"first token after {metrics.ttft_s:.2f} s",
        f"{metrics.num_generated_tokens} generated",
    ]
    if metrics.mean_itl_s:
        parts.append(f"{1 / metrics.mean_itl_s:.1f} tokens/s")
    print(", ".join(parts), file=sys.stderr)
