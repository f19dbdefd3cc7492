"""The report of ``cutaway size`` on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cutaway.cli.model_files import NamedModel
from cutaway.cli.tables import count, print_facts, print_note, print_table

if TYPE_CHECKING:
    from cutaway.core.config import ModelConfig
    from cutaway.roofline import KVLayout

Facts = list[tuple[str, str]]


def print_report(model: NamedModel, data: dict[str, Any]) -> None:
    """Print what ``measure`` found."""
    from cutaway.roofline import format_bytes

    facts: Facts = [("read from", model.source)]
    if data["tp"] > 1:
        text = f"{data['tp']}; the sizes below are those of one"
        facts.append(("devices", text))
    facts += _model_facts(model, data) + _cache_facts(model.layout, data)
    if data["total_bytes"] is not None:
        facts.append(("together", format_bytes(data["total_bytes"])))
    print_facts(data["model"], facts)
    longest = model.max_seq_len
    if longest is not None and data["tokens"] > longest:
        print_note(f"The model was made for {longest:,} tokens.", "yellow")
    if data["max_batch"] is None:
        print_note("Of this model only the cache is known.")
        return
    _print_table(data)


def _print_table(data: dict[str, Any]) -> None:
    """Print how many sequences fit on each accelerator."""
    from cutaway.roofline import HARDWARE, format_bytes

    tp = data["tp"]
    on_many = f" on {tp}" if tp > 1 else ""
    print_table(
        f"Sequences of {data['tokens']:,} tokens that fit{on_many}",
        ("accelerator", "memory", "sequences"),
        [
            (name, format_bytes(HARDWARE[name].memory_bytes), _fits(most))
            for name, most in data["max_batch"].items()
        ],
    )
    print_note("Weights and caches only; a program needs more.")


def _model_facts(model: NamedModel, data: dict[str, Any]) -> Facts:
    """Return the lines about the model and its weights."""
    from cutaway.roofline import format_bytes

    config = model.config
    if config is None:
        return [("layers", f"{model.layout.num_layers}")]
    facts = [
        ("layers", _shape(config)),
        ("parameters", count(data["num_params"])),
    ]
    if config.moe is not None:
        facts.append(("active", f"{count(data['active_params'])} a token"))
    size = format_bytes(data["weight_bytes"])
    facts.append(("weights", f"{size} in {data['dtype']}"))
    if model.tensor_bytes is not None:
        bits = 8 * model.tensor_bytes / data["num_params"]
        size = format_bytes(model.tensor_bytes)
        facts.append(("in the file", f"{size}, {bits:.2f} bits a weight"))
    return facts


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


def _cache_facts(layout: KVLayout, data: dict[str, Any]) -> Facts:
    """Return the lines about the KV cache."""
    from cutaway.roofline import format_bytes

    per_token = data["kv_bytes_per_token"]
    exact = f"{per_token:,.6g}" if per_token % 1 else f"{int(per_token):,}"
    dtype = data["kv_dtype"]
    token = f"{exact} bytes in {dtype}: {format_bytes(per_token)}"
    plural = "" if data["batch"] == 1 else "s"
    what = f"{data['batch']:,} sequence{plural} of {data['tokens']:,} tokens"
    full = format_bytes(data["kv_bytes_if_every_layer_is_full"])
    facts = [("KV, a token", token)]
    for number, text in enumerate(_kinds(layout)):
        facts.append(("" if number else "kept", text))
    if data["kv_state_bytes"]:
        size = format_bytes(data["kv_state_bytes"])
        facts.append(("states", f"{size} a sequence, however long"))
    floor = format_bytes(data["kv_bytes"])
    facts.append(("KV cache", f"{floor}, {what}"))
    facts.append(("reserved", f"{full} if every layer keeps all tokens"))
    return facts


def _kinds(layout: KVLayout) -> list[str]:
    """Say what the layers keep, where not all keep the same."""
    from cutaway.roofline import AttentionCache, SharedCache, StateCache

    found: list[str] = []
    whole = layout.num_layers
    for number, layer in layout.groups:
        words = []
        for part in layer:
            if isinstance(part, SharedCache):
                words.append("share the cache of another")
            elif isinstance(part, StateCache) and part.kind == "recurrent":
                words.append("keep a state")
            elif isinstance(part, AttentionCache) and part.window:
                words.append(f"keep the last {part.window:,} tokens")
            elif isinstance(part, AttentionCache):
                words.append("keep all tokens")
        what = " and ".join(dict.fromkeys(words)) or (
            "keep a few inputs" if layer else "keep nothing"
        )
        found.append(f"{number} of {whole} layers {what}")
    return found if len(found) > 1 or "last" in found[0] else []
