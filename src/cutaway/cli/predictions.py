"""What the roofline says of a model on a machine, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cutaway.cli.dtypes import bytes_of
from cutaway.cli.model_files import NamedModel
from cutaway.core.errors import ArgumentError

if TYPE_CHECKING:
    from cutaway.roofline import Hardware

HERE = "here"


def find_machine(name: str) -> Hardware:
    """Return a machine of the table, or this one, measured."""
    from cutaway.roofline import HARDWARE, measure_hardware

    key = name.lower()
    if key == HERE:
        return measure_hardware()
    if key not in HARDWARE:
        known = ", ".join(HARDWARE)
        raise ArgumentError("--gpu", repr(name), f"{known} or {HERE}")
    return HARDWARE[key]


def predict(
    model: NamedModel,
    machine: Hardware,
    lengths: dict[str, int],
    *,
    dtype: str,
    kv_dtype: str,
) -> dict[str, Any]:
    """Return every figure of the report, as plain data."""
    from cutaway.roofline import resident_bytes

    weight_size = bytes_of("--dtype", dtype)
    kv_size = bytes_of("--kv-dtype", kv_dtype)
    arithmetic = _arithmetic(machine, dtype)
    batch, prompt = lengths["batch"], lengths["prompt"]
    phases = {
        "prefill": [(prompt, 0)] * batch,
        "decode": [(1, lengths["context"])] * batch,
    }
    longest = max(prompt, lengths["context"] + 1)
    needed = resident_bytes(
        model.whole,
        batch,
        longest,
        weight_bytes_per_param=weight_size,
        kv_bytes_per_element=kv_size,
    )
    return {
        "model": model.name,
        "max_seq_len": model.whole.max_seq_len,
        "has_experts": model.whole.moe is not None,
        **lengths,
        "dtype": dtype.lower(),
        "kv_dtype": kv_dtype.lower(),
        "machine": machine.name,
        "source": machine.source,
        "note": machine.note,
        "arithmetic": arithmetic,
        "peak_flops": machine.peak(arithmetic),
        "bandwidth_bytes_per_s": machine.bandwidth_bytes_per_s,
        "ridge_flop_per_byte": machine.ridge(arithmetic),
        "memory_bytes": machine.memory_bytes,
        "needed_bytes": needed,
        "phases": {
            name: _phase(
                model, machine, pairs, arithmetic, weight_size, kv_size
            )
            for name, pairs in phases.items()
        },
    }


def _arithmetic(machine: Hardware, dtype: str) -> str:
    """Return the format in which the machine multiplies such weights."""
    key = dtype.lower()
    if key in machine.peak_flops:
        return key
    narrow = bytes_of("--dtype", dtype) <= 2
    for wider in ("bfloat16", "float32"):
        if narrow and wider in machine.peak_flops:
            return wider
    known = ", ".join(machine.peak_flops)
    expected = f"{known}, or a format to be widened to one of them"
    raise ArgumentError("--dtype", repr(dtype), expected)


def _phase(
    model: NamedModel,
    machine: Hardware,
    sequences: list[tuple[int, int]],
    arithmetic: str,
    weight_size: float,
    kv_size: float,
) -> dict[str, Any]:
    """Return the prediction of one pass over a batch."""
    from cutaway.roofline import batch_counts, predict_time

    ops = batch_counts(
        model.whole,
        sequences,
        weight_bytes_per_param=weight_size,
        kv_bytes_per_element=kv_size,
    )
    least = predict_time(ops, machine, arithmetic, activations=False)
    moved = sum(op.weight_bytes + op.kv_bytes for op in ops)
    flops = sum(op.flops for op in ops)
    tokens = sum(q_len for q_len, _ in sequences)
    return {
        "time_s": least.total_s,
        "tokens_per_s": tokens / least.total_s,
        "flops": flops,
        "bytes": moved,
        "intensity_flop_per_byte": flops / moved,
        "bound": least.bound,
        "ops": [
            {"name": op.name, "time_s": op.time_s, "bound": op.bound}
            for op in least.ops
            if op.time_s > 0
        ],
    }
