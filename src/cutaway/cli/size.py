"""``cutaway size``: what a model weighs, and what its cache takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutaway.cli.dtypes import CHOICES, bytes_of
from cutaway.cli.model_files import NamedModel, find_model
from cutaway.cli.tables import count, print_facts, print_note, print_table
from cutaway.core.checks import check_int
from cutaway.core.errors import ArgumentError

if TYPE_CHECKING:
    from cutaway.core.config import ModelConfig

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
    kv_dtype: Annotated[
        str,
        typer.Option(help="Format of the KV cache.", metavar="NAME"),
    ] = "bfloat16",
    list_models: Annotated[
        bool, typer.Option("--list", help="Show the models known by name.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Say how many parameters and bytes a model is, and its KV cache.

    Sizes are in decimal units (GB, 10^9 bytes) and, in parentheses, in
    binary ones (GiB, 2^30 bytes), which differ by 7 %.

    Examples:

    cutaway size llama-3.1-8b --tokens 131072

    cutaway size gpt-oss-20b --batch 32 --kv-dtype float8

    cutaway size path/to/config.json --dtype q4_k --json

    cutaway size --list
    """
    if list_models:
        _print_models(as_json=as_json)
        return
    if model is None:
        raise ArgumentError("MODEL", "none", "a name or a path, or --list")
    found = find_model(model)
    if tokens is None:
        tokens = min(DEFAULT_TOKENS, found.config.max_seq_len)
    check_int("--tokens", tokens, low=0)
    check_int("--batch", batch, low=1)
    data = measure(found, tokens, batch, dtype=dtype, kv_dtype=kv_dtype)
    if as_json:
        print(json.dumps(data, indent=2))
    else:
        _print(found, data)


def measure(
    model: NamedModel, tokens: int, batch: int, *, dtype: str, kv_dtype: str
) -> dict[str, Any]:
    """Return every figure of the report, as plain data."""
    from cutaway.roofline import (
        active_params,
        kv_bytes_per_token,
        kv_cache_bytes,
        num_params,
    )

    weight_size = bytes_of("--dtype", dtype)
    kv_size = bytes_of("--kv-dtype", kv_dtype)
    config = model.config
    weights = num_params(config) * weight_size
    sequence = kv_cache_bytes(config, tokens, kv_size)
    return {
        "model": model.name,
        "source": model.source,
        "num_params": num_params(config),
        "active_params": active_params(config),
        "dtype": dtype.lower(),
        "weight_bytes": weights,
        "file_tensor_bytes": model.tensor_bytes,
        "kv_dtype": kv_dtype.lower(),
        "kv_bytes_per_token": kv_bytes_per_token(config, kv_size),
        "tokens": tokens,
        "batch": batch,
        "kv_bytes": batch * sequence,
        "kv_bytes_if_every_layer_is_full": (
            batch * tokens * kv_bytes_per_token(config, kv_size)
        ),
        "total_bytes": weights + batch * sequence,
        "max_batch": _max_batch(weights, sequence),
    }


