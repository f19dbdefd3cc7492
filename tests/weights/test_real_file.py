"""The real model's file: its layout, its types, and the time to unpack it."""

from __future__ import annotations

import hashlib
from collections import Counter

import gguf
import numpy as np
import pytest

from cutaway.core import ModelConfig
from cutaway.weights import BLOCK_TYPES, GGUFFile
from oracles.cost import cpu_seconds

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def file(model_path):
    with GGUFFile(model_path) as file:
        yield file


@pytest.fixture(scope="module")
def theirs(model_path):
    """The same file as the gguf package reads it."""
    return gguf.GGUFReader(model_path)


def test_hash_is_the_pinned_one(model_path):
    digest = hashlib.sha256(model_path.read_bytes()).hexdigest()
    assert digest == (
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    )


def test_header_is_version_3_with_272_tensors_and_33_keys(file):
    with file.path.open("rb") as stream:
        head = stream.read(24)
    assert head[:4] == bytes([0x47, 0x47, 0x55, 0x46])
    assert int.from_bytes(head[8:16], "little") == len(file.tensors) == 272
    assert int.from_bytes(head[16:24], "little") == len(file.metadata) == 33
    assert file.version == 3


def test_hyperparameters(file):
    assert "output.weight" not in file.tensors
    config = ModelConfig.from_gguf(file.metadata, tie_embeddings=True)
    assert config.num_layers == 30
    assert config.max_seq_len == 8192
    assert config.hidden_size == 576
    assert config.ffn_size == 1536
    assert (config.num_heads, config.num_kv_heads) == (9, 3)
    assert config.head_dim == 64
    assert config.rope_theta == 100_000
    assert config.norm_eps == np.float32(1e-5)
    assert config.vocab_size == 49_152
    assert file.metadata["general.architecture"] == "llama"
    assert file.metadata["general.file_type"] == 3


def test_vocabulary_and_merges_are_all_there(file):
    metadata = file.metadata
    assert len(metadata["tokenizer.ggml.tokens"]) == 49_152
    assert len(metadata["tokenizer.ggml.token_type"]) == 49_152
    merges = metadata["tokenizer.ggml.merges"]
    assert len(merges) == 48_900
    assert merges[:4] == ["Ġ t", "Ġ a", "i n", "h e"]


def test_tensor_types_with_their_bytes_and_elements(file):
    infos = file.tensors.values()
    assert Counter(info.dtype for info in infos) == {
        "Q4_1": 210,
        "F32": 61,
        "Q8_0": 1,
    }
    nbytes: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for info in infos:
        nbytes[info.dtype] += info.nbytes
        sizes[info.dtype] += info.size
    assert nbytes == {"Q4_1": 66_355_200, "F32": 140_544, "Q8_0": 30_081_024}
    assert sizes == {"Q4_1": 106_168_320, "F32": 35_136, "Q8_0": 28_311_552}
    assert sum(sizes.values()) == 134_515_008
    assert file.tensors["token_embd.weight"].dtype == "Q8_0"


def test_weights_fill_the_file_from_their_offset_to_its_end(file):
    nbytes = sum(info.nbytes for info in file.tensors.values())
    assert file.data_offset == 1_785_664
    assert nbytes == 96_576_768
    assert file.data_offset + nbytes == 98_362_432
    assert file.path.stat().st_size == 98_362_432


def test_a_weight_takes_5_7437_bits(file):
    nbytes = sum(info.nbytes for info in file.tensors.values())
    size = sum(info.size for info in file.tensors.values())
    assert round(nbytes * 8 / size, 4) == 5.7437
    by_type = sum(
        info.size * BLOCK_TYPES[info.dtype].bits_per_weight
        for info in file.tensors.values()
    )
    assert by_type == nbytes * 8


def test_shapes_are_those_of_pytorch(file, theirs):
    assert file.tensors["token_embd.weight"].shape == (49_152, 576)
    assert file.tensors["blk.0.ffn_down.weight"].shape == (576, 1536)
    assert file.tensors["blk.0.attn_k.weight"].shape == (192, 576)
    ne = {t.name: t.shape.tolist() for t in theirs.tensors}
    assert ne["token_embd.weight"] == [576, 49_152]


def test_metadata_equals_that_of_the_gguf_package(file, theirs):
    counts = {"GGUF.version", "GGUF.tensor_count", "GGUF.kv_count"}
    want = {
        name: field.contents()
        for name, field in theirs.fields.items()
        if name not in counts
    }
    assert file.metadata == want


def test_every_tensor_is_bit_equal_to_that_of_the_gguf_package(file, theirs):
    assert [t.name for t in theirs.tensors] == list(file.tensors)
    for tensor in theirs.tensors:
        want = gguf.dequantize(tensor.data, tensor.tensor_type)
        got = file.tensor(tensor.name)
        assert got.shape == want.shape
        assert np.array_equal(got.view(np.uint32), want.view(np.uint32))


def test_header_is_read_in_under_a_third_of_a_second(model_path):
    assert cpu_seconds(lambda: GGUFFile(model_path), 0.3) < 0.3


def test_all_weights_are_ready_in_under_two_seconds(model_path):
    def load() -> None:
        with GGUFFile(model_path) as file:
            weights = [file.tensor(name) for name in file.tensors]
        assert sum(weight.nbytes for weight in weights) == 538_060_032

    assert cpu_seconds(load, 2) < 2
