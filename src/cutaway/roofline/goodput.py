"""Goodput: how many requests a second a system serves well enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cutaway.core.checks import check, check_real
from cutaway.roofline.latency import RequestTimes


def slo_attainment(
    requests: Sequence[RequestTimes], *, max_ttft_s: float, max_tpot_s: float
) -> float:
    """Return the fraction of requests that meet both targets.

    An answer of one token has no time per output token and meets the
    second target; meeting a target exactly is meeting it.

    Args:
        requests: At least one.
        max_ttft_s: Target for the time to the first token.
        max_tpot_s: Target for the time per output token.

    Raises:
        ArgumentError: There is no request, or a target is not positive.

    >>> pair = [RequestTimes.from_gaps(1, [1]), RequestTimes.from_gaps(1, [3])]
    >>> slo_attainment(pair, max_ttft_s=1, max_tpot_s=2)
    0.5
    """
    check(len(requests) > 0, "requests", "[]", "at least one request")
    check_real("max_ttft_s", max_ttft_s, 0, open_low=True)
    check_real("max_tpot_s", max_tpot_s, 0, open_low=True)
    met = sum(
        request.ttft_s <= max_ttft_s and (request.tpot_s or 0) <= max_tpot_s
        for request in requests
    )
    return met / len(requests)


def goodput(
    runs: Mapping[float, Sequence[RequestTimes]],
    *,
    max_ttft_s: float,
    max_tpot_s: float,
    min_attainment: float = 0.9,
) -> float | None:
    """Return the highest request rate at which the targets are met.

    Args:
        runs: The requests of a run by its rate, in requests a second.
        max_ttft_s: Target for the time to the first token.
        max_tpot_s: Target for the time per output token.
        min_attainment: The fraction of requests that must meet both.

    Returns:
        The highest rate below which no slower run misses the targets;
        None if the slowest run misses them.

    Source: Zhong et al. 2024 (DistServe), arXiv 2401.09670, section 1.

    Differs: the paper divides by the number of GPUs. vLLM's benchmark
    prints under this name how many requests a second met the targets, at
    the one rate that it was run at.

    >>> quick, slow = (RequestTimes.from_gaps(t, [1]) for t in (1, 5))
    >>> goodput({1.0: [quick], 2.0: [slow]}, max_ttft_s=2, max_tpot_s=2)
    1.0
    """
    check(len(runs) > 0, "runs", "{}", "at least one run")
    check_real("min_attainment", min_attainment, 0, 1, open_low=True)
    best = None
    for rate in sorted(runs):
        check_real("rate", rate, 0, open_low=True)
        attained = slo_attainment(
            runs[rate], max_ttft_s=max_ttft_s, max_tpot_s=max_tpot_s
        )
        if attained < min_attainment:
            return best
        best = rate
    return best
