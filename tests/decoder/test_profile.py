"""Where the time and the work of a pass go, by part."""

from __future__ import annotations

import itertools

import pytest

from cutaway.core import ArgumentError, ModelConfig
from cutaway.decoder import Decoder, Params, counts_by_part, profile_forward
from cutaway.decoder.profile import PARTS, part_of
from cutaway.roofline import CONFIGS, forward_counts
from oracles.hf_families import IDS, decoder_of

CONFIG = ModelConfig(
    num_layers=3,
    hidden_size=8,
    num_heads=4,
    num_kv_heads=2,
    head_dim=4,
    ffn_size=12,
    vocab_size=11,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=16,
)


@pytest.fixture(scope="module")
def decoder():
    return Decoder(CONFIG, Params.random(CONFIG, 0, impl="numpy"), impl="numpy")


def test_every_stage_of_the_decoder_has_a_part(decoder):
    stages = []
    decoder.forward(
        [1, 2],
        decoder.new_cache(2),
        observe=lambda name, layer, array: stages.append(name),
    )
    assert {part_of(stage) for stage in stages} == set(PARTS)


def test_every_counted_operation_has_a_part():
    for config in CONFIGS.values():
        for num_tokens in (1, 3, 4096):  # latent attention has two forms
            ops = forward_counts(config, num_tokens, 2)
            assert {part_of(op.name) for op in ops} == set(PARTS)


@pytest.mark.parametrize("case", ["qwen3_moe", "gemma3", "gpt_oss", "opt"])
def test_stages_of_other_families_have_parts_too(peers, case):
    model = decoder_of(peers(case), "numpy")
    spent = profile_forward(
        model, IDS, model.new_cache(len(IDS)), clock=itertools.count().__next__
    )
    assert min(spent.values()) > 0
    stages = []
    model.forward(
        IDS,
        model.new_cache(len(IDS)),
        observe=lambda name, layer, array: stages.append(name),
    )
    assert sum(spent.values()) == len(stages)
    assert ("q_norm" in stages) == model.config.norm.qk
    assert ("ffn_post_norm" in stages) == model.config.norm.after


def test_an_unknown_name_is_refused():
    with pytest.raises(ArgumentError, match="softmax"):
        part_of("softmax")


def test_no_name_belongs_to_two_parts():
    names = [name for part in PARTS.values() for name in part]
    assert len(names) == len(set(names))


def test_times_add_up_to_the_whole_pass(decoder):
    ticks = itertools.count()
    spent = profile_forward(
        decoder, [1, 2, 3], decoder.new_cache(3), clock=lambda: next(ticks)
    )
    stages_per_layer = 12
    assert list(spent) == list(PARTS)
    assert sum(spent.values()) == 3 + stages_per_layer * CONFIG.num_layers
    assert spent["output matrix"] == 1


def test_the_pass_is_a_real_one(decoder):
    cache = decoder.new_cache(4)
    profile_forward(decoder, [1, 2, 3], cache)
    assert cache.num_tokens == 3


def test_parts_hold_all_flops_and_all_bytes_from_memory():
    ops = forward_counts(CONFIGS["llama-3.1-8b"], 5, 7, logit_rows=1)
    parts = counts_by_part(ops)
    flops, moved = (sum(column) for column in zip(*parts.values(), strict=True))
    assert flops == sum(op.flops for op in ops)
    assert moved == sum(op.weight_bytes + op.kv_bytes for op in ops)
