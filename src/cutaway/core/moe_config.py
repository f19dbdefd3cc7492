"""A mixture of experts: how many, how wide, and how a token picks some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from cutaway.core.checks import (
    check,
    check_choice,
    check_flag,
    check_int,
    check_real,
)

Scoring = Literal["softmax", "sigmoid"]
GroupScore = Literal["max", "top2_sum"]


@dataclass(frozen=True, kw_only=True)
class ExpertGroups:
    """Experts in groups, of which a token first picks a few (DeepSeek).

    Attributes:
        num_groups: Groups of equal size.
        groups_per_token: Groups whose experts remain candidates.
        score: What a group is worth: its best expert (DeepSeek-V2) or
            the sum of its best two (DeepSeek-V3).

    >>> ExpertGroups(num_groups=8, groups_per_token=3).score
    'max'
    """

    num_groups: int
    groups_per_token: int
    score: GroupScore = "max"

    def __post_init__(self) -> None:
        check_int("groups.num_groups", self.num_groups, low=1)
        name = "groups.groups_per_token"
        check_int(name, self.groups_per_token, 1, self.num_groups)
        check_choice("groups.score", self.score, get_args(GroupScore))


@dataclass(frozen=True, kw_only=True)
class MoEConfig:
    """Settings of the layers whose network is a mixture of experts.

    Attributes:
        num_experts: Routed experts in a layer.
        experts_per_token: How many of them each token runs through.
        expert_ffn_size: Width of one expert.
        num_shared_experts: Experts, as wide, that see every token.
        num_dense_layers: First layers with one network, ``ffn_size`` wide.
        scoring: How the router's logits become scores.
        renormalize: Divide the chosen scores by their sum. After a softmax
            this equals a softmax over the chosen logits only.
        weight_scale: Factor of the weights in the end.
        correction_bias: A bias for each expert enters its choice, not
            its weight (DeepSeek-V3).
        groups: Choice by groups, or None.

    Raises:
        ArgumentError: A number is out of range, or two do not fit.

    >>> mixtral = MoEConfig(num_experts=8, experts_per_token=2,
    ...     expert_ffn_size=14336)
    >>> mixtral.num_shared_experts
    0
    """

    num_experts: int
    experts_per_token: int
    expert_ffn_size: int
    num_shared_experts: int = 0
    num_dense_layers: int = 0
    scoring: Scoring = "softmax"
    renormalize: bool = True
    weight_scale: float = 1.0
    correction_bias: bool = False
    groups: ExpertGroups | None = None

    def __post_init__(self) -> None:
        check_int("moe.num_experts", self.num_experts, low=1)
        name = "moe.experts_per_token"
        check_int(name, self.experts_per_token, 1, self.num_experts)
        check_int("moe.expert_ffn_size", self.expert_ffn_size, low=1)
        for name in ("num_shared_experts", "num_dense_layers"):
            check_int(f"moe.{name}", getattr(self, name), low=0)
        check_choice("moe.scoring", self.scoring, get_args(Scoring))
        check_flag("moe.renormalize", self.renormalize)
        check_flag("moe.correction_bias", self.correction_bias)
        check_real("moe.weight_scale", self.weight_scale, 0, open_low=True)
        if self.groups is not None:
            self._check_groups(self.groups)

    def _check_groups(self, groups: ExpertGroups) -> None:
        """Raise unless the groups are equal and hold enough experts."""
        fits = isinstance(groups, ExpertGroups)
        check(fits, "moe.groups", repr(groups), "ExpertGroups or None")
        check(
            self.num_experts % groups.num_groups == 0,
            "moe.groups.num_groups",
            groups.num_groups,
            f"a divisor of num_experts = {self.num_experts}",
        )
        size = self.num_experts // groups.num_groups
        candidates = size * groups.groups_per_token
        check(
            candidates >= self.experts_per_token,
            "moe.groups.groups_per_token",
            groups.groups_per_token,
            f"groups with >= {self.experts_per_token} experts",
        )
