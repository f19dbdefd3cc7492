"""Latency as a user feels it: the times between a request and its answer.

Pure functions of timestamps, so that whoever has a clock can use them: one
model on one machine, a server, or a simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Literal

from cutaway.core.checks import check, check_choice, check_int, check_real

Metric = Literal["ttft", "tpot", "itl", "e2e"]
METRICS: tuple[Metric, ...] = ("ttft", "tpot", "itl", "e2e")


@dataclass(frozen=True, kw_only=True)
class RequestTimes:
    """When a request was sent, and when each chunk of its answer came.

    Attributes:
        sent_s: When it was sent, in seconds on any clock.
        arrivals_s: When each chunk arrived, on the same clock; at least
            one. A chunk is one token unless ``num_tokens`` says otherwise.
        num_tokens: Tokens of the answer; None for one a chunk.

    Invariants: arrivals never go back in time, the first is not before
    ``sent_s``; there are at least as many tokens as chunks.

    Raises:
        ArgumentError: An invariant does not hold.

    Source: metrics of SGLang's and vLLM's serving benchmarks.

    >>> times = RequestTimes(sent_s=0, arrivals_s=[0.5, 0.6, 0.8, 0.9])
    >>> times.ttft_s, round(times.tpot_s, 4), times.e2e_s
    (0.5, 0.1333, 0.9)
    """

    sent_s: float
    arrivals_s: Sequence[float]
    num_tokens: int | None = None

    def __post_init__(self) -> None:
        sent = check_real("sent_s", self.sent_s, float("-inf"))
        check(len(self.arrivals_s) > 0, "arrivals_s", "[]", "at least one")
        latest, arrivals = sent, []
        for index, value in enumerate(self.arrivals_s):
            latest = check_real(f"arrivals_s[{index}]", value, latest)
            arrivals.append(latest)
        count = len(arrivals)
        if self.num_tokens is not None:
            count = check_int("num_tokens", self.num_tokens, low=count)
        object.__setattr__(self, "arrivals_s", tuple(arrivals))
        object.__setattr__(self, "num_tokens", count)

    @classmethod
    def from_gaps(cls, ttft_s: float, itl_s: Sequence[float]) -> RequestTimes:
        """Return the times of a request sent at 0, from its latencies.

        Args:
            ttft_s: Seconds to the first token.
            itl_s: Seconds from each token to the next.

        >>> RequestTimes.from_gaps(1.0, [0.25, 0.5]).arrivals_s
        (1.0, 1.25, 1.75)
        """
        check_real("ttft_s", ttft_s, 0)
        for index, gap in enumerate(itl_s):
            check_real(f"itl_s[{index}]", gap, 0)
        return cls(sent_s=0, arrivals_s=list(accumulate(itl_s, initial=ttft_s)))

    @property
    def ttft_s(self) -> float:
        """Time to first token: from sending to the first chunk."""
        return self.arrivals_s[0] - self.sent_s

    @property
    def e2e_s(self) -> float:
        """End-to-end latency: from sending to the last chunk."""
        return self.arrivals_s[-1] - self.sent_s

    @property
    def itl_s(self) -> list[float]:
        """Inter-token latencies: the gaps between successive chunks."""
        return [later - earlier for earlier, later in pairwise(self.arrivals_s)]

    @property
    def tpot_s(self) -> float | None:
        """Time per output token after the first; None for one token.

        ``(E2E - TTFT) / (N - 1)``: N tokens have N - 1 steps between them,
        and the wait for the first is not one of these.
        """
        if self._count == 1:
            return None
        return (self.arrivals_s[-1] - self.arrivals_s[0]) / (self._count - 1)

    @property
    def normalized_s(self) -> float:
        """End-to-end latency over tokens, the first token's wait included.

        Source: PagedAttention, arXiv 2309.06180, section 6.1.
        """
        return self.e2e_s / self._count

    @property
    def _count(self) -> int:
        return self.num_tokens or len(self.arrivals_s)


@dataclass(frozen=True)
class LatencySummary:
    """A distribution of latencies in four numbers.

    Attributes:
        count: How many values there are.
        mean_s: Their mean.
        p50_s: Their median.
        p99_s: What 99 % of them do not exceed.
    """

    count: int
    mean_s: float
    p50_s: float
    p99_s: float


def latencies(requests: Iterable[RequestTimes], metric: Metric) -> list[float]:
    """Return the values of one metric over requests.

    Args:
        requests: The requests.
        metric: ``"ttft"``, ``"tpot"``, ``"itl"`` or ``"e2e"``.

    Returns:
        One value a request; but of ``"itl"`` every gap of every request,
        in one pool, and of ``"tpot"`` none for an answer of one token.

    >>> slow = RequestTimes(sent_s=0, arrivals_s=[1, 1.5, 2.5])
    >>> once = RequestTimes(sent_s=0, arrivals_s=[3])
    >>> latencies([slow, once], "tpot"), latencies([slow, once], "itl")
    ([0.75], [0.5, 1.0])
    """
    check_choice("metric", metric, METRICS)
    if metric == "itl":
        return [gap for request in requests for gap in request.itl_s]
    values = (getattr(request, f"{metric}_s") for request in requests)
    return [value for value in values if value is not None]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that a percentage of the values do not exceed.

    Between two values it is interpolated, as NumPy does.

    Args:
        values: At least one number, in any order.
        percent: From 0, the least value, to 100, the greatest.

    Raises:
        ArgumentError: There is no value, one is not finite, or
            ``percent`` is out of range.

    >>> percentile([1.0, 2.0, 4.0], 75)
    3.0
    """
    check(len(values) > 0, "values", "[]", "at least one number")
    check_real("percent", percent, 0, 100)
    ordered = sorted(
        check_real(f"values[{index}]", value, float("-inf"))
        for index, value in enumerate(values)
    )
    place = (len(ordered) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def summarize_latency(
    requests: Sequence[RequestTimes],
) -> Mapping[Metric, LatencySummary | None]:
    """Summarise all four metrics over requests.

    Args:
        requests: At least one.

    Returns:
        A summary by metric; None for a metric without a value, which are
        ``"tpot"`` and ``"itl"`` if every answer has a single token.

    Raises:
        ArgumentError: There is no request.

    >>> pair = [RequestTimes.from_gaps(ttft, [2]) for ttft in (1, 3)]
    >>> summarize_latency(pair)["ttft"].mean_s
    2.0
    """
    check(len(requests) > 0, "requests", "[]", "at least one request")
    return MappingProxyType(
        {metric: _summary(latencies(requests, metric)) for metric in METRICS}
    )


def _summary(values: Sequence[float]) -> LatencySummary | None:
    if not values:
        return None
    return LatencySummary(
        count=len(values),
        mean_s=sum(values) / len(values),
        p50_s=percentile(values, 50),
        p99_s=percentile(values, 99),
    )


def normalized_latency_s(requests: Sequence[RequestTimes]) -> float:
    """Return the mean over requests of end-to-end latency per token.

    A mean of ratios: every request counts alike, however long its answer.

    Raises:
        ArgumentError: There is no request.

    Source: PagedAttention, arXiv 2309.06180, section 6.1.

    >>> pair = [RequestTimes.from_gaps(1, [1]), RequestTimes.from_gaps(4, [])]
    >>> normalized_latency_s(pair)
    2.5
    """
    check(len(requests) > 0, "requests", "[]", "at least one request")
    return sum(request.normalized_s for request in requests) / len(requests)
