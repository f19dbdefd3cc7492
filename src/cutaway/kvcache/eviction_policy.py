"""Which tokens a cache with a budget keeps: the interface, and the newest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cutaway.core.checks import check_int

if TYPE_CHECKING:
    from jaxtyping import Float, Int


class EvictionPolicy(Protocol):
    """Sees the attention weights of every pass; says which tokens to keep.

    The cache holds one number for each token and key/value head, its
    score, 0 at first. A policy has no memory of its own: it turns scores
    and weights into new scores, and scores into priorities. Arrays are
    NumPy's, one row a key/value head, one column a kept token in order of
    position. A policy must not change its arguments.
    """

    @property
    def observed_queries(self) -> int | None:
        """Last queries of a pass whose weights it wants; None for all."""
        ...

    @property
    def prompts_only(self) -> bool:
        """Whether tokens read one by one stay as long as there is room."""
        ...

    def scored(
        self,
        scores: Float[np.ndarray, "kv_heads kept"],
        weights: Float[np.ndarray, "kv_heads queries kept"],
    ) -> Float[np.ndarray, "kv_heads kept"]:
        """Return the scores after a pass.

        Args:
            scores: Before it; the tokens of the pass are the last columns.
            weights: What the observed queries gave to each token, summed
                over the query heads that share a key/value head.
        """
        ...

    def priorities(
        self,
        scores: Float[np.ndarray, "kv_heads kept"],
        positions: Int[np.ndarray, "kv_heads kept"],
    ) -> Float[np.ndarray, "kv_heads kept"]:
        """Return a number for each token: the highest stay.

        Args:
            scores: After the last pass.
            positions: Of the tokens, in the text.
        """
        ...


@dataclass(frozen=True)
class Recent:
    """Keeps the newest tokens, and perhaps the first ones of the text.

    The baseline: it looks at no weight. With ``sink_tokens`` it keeps what
    StreamingLLM keeps.

    Attributes:
        sink_tokens: First tokens of the text that always stay.

    Raises:
        ArgumentError: ``sink_tokens`` is not an integer >= 0.

    Source: StreamingLLM, arXiv 2309.17453, section 3.2 (the choice).
    Differs: positions stay those of the text.

    >>> positions = np.arange(6)[None]
    >>> kept_rows(Recent(1).priorities(0 * positions, positions), 3)
    array([[0, 4, 5]])
    """

    sink_tokens: int = 0
    observed_queries: int | None = 0
    prompts_only: bool = False

    def __post_init__(self) -> None:
        check_int("sink_tokens", self.sink_tokens, low=0)

    def scored(
        self,
        scores: Float[np.ndarray, "kv_heads kept"],
        weights: Float[np.ndarray, "kv_heads queries kept"],
    ) -> Float[np.ndarray, "kv_heads kept"]:
        """Return the scores as they are."""
        return scores

    def priorities(
        self,
        scores: Float[np.ndarray, "kv_heads kept"],
        positions: Int[np.ndarray, "kv_heads kept"],
    ) -> Float[np.ndarray, "kv_heads kept"]:
        """Return the positions, and infinity for the first tokens."""
        return np.where(positions < self.sink_tokens, np.inf, positions)


def kept_rows(
    priorities: Float[np.ndarray, "kv_heads kept"], budget_tokens: int
) -> Int[np.ndarray, "kv_heads budget"]:
    """Return which rows of each head have the highest priorities.

    Args:
        priorities: One for each row; of equal ones the newer row wins.
        budget_tokens: How many to keep; with fewer rows, all.

    Returns:
        Rows of each head, ascending.

    Raises:
        ArgumentError: The budget is not an integer >= 1.

    Cost: a sort of each head's rows.

    >>> kept_rows(np.array([[3.0, 1, 4, 1, 5], [2, 2, 2, 2, 2]]), 2)
    array([[2, 4],
           [3, 4]])
    """
    budget = check_int("budget_tokens", budget_tokens, low=1)
    ascending = np.argsort(priorities, axis=1, kind="stable")
    return np.sort(ascending[:, -budget:], axis=1)
