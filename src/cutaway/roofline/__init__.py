"""Counting work and predicting time: FLOPs, bytes, peaks, bounds."""

from cutaway.roofline.batch import (
    OperatingPoint,
    batch_counts,
    operating_point,
)
from cutaway.roofline.capacity import (
    decode_weight_bytes,
    max_batch_size,
    resident_bytes,
    sequences_that_fit,
)
from cutaway.roofline.counts import (
    OpCount,
    attention_flops_per_token,
    causal_pairs,
    equal_context,
    forward_counts,
)
from cutaway.roofline.critical import compute_bound_context, critical_batch
from cutaway.roofline.goodput import goodput, slo_attainment
from cutaway.roofline.hardware import HARDWARE, Hardware, hardware
from cutaway.roofline.intensity import (
    attention_intensity,
    gemm_critical_rows,
    gemm_intensity,
    mla_decode_intensity,
    mlp_intensity,
)
from cutaway.roofline.kv_layout import (
    AttentionCache,
    CacheFormat,
    KVLayout,
    SharedCache,
    StateCache,
    bits_per_value,
    break_even_tokens,
    kv_layout,
    kv_layout_from_hf,
    max_tokens,
    share_layers,
)
from cutaway.roofline.latency import (
    LatencySummary,
    RequestTimes,
    latencies,
    normalized_latency_s,
    percentile,
    summarize_latency,
)
from cutaway.roofline.latent_ops import (
    absorbed_pays,
    absorption_limit,
    latent_attention_counts,
)
from cutaway.roofline.measure import (
    best_rate,
    measure_hardware,
    physical_memory_bytes,
)
from cutaway.roofline.memory import (
    format_bytes,
    kv_bytes_per_token,
    kv_cache_bytes,
    weight_bytes,
)
from cutaway.roofline.models import CONFIG_SOURCES, CONFIGS, model_config
from cutaway.roofline.models.cache_files import (
    CACHE_FILES,
    CACHE_SOURCES,
    model_layout,
)
from cutaway.roofline.network_ops import expected_experts
from cutaway.roofline.params import (
    active_params,
    attention_params,
    matmul_params,
    num_params,
)
from cutaway.roofline.roofline import (
    OpTime,
    Prediction,
    attainable_flops,
    predict_time,
    read_time_s,
)

__all__ = [
    "CACHE_FILES",
    "CACHE_SOURCES",
    "CONFIGS",
    "CONFIG_SOURCES",
    "HARDWARE",
    "AttentionCache",
    "CacheFormat",
    "Hardware",
    "KVLayout",
    "LatencySummary",
    "OpCount",
    "OpTime",
    "OperatingPoint",
    "Prediction",
    "RequestTimes",
    "SharedCache",
    "StateCache",
    "absorbed_pays",
    "absorption_limit",
    "active_params",
    "attainable_flops",
    "attention_flops_per_token",
    "attention_intensity",
    "attention_params",
    "batch_counts",
    "best_rate",
    "bits_per_value",
    "break_even_tokens",
    "causal_pairs",
    "compute_bound_context",
    "critical_batch",
    "decode_weight_bytes",
    "equal_context",
    "expected_experts",
    "format_bytes",
    "forward_counts",
    "gemm_critical_rows",
    "gemm_intensity",
    "goodput",
    "hardware",
    "kv_bytes_per_token",
    "kv_cache_bytes",
    "kv_layout",
    "kv_layout_from_hf",
    "latencies",
    "latent_attention_counts",
    "matmul_params",
    "max_batch_size",
    "max_tokens",
    "measure_hardware",
    "mla_decode_intensity",
    "mlp_intensity",
    "model_config",
    "model_layout",
    "normalized_latency_s",
    "num_params",
    "operating_point",
    "percentile",
    "physical_memory_bytes",
    "predict_time",
    "read_time_s",
    "resident_bytes",
    "sequences_that_fit",
    "share_layers",
    "slo_attainment",
    "summarize_latency",
    "weight_bytes",
]
