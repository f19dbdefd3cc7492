"""Counting work and predicting time: FLOPs, bytes, peaks, bounds."""

from cutaway.roofline.counts import (
    OpCount,
    attention_flops_per_token,
    causal_pairs,
    equal_context,
    forward_counts,
)
from cutaway.roofline.hardware import HARDWARE, Hardware, hardware
from cutaway.roofline.measure import (
    best_rate,
    measure_hardware,
    physical_memory_bytes,
)
from cutaway.roofline.memory import (
    attention_params,
    format_bytes,
    kv_bytes_per_token,
    matmul_params,
    num_params,
    weight_bytes,
)
from cutaway.roofline.models import CONFIGS
from cutaway.roofline.roofline import (
    OpTime,
    Prediction,
    attainable_flops,
    predict_time,
    read_time_s,
)

__all__ = [
    "CONFIGS",
    "HARDWARE",
    "Hardware",
    "OpCount",
    "OpTime",
    "Prediction",
    "attainable_flops",
    "attention_flops_per_token",
    "attention_params",
    "best_rate",
    "causal_pairs",
    "equal_context",
    "format_bytes",
    "forward_counts",
    "hardware",
    "kv_bytes_per_token",
    "matmul_params",
    "measure_hardware",
    "num_params",
    "physical_memory_bytes",
    "predict_time",
    "read_time_s",
    "weight_bytes",
]
