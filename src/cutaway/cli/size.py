"""``cutaway size``: what a model weighs, and what its cache takes."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cutaway.cli.dtypes import CHOICES
from cutaway.cli.model_files import find_model
from cutaway.cli.model_list import print_models
from cutaway.cli.size_data import measure
from cutaway.cli.size_report import print_report
from cutaway.core.checks import check_int
from cutaway.core.errors import ArgumentError

DEFAULT_TOKENS = 4096
FORMATS = ", ".join(CHOICES)


def run(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A name, a .gguf file, a config.json, or a folder with one.",
        ),
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            help="Tokens in the cache of each sequence.",
            metavar="N",
            show_default=f"{DEFAULT_TOKENS}, or as many as the model reads",
        ),
    ] = None,
    batch: Annotated[
        int, typer.Option(help="Sequences at a time.", metavar="B")
    ] = 1,
    dtype: Annotated[
        str,
        typer.Option(help=f"Format of the weights: {FORMATS}.", metavar="NAME"),
    ] = "bfloat16",
    cache_dtype: Annotated[
        str,
        typer.Option(
            "--cache-dtype",
            "--kv-dtype",
            help="Format of the KV cache, or of keys/values apart.",
            metavar="NAME",
        ),
    ] = "bfloat16",
    tp: Annotated[
        int,
        typer.Option(
            help="Devices that share weights and heads; sizes are of one.",
            metavar="N",
        ),
    ] = 1,
    list_models: Annotated[
        bool, typer.Option("--list", help="Show the models known by name.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Say how many parameters and bytes a model is, and its KV cache.

    The cache is given twice: the least that the layers need, and what is
    reserved if every layer keeps all tokens. Of a config.json that mixes
    attention with states only the cache is known.

    Sizes are in decimal units (GB, 10^9 bytes) and, in parentheses, in
    binary ones (GiB, 2^30 bytes), which differ by 7 %.

    Examples:

    cutaway size llama-3.1-8b --tokens 131072

    cutaway size gpt-oss-20b --batch 32 --cache-dtype float8

    cutaway size jamba-1.5-large --tokens 262144 --tp 8

    cutaway size path/to/config.json --cache-dtype q8_0/q4_0 --json

    cutaway size --list
    """
    if list_models:
        print_models(as_json=as_json)
        return
    if model is None:
        raise ArgumentError("MODEL", "none", "a name or a path, or --list")
    found = find_model(model)
    if tokens is None:
        tokens = min(DEFAULT_TOKENS, found.max_seq_len or DEFAULT_TOKENS)
    check_int("--tokens", tokens, low=0)
    check_int("--batch", batch, low=1)
    check_int("--tp", tp, low=1)
    formats = {"dtype": dtype.lower(), "kv_dtype": cache_dtype.lower()}
    data = measure(found, tokens, batch, formats, tp=tp)
    if as_json:
        print(json.dumps(data, indent=2))
    else:
        print_report(found, data)
