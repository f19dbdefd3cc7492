"""The one decoder: from token ids to logits, and on to an answer."""

from cutaway.decoder.decoder import Decoder
from cutaway.decoder.generate import Step, generate_tokens
from cutaway.decoder.params import LayerParams, Params
from cutaway.decoder.perplexity import perplexity, token_losses
from cutaway.decoder.profile import (
    counts_by_part,
    profile_forward,
    times_by_part,
)

__all__ = [
    "Decoder",
    "LayerParams",
    "Params",
    "Step",
    "counts_by_part",
    "generate_tokens",
    "perplexity",
    "profile_forward",
    "times_by_part",
    "token_losses",
]
