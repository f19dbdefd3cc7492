"""From logits to tokens: parameters, the cuts, and the draw."""

from cutaway.sampling.params import SamplingParams
from cutaway.sampling.processors import (
    apply_min_p,
    apply_temperature,
    apply_top_k,
    apply_top_p,
    softmax,
)
from cutaway.sampling.sampler import new_generator, probabilities, sample

__all__ = [
    "SamplingParams",
    "apply_min_p",
    "apply_temperature",
    "apply_top_k",
    "apply_top_p",
    "new_generator",
    "probabilities",
    "sample",
    "softmax",
]
