"""The one decoder: from token ids to logits, and on to an answer."""

from cutaway.decoder.checkpoint import Checkpoint, load_checkpoint
from cutaway.decoder.decoder import Decoder
from cutaway.decoder.generate import Step, generate_tokens
from cutaway.decoder.kv_heads import with_kv_heads
from cutaway.decoder.layer_params import LayerParams
from cutaway.decoder.lens import logit_lens, logit_terms
from cutaway.decoder.params import Params
from cutaway.decoder.perplexity import perplexity, token_losses
from cutaway.decoder.profile import (
    counts_by_part,
    profile_forward,
    times_by_part,
)
from cutaway.decoder.requantize import (
    planned_bytes,
    quantization_plan,
    requantize,
)

__all__ = [
    "Checkpoint",
    "Decoder",
    "LayerParams",
    "Params",
    "Step",
    "counts_by_part",
    "generate_tokens",
    "load_checkpoint",
    "logit_lens",
    "logit_terms",
    "perplexity",
    "planned_bytes",
    "profile_forward",
    "quantization_plan",
    "requantize",
    "times_by_part",
    "token_losses",
    "with_kv_heads",
]