def _max_batch(weights: float, sequence: float) -> dict[str, int | None]:
    """Return how many sequences fit on each accelerator.

    None where there is nothing to count: an empty sequence takes no room.
    """
    from cutaway.roofline import HARDWARE

    return {
        name: (
            0
            if entry.memory_bytes < weights
            else int((entry.memory_bytes - weights) // sequence)
            if sequence
            else None
        )
        for name, entry in HARDWARE.items()
    }


def _print(model: NamedModel, data: dict[str, Any]) -> None:
    """Print the report."""
    from cutaway.roofline import HARDWARE, format_bytes

    config, facts = model.config, []
    facts.append(("read from", model.source))
    facts.append(("layers", _shape(config)))
    facts.append(("parameters", count(data["num_params"])))
    if config.moe is not None:
        facts.append(("active", f"{count(data['active_params'])} a token"))
    facts.append(
        ("weights", f"{format_bytes(data['weight_bytes'])} in {data['dtype']}")
    )
    if model.tensor_bytes is not None:
        bits = 8 * model.tensor_bytes / data["num_params"]
        size = format_bytes(model.tensor_bytes)
        facts.append(("in the file", f"{size}, {bits:.2f} bits a weight"))
    facts.extend(_cache_facts(config, data))
    facts.append(("together", format_bytes(data["total_bytes"])))
    print_facts(data["model"], facts)
    if data["tokens"] > config.max_seq_len:
        print_note(
            f"The model was made for {config.max_seq_len:,} tokens.", "yellow"
        )
    print_table(
        f"Sequences of {data['tokens']:,} tokens that fit",
        ("accelerator", "memory", "sequences"),
        [
            (name, format_bytes(HARDWARE[name].memory_bytes), _fits(most))
            for name, most in data["max_batch"].items()
        ],
    )
    print_note("Weights and caches only; a program needs more.")


def _active(total: int, active: int) -> str:
    """Return the active parameters, unless all are."""
    return "all" if active == total else f"{active / 1e9:.2f} billion"


def _fits(most: int | None) -> str:
    """Return a number of sequences in words."""
    if most is None:
        return "any"
    return f"{most:,}" if most else "none"


def _shape(config: ModelConfig) -> str:
    """Return the sizes that a reader would ask for, in a line."""
    heads = f"{config.num_heads} heads of {config.head_dim}"
    if config.mla is not None:
        heads = f"{config.num_heads} heads, latent attention"
    elif config.num_kv_heads != config.num_heads:
        heads += f", {config.num_kv_heads} for keys and values"
    return f"{config.num_layers}, {config.hidden_size} wide; {heads}"


def _cache_facts(
    config: ModelConfig, data: dict[str, Any]
) -> list[tuple[str, str]]:
    """Return the lines about the KV cache."""
    from cutaway.roofline import format_bytes

    per_token = data["kv_bytes_per_token"]
    exact = f"{per_token:,.6g}" if per_token % 1 else f"{int(per_token):,}"
    dtype = data["kv_dtype"]
    token = f"{exact} bytes in {dtype}: {format_bytes(per_token)}"
    plural = "" if data["batch"] == 1 else "s"
    what = f"{data['batch']:,} sequence{plural} of {data['tokens']:,} tokens"
    facts = [
        ("KV, a token", token),
        ("KV cache", f"{format_bytes(data['kv_bytes'])}, {what}"),
    ]
    local = config.num_local_layers
    if local:
        full = format_bytes(data["kv_bytes_if_every_layer_is_full"])
        text = f"{local} of {config.num_layers} layers keep the last "
        text += f"{config.window:,} tokens; {full} if all were kept"
        facts.append(("windows", text))
    return facts


def _print_models(*, as_json: bool) -> None:
    """Print the table of the models known by name."""
    from cutaway.roofline import (
        CONFIG_SOURCES,
        CONFIGS,
        active_params,
        kv_bytes_per_token,
        num_params,
    )

    data = {
        name: {
            "num_params": num_params(config),
            "active_params": active_params(config),
            "kv_bytes_per_token": kv_bytes_per_token(config),
            "max_seq_len": config.max_seq_len,
            "source": CONFIG_SOURCES[name],
        }
        for name, config in CONFIGS.items()
    }
    if as_json:
        print(json.dumps(data, indent=2))
        return
    print_table(
        "Models known by name",
        ("name", "parameters", "active", "KV a token", "tokens"),
        [
            (
                name,
                f"{row['num_params']:,}",
                _active(row["num_params"], row["active_params"]),
                f"{row['kv_bytes_per_token'] / 1024:g} KiB",
                f"{row['max_seq_len']:,}",
            )
            for name, row in data.items()
        ],
    )
    print_note("KV a token: in 16 bits, every layer in full.")
