"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from cutaway.kvcache import CACHES

_CHOICE = "Choosing tokens"
_MODEL = "Model"

MaxTokens = Annotated[
    int, typer.Option(help="Most tokens to generate.", metavar="N")
]
Temperature = Annotated[
    float,
    typer.Option(
        help="Divides the logits; 0 takes the likeliest token (greedy).",
        metavar="T",
        rich_help_panel=_CHOICE,
    ),
]
TopK = Annotated[
    int | None,
    typer.Option(
        help="Keep the K likeliest tokens.",
        show_default="all",
        metavar="K",
        rich_help_panel=_CHOICE,
    ),
]
TopP = Annotated[
    float,
    typer.Option(
        help="Keep the likeliest tokens that sum to P.",
        metavar="P",
        rich_help_panel=_CHOICE,
    ),
]
MinP = Annotated[
    float,
    typer.Option(
        help="Drop tokens below P times the likeliest.",
        metavar="P",
        rich_help_panel=_CHOICE,
    ),
]
RepetitionPenalty = Annotated[
    float,
    typer.Option(
        help="Divides the logits of tokens that occurred, prompt included; "
        "1 is off.",
        metavar="R",
        rich_help_panel=_CHOICE,
    ),
]
FrequencyPenalty = Annotated[
    float,
    typer.Option(
        help="Subtracted for each time the answer has the token.",
        metavar="A",
        rich_help_panel=_CHOICE,
    ),
]
PresencePenalty = Annotated[
    float,
    typer.Option(
        help="Subtracted once if the answer has the token.",
        metavar="A",
        rich_help_panel=_CHOICE,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="Make a sampled answer repeatable.",
        show_default="fresh entropy",
        metavar="N",
        rich_help_panel=_CHOICE,
    ),
]
Model = Annotated[
    str,
    typer.Option(
        help="A known name, a .gguf file, or a Hugging Face folder.",
        metavar="NAME|PATH",
        rich_help_panel=_MODEL,
    ),
]
Impl = Annotated[
    str,
    typer.Option(
        help="What computes: torch or numpy.",
        metavar="NAME",
        rich_help_panel=_MODEL,
    ),
]
Cache = Annotated[
    str,
    typer.Option(
        help=f"Where keys and values are kept: {', '.join(CACHES)}.",
        metavar="NAME",
        rich_help_panel=_MODEL,
    ),
]

DEFAULT_MODEL = "smollm2-135m-instruct"
