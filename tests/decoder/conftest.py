"""Decoders that several tests share."""

from __future__ import annotations

import pytest

from cutaway.core import ModelConfig
from cutaway.decoder import Decoder, Params
from cutaway.weights import GGUFFile


@pytest.fixture(scope="session", params=["numpy", "torch"])
def real_decoder(request, model_path) -> Decoder:
    """The real model, once in each backend."""
    with GGUFFile(model_path) as file:
        config = ModelConfig.from_gguf(
            file.metadata, tie_embeddings="output.weight" not in file.tensors
        )
        params = Params.from_gguf(file, config, impl=request.param)
    return Decoder(config, params, impl=request.param)
