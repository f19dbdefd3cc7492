"""Loss and perplexity, against torch and against what must hold."""

import tracemalloc

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError, ModelConfig
from cutaway.decoder import Decoder, Params, perplexity, token_losses


def test_losses_equal_the_cross_entropy_of_torch(tiny_decoder):
    ids = [1, 4, 0, 2, 3, 3, 1]
    logits = tiny_decoder.forward(ids[:-1], tiny_decoder.new_cache(6))
    expected = torch.nn.functional.cross_entropy(
        torch.tensor(logits), torch.tensor(ids[1:]), reduction="none"
    )
    losses = token_losses(tiny_decoder, ids)
    np.testing.assert_allclose(losses, expected.numpy(), rtol=1e-10)
    mean = expected.numpy().mean()
    assert perplexity(tiny_decoder, ids) == pytest.approx(np.exp(mean))


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 5, 6, 7])
def test_the_chunk_size_does_not_change_the_losses(tiny_decoder, chunk_size):
    ids = [1, 4, 0, 2, 3, 3, 1]
    np.testing.assert_allclose(
        token_losses(tiny_decoder, ids, chunk_size=chunk_size),
        token_losses(tiny_decoder, ids),
        rtol=1e-10,
    )


def test_a_chunk_takes_the_memory_of_its_logits_and_little_more():
    config = ModelConfig(
        num_layers=1,
        hidden_size=4,
        num_heads=1,
        num_kv_heads=1,
        head_dim=4,
        ffn_size=4,
        vocab_size=30_000,
        rope_theta=1e4,
        norm_eps=1e-5,
        max_seq_len=64,
    )
    params = Params.random(config, 0, impl="numpy")
    decoder = Decoder(config, params, impl="numpy")
    tracemalloc.start()
    try:
        token_losses(decoder, [1] * 64, chunk_size=63)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    logits = 4 * 63 * config.vocab_size
    assert logits < peak < 1.25 * logits


@pytest.mark.parametrize("ids", [[], [1]])
def test_fewer_than_two_tokens_are_refused(tiny_decoder, ids):
    with pytest.raises(ArgumentError, match="token_ids"):
        perplexity(tiny_decoder, ids)


def test_a_chunk_of_no_tokens_is_refused(tiny_decoder):
    with pytest.raises(ArgumentError, match="chunk_size"):
        token_losses(tiny_decoder, [1, 2], chunk_size=0)
