"""Exercises of ``flow/prefill_decode``: counting work, naming latencies."""

from __future__ import annotations

from cutaway.book.exercises.flow_prefill_decode import (
    attention_share,
    critical_batch,
    gemm_intensity,
    mean_tpot,
)

SECTION = "flow/prefill_decode"
EXERCISES = (
    attention_share.EXERCISE,
    gemm_intensity.EXERCISE,
    critical_batch.EXERCISE,
    mean_tpot.EXERCISE,
)
