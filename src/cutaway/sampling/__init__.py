"""From logits to tokens: parameters, penalties, cuts, and the draw."""

from cutaway.sampling.distribution import (
    candidate_set,
    probabilities,
    process_logits,
)
from cutaway.sampling.enumeration import answer_probabilities
from cutaway.sampling.gumbel import exponential_race, gumbel_max
from cutaway.sampling.orders import ORDERS
from cutaway.sampling.params import SamplingParams
from cutaway.sampling.penalties import (
    History,
    apply_frequency_penalty,
    apply_logit_bias,
    apply_presence_penalty,
    apply_repetition_penalty,
)
from cutaway.sampling.processors import (
    apply_min_p,
    apply_temperature,
    apply_top_k,
    apply_top_p,
    softmax,
)
from cutaway.sampling.sampler import new_generator, sample, sample_batch
from cutaway.sampling.typical import apply_typical_p, entropy

__all__ = [
    "ORDERS",
    "History",
    "SamplingParams",
    "answer_probabilities",
    "apply_frequency_penalty",
    "apply_logit_bias",
    "apply_min_p",
    "apply_presence_penalty",
    "apply_repetition_penalty",
    "apply_temperature",
    "apply_top_k",
    "apply_top_p",
    "apply_typical_p",
    "candidate_set",
    "entropy",
    "exponential_race",
    "gumbel_max",
    "new_generator",
    "probabilities",
    "process_logits",
    "sample",
    "sample_batch",
    "softmax",
]
