"""``cutaway roofline``: the least time of prefill and of decode."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from cutaway.cli.dtypes import CHOICES, bytes_of
from cutaway.cli.model_files import find_model
from cutaway.cli.predictions import HERE, find_machine, predict
from cutaway.cli.tables import (
    per_second,
    print_facts,
    print_note,
    print_table,
    seconds,
)
from cutaway.core.checks import check_int
from cutaway.core.errors import ArgumentError

FORMATS = ", ".join(CHOICES)
TERA = 1e12
LEAST_SHARE = 0.0005  # what is less would be shown as 0.0%


def run(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A name, a .gguf file, a config.json, or a folder with one.",
        ),
    ] = None,
    gpu: Annotated[
        str,
        typer.Option(
            help="An accelerator of --list, or 'here': measure this machine.",
            metavar="NAME",
        ),
    ] = "h100-sxm",
    batch: Annotated[
        int, typer.Option(help="Sequences at a time.", metavar="B")
    ] = 1,
    prompt: Annotated[
        int, typer.Option(help="Tokens of each prompt.", metavar="N")
    ] = 1024,
    context: Annotated[
        int | None,
        typer.Option(
            help="Tokens in each cache while decoding.",
            metavar="N",
            show_default="the prompt",
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            help=f"Format of weights and arithmetic: {FORMATS}. One that the "
            "machine does not multiply in is widened before.",
            metavar="NAME",
            show_default="bfloat16, here float32",
        ),
    ] = None,
    kv_dtype: Annotated[
        str | None,
        typer.Option(
            help="Format of the KV cache.",
            metavar="NAME",
            show_default="bfloat16, here float32",
        ),
    ] = None,
    list_gpus: Annotated[
        bool, typer.Option("--list", help="Show the accelerators known.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Predict the least time of prefill and decode on a machine.

    Every operation takes the longer of its arithmetic at the machine's
    dense peak and its bytes at full bandwidth; real runs take longer. Peaks
    are without sparsity: data sheets also print twice as much.

    Examples:

    cutaway roofline llama-3.1-8b --gpu h100-sxm --prompt 2048

    cutaway roofline qwen3-30b-a3b --gpu h200-sxm --batch 64 --context 8192

    cutaway roofline smollm2-135m --gpu here

    cutaway roofline --list
    """
    if list_gpus:
        _print_machines(as_json=as_json)
        return
    if model is None:
        raise ArgumentError("MODEL", "none", "a name or a path, or --list")
    found = find_model(model)
    check_int("--batch", batch, low=1)
    check_int("--prompt", prompt, low=1)
    context = prompt if context is None else context
    check_int("--context", context, low=0)
    usual = "float32" if gpu.lower() == HERE else "bfloat16"
    dtype, kv_dtype = dtype or usual, kv_dtype or usual
    bytes_of("--dtype", dtype)
    bytes_of("--kv-dtype", kv_dtype)
    machine = find_machine(gpu)
    lengths = {"batch": batch, "prompt": prompt, "context": context}
    data = predict(found, machine, lengths, dtype=dtype, kv_dtype=kv_dtype)
    if as_json:
        print(json.dumps(data, indent=2))
    else:
        _print(data)


def _print(data: dict[str, Any]) -> None:
    """Print the report."""
    from cutaway.roofline import format_bytes

    peak = per_second(data["peak_flops"], "FLOP")
    wide = data["arithmetic"]
    widened = "" if data["dtype"] == wide else f", {data['dtype']} widened"
    facts = [
        ("machine", f"{data['machine']} ({data['source']})"),
        ("peak", f"{peak} dense in {wide}{widened}"),
        ("bandwidth", per_second(data["bandwidth_bytes_per_s"], "B")),
        ("ridge", f"{data['ridge_flop_per_byte']:.1f} FLOP/byte"),
        ("memory", format_bytes(data["memory_bytes"])),
        ("needed", format_bytes(data["needed_bytes"])),
    ]
    if data["note"]:
        facts.append(("note", data["note"]))
    batch = data["batch"]
    print_facts(
        f"{data['model']}, {batch:,} x {data['prompt']:,} tokens", facts
    )
    longest = max(data["prompt"], data["context"] + 1)
    if longest > data["max_seq_len"]:
        most = f"{data['max_seq_len']:,}"
        print_note(f"The model was made for {most} tokens.", "yellow")
    if data["needed_bytes"] > data["memory_bytes"]:
        print_note("It does not fit; the times are as if it did.", "yellow")
    _print_phases(data)
    _print_ops(data)
    if data["has_experts"]:
        print_note(
            "Experts: the mean number reached by tokens that pick at random."
        )


def _print_phases(data: dict[str, Any]) -> None:
    """Print a row for prefill and one for a step of decode."""
    rows = []
    for name, phase in data["phases"].items():
        rows.append(
            (
                name,
                seconds(phase["time_s"]),
                f"{phase['tokens_per_s']:,.1f}",
                f"{phase['intensity_flop_per_byte']:,.1f}",
                phase["bound"],
            )
        )
    print_table(
        f"Least time of a pass, decode behind {data['context']:,} tokens",
        ("pass", "time", "tokens/s", "FLOP/byte", "waits for"),
        rows,
    )
    print_note(
        "Prefill is the time to the first token (TTFT), a step of decode the "
        "time per output token (TPOT), both without anything else."
    )


def _print_ops(data: dict[str, Any]) -> None:
    """Print how the operations share the time, and what each waits for."""
    phases = data["phases"]
    shares: dict[str, list[str]] = {}
    for index, phase in enumerate(phases.values()):
        for op in phase["ops"]:
            share = op["time_s"] / phase["time_s"]
            if share >= LEAST_SHARE:
                cells = shares.setdefault(op["name"], ["", ""] * len(phases))
                cells[2 * index : 2 * index + 2] = f"{share:.1%}", op["bound"]
    columns = ["operation"]
    for name in phases:
        columns += [name, "waits for"]
    rows = [(name, *cells) for name, cells in shares.items()]
    print_table("Where the time goes", columns, rows)


def _print_machines(*, as_json: bool) -> None:
    """Print the table of accelerators."""
    from cutaway.roofline import HARDWARE

    data = {
        name: {
            "name": entry.name,
            "peak_flops": dict(entry.peak_flops),
            "bandwidth_bytes_per_s": entry.bandwidth_bytes_per_s,
            "memory_bytes": entry.memory_bytes,
            "ridge_flop_per_byte": entry.ridge("bfloat16"),
            "num_sms": entry.num_sms,
            "source": entry.source,
            "note": entry.note,
        }
        for name, entry in HARDWARE.items()
    }
    if as_json:
        print(json.dumps(data, indent=2))
        return
    print_table(
        "Accelerators, dense peaks in 16 bits",
        ("name", "TFLOP/s", "TB/s", "FLOP/byte", "memory"),
        [
            (
                name,
                f"{entry.peak('bfloat16') / TERA:,.4g}",
                f"{entry.bandwidth_bytes_per_s / TERA:.4g}",
                f"{entry.ridge('bfloat16'):.1f}",
                f"{entry.memory_bytes / 1e9:.0f} GB",
            )
            for name, entry in HARDWARE.items()
        ],
    )
    print_note("Data sheets also print twice the peak, with 2:4 sparsity.")
