"""How the parts of a layer depart from Llama's: norms, network, attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from cutaway.core.checks import check_choice, check_flag, check_real

NormKind = Literal["rms", "rms_plus_one", "layer"]
Activation = Literal["silu", "gelu_tanh", "relu"]
RopeLayout = Literal["interleaved", "half_split"]
BiasedPart = Literal["qkv", "attn_out", "ffn", "router"]


@dataclass(frozen=True, kw_only=True)
class NormConfig:
    """Which normalisation a model uses, and where.

    Attributes:
        kind: ``"rms"``: RMSNorm. ``"rms_plus_one"``: RMSNorm whose stored
            scale is the factor minus one (Gemma). ``"layer"``: LayerNorm,
            with a bias (GPT-2, OPT).
        after: Normalise what attention and network return as well, before
            it is added to the residual stream (Gemma-2 and -3).
        qk: RMSNorm every query and key head, before RoPE (Qwen3, Gemma-3).

    >>> NormConfig(kind="rms_plus_one", after=True).qk
    False
    """

    kind: NormKind = "rms"
    after: bool = False
    qk: bool = False

    def __post_init__(self) -> None:
        check_choice("norm.kind", self.kind, get_args(NormKind))
        check_flag("norm.after", self.after)
        check_flag("norm.qk", self.qk)


@dataclass(frozen=True, kw_only=True)
class FFNConfig:
    """The feed-forward network of a layer, or of one expert.

    Attributes:
        gated: Three matrices, ``down(act(gate(x)) * up(x))``; if False
            two, ``down(act(up(x)))`` (GPT-2, OPT).
        activation: The function ``act``; ``"gelu_tanh"`` is the usual
            approximation of GELU by a hyperbolic tangent.
        clamp: gpt-oss cuts the gate above this and ``up(x)`` at both
            sides, and multiplies by ``up(x) + 1``; None elsewhere.
        sigmoid_gain: Of SiLU, ``x * sigmoid(gain * x)``: 1, but for
            gpt-oss 1.702.

    Source: gpt-oss, ``gpt_oss/torch/model.py``, function ``swiglu``.

    >>> FFNConfig(gated=False, activation="relu").num_matrices
    2
    """

    gated: bool = True
    activation: Activation = "silu"
    clamp: float | None = None
    sigmoid_gain: float = 1.0

    def __post_init__(self) -> None:
        check_flag("ffn.gated", self.gated)
        check_choice("ffn.activation", self.activation, get_args(Activation))
        if self.clamp is not None:
            check_real("ffn.clamp", self.clamp, 0, open_low=True)
        check_real("ffn.sigmoid_gain", self.sigmoid_gain, 0, open_low=True)

    @property
    def num_matrices(self) -> int:
        """Matrices of the network, 3 if it is gated and 2 if not."""
        return 3 if self.gated else 2


@dataclass(frozen=True, kw_only=True)
class AttentionConfig:
    """What happens to the scores of attention besides the usual.

    Attributes:
        scale: Factor of the scores; None for ``head_dim ** -0.5``. Where
            it is given, it is not derived (Gemma: from another width).
        softcap: Scores become ``softcap * tanh(scores / softcap)``
            (Gemma-2); None leaves them.
        sink_logits: Each query head has a learned logit which joins the
            softmax and is then dropped, so that the weights sum to less
            than 1 (gpt-oss).

    >>> AttentionConfig(softcap=50.0).scale is None
    True
    """

    scale: float | None = None
    softcap: float | None = None
    sink_logits: bool = False

    def __post_init__(self) -> None:
        for name in ("scale", "softcap"):
            value = getattr(self, name)
            if value is not None:
                check_real(f"attention.{name}", value, 0, open_low=True)
        check_flag("attention.sink_logits", self.sink_logits)
