"""Decoders that several tests share."""

from __future__ import annotations

import pytest

from cutaway.core import ModelConfig
from cutaway.decoder import Decoder, Params, load_checkpoint
from oracles.hf_families import make_family


@pytest.fixture(scope="session", params=["numpy", "torch"])
def real_decoder(request, model_path) -> Decoder:
    """The real model, once in each backend."""
    model = load_checkpoint(model_path, impl=request.param)
    return Decoder(model.config, model.params, impl=request.param)


@pytest.fixture(params=["numpy", "torch"])
def tiny_decoder(request) -> Decoder:
    """A float64 model of five tokens, once in each backend."""
    config = ModelConfig(
        num_layers=2,
        hidden_size=8,
        num_heads=4,
        num_kv_heads=2,
        head_dim=6,
        ffn_size=8,
        vocab_size=5,
        rope_theta=1e4,
        norm_eps=1e-5,
        max_seq_len=16,
    )
    params = Params.random(config, 0, impl=request.param, dtype="float64")
    return Decoder(config, params, impl=request.param)


@pytest.fixture(scope="session")
def peers(tmp_path_factory):
    """Makes each of the models of ``oracles.hf_families`` once."""
    made = {}

    def peer_of(case):
        if case not in made:
            made[case] = make_family(tmp_path_factory.mktemp(case), case)
        return made[case]

    return peer_of
