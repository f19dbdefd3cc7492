"""Write a model as a Hugging Face folder."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutaway.core.checks import check, check_choice, check_int
from cutaway.core.config import ModelConfig
from cutaway.core.rope_scaling import RopeScaling
from cutaway.core.rope_scaling_files import HF_FIELDS
from cutaway.tokenizer import Tokenizer, tokenizer_config, tokenizer_json
from cutaway.weights.hf_folder import (
    CHAT_TEMPLATE,
    CONFIG,
    INDEX,
    TOKENIZER,
    TOKENIZER_CONFIG,
    WEIGHTS,
)
from cutaway.weights.safetensors_header import ITEM_BYTES
from cutaway.weights.safetensors_write import save_safetensors

if TYPE_CHECKING:
    from jaxtyping import Float

_DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def hf_config(config: ModelConfig) -> dict[str, Any]:
    """Return the ``config.json`` of a Llama-like model.

    Args:
        config: The model; which rows of q and k it keeps together does not
            matter, since a folder always keeps them half-split.

    Raises:
        ArgumentError: The model has what a Llama has not.

    Source: transformers, models/llama/configuration_llama.py.

    >>> from cutaway.roofline import CONFIGS
    >>> hf_config(CONFIGS["smollm2-135m"])["num_key_value_heads"]
    3
    """
    rope = {"rope_theta": config.rope_theta, **_rope(config.rope_scaling)}
    found = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.ffn_size,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads,
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "rms_norm_eps": config.norm_eps,
        "max_position_embeddings": config.max_seq_len,
        "rope_parameters": rope,
        "tie_word_embeddings": config.tie_embeddings,
    }
    read_back = ModelConfig.from_hf(found)
    wanted = replace(config, rope_layout="half_split")
    lost = [
        field.name
        for field in fields(ModelConfig)
        if getattr(read_back, field.name) != getattr(wanted, field.name)
    ]
    expected = "a model that is built like Llama"
    check(not lost, "config", f"another {', '.join(lost)}", expected)
    return found


def save_hf_folder(
    path: str | os.PathLike[str],
    config: ModelConfig,
    tensors: Mapping[str, Float[Any, "..."]],
    tokenizer: Tokenizer,
    *,
    dtype: str = "F32",
    max_shard_bytes: int | None = None,
) -> None:
    """Write a folder that ``transformers`` and ``LLM`` load.

    Args:
        path: The folder; made if it is not there. Files of the same names
            are replaced, and those removed that would be read instead: an
            earlier ``model.safetensors``, index or chat template.
        config: The model's sizes.
        tensors: Arrays under Hugging Face's names, rows of q and k
            half-split, as ``Params.to_hf`` gives them.
        tokenizer: The model's tokenizer, its chat template included.
        dtype: ``"F32"``, ``"F16"`` or ``"BF16"``.
        max_shard_bytes: Begin another file of weights before one gets
            longer than this; None writes a single file.

    Raises:
        ArgumentError: The model is not built like Llama, or the tensors
            cannot be stored in this type.
        OSError: A file cannot be written.

    Cost: one pass over the tensors. All files are written beside the
    folder first: if one fails, the folder is as it was.
    Source: transformers, ``PreTrainedModel.save_pretrained``.
    """
    check_choice("dtype", dtype, tuple(_DTYPES))
    if max_shard_bytes is not None:
        check_int("max_shard_bytes", max_shard_bytes, low=1)
    texts = {
        TOKENIZER: tokenizer_json(tokenizer),
        TOKENIZER_CONFIG: tokenizer_config(tokenizer),
        CONFIG: {
            **hf_config(config),
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "dtype": _DTYPES[dtype],
        },
    }
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as made:
        folder = Path(made)
        _save_weights(folder, tensors, dtype, max_shard_bytes)
        for name, value in texts.items():
            text = json.dumps(value, indent=2, ensure_ascii=False)
            (folder / name).write_text(text + "\n", "utf-8")
        target.mkdir(exist_ok=True)
        written = {file.name for file in folder.iterdir()}
        for name in written:
            (folder / name).replace(target / name)
        for name in {WEIGHTS, INDEX, CHAT_TEMPLATE} - written:
            (target / name).unlink(missing_ok=True)


def _save_weights(
    folder: Path,
    tensors: Mapping[str, Any],
    dtype: str,
    max_shard_bytes: int | None,
) -> None:
    """Write the weights in one file, or in several with an index."""
    metadata = {"format": "pt"}
    shards = _shards(tensors, dtype, max_shard_bytes)
    if len(shards) == 1:
        save_safetensors(
            folder / WEIGHTS, tensors, dtype=dtype, metadata=metadata
        )
        return
    weight_map: dict[str, str] = {}
    for number, names in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        part = {name: tensors[name] for name in names}
        save_safetensors(folder / file, part, dtype=dtype, metadata=metadata)
        weight_map.update(dict.fromkeys(names, file))
    index = {
        "metadata": {"total_size": _num_bytes(tensors, dtype)},
        "weight_map": weight_map,
    }
    (folder / INDEX).write_text(json.dumps(index, indent=2) + "\n", "utf-8")


def _num_bytes(tensors: Mapping[str, Any], dtype: str) -> int:
    return sum(array.size * ITEM_BYTES[dtype] for array in tensors.values())


def _shards(
    tensors: Mapping[str, Any], dtype: str, limit: int | None
) -> list[list[str]]:
    """Cut the names into runs that fit into ``limit`` bytes."""
    if limit is None:
        return [list(tensors)]
    shards: list[list[str]] = [[]]
    room = limit
    for name, array in tensors.items():
        size = _num_bytes({name: array}, dtype)
        if shards[-1] and size > room:
            shards.append([])
            room = limit
        shards[-1].append(name)
        room -= size
    return shards


def _rope(scaling: RopeScaling | None) -> dict[str, Any]:
    """Return the entries that say how the frequencies are scaled."""
    if scaling is None:
        return {"rope_type": "default"}
    theirs = {ours: key for key, ours in HF_FIELDS.items()}
    values = {
        theirs.get(field.name, field.name): getattr(scaling, field.name)
        for field in fields(scaling)
    }
    return {"rope_type": scaling.kind, **values}
