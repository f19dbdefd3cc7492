"""Names of a decoder's tensors."""

from __future__ import annotations

import re

import gguf
import pytest

from cutaway.core import ArgumentError
from cutaway.weights import GGUFFile, decoder_names


def test_a_layer_has_nine_tensors_and_the_model_three_more():
    names = decoder_names(4)
    assert len(names) == 4 * 9 + 3
    assert names["token_embd.weight"] == "embed"
    assert names["blk.3.attn_q.weight"] == "layers[3].wq"
    assert names["blk.0.ffn_down.weight"] == "layers[0].w_down"
    assert names["output_norm.weight"] == "final_norm"
    assert names["output.weight"] == "unembed"


def test_no_two_tensors_share_a_parameter():
    names = decoder_names(3)
    assert len(set(names.values())) == len(names)


def test_every_name_is_one_that_llama_files_use():
    arch = gguf.MODEL_TENSORS[gguf.MODEL_ARCH.LLAMA]
    theirs = {gguf.TENSOR_NAMES[kind] + ".weight" for kind in arch}
    for name in decoder_names(2):
        assert re.sub(r"blk\.\d+", "blk.{bid}", name) in theirs


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_num_layers_must_be_a_positive_integer(bad):
    with pytest.raises(ArgumentError, match="num_layers"):
        decoder_names(bad)


@pytest.mark.model
def test_the_real_file_has_these_tensors_and_no_others(model_path):
    with GGUFFile(model_path) as file:
        expected = set(decoder_names(30)) - {"output.weight"}
        assert set(file.tensors) == expected
