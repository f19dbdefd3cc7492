"""A GGUF file of 30 kB with a model that babbles, for fast tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
EOS = SPECIAL.index("<|im_end|>")
MERGES = ("h e", "Ġ t", "Ġt he", "Ġ Ġ")
TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content']"
    " + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def byte_symbols() -> list[str]:
    """GPT-2's printable stand-ins for the 256 bytes, in order of byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spare = iter(range(256, 512))
    return [chr(b if b in printable else next(spare)) for b in range(256)]


def write_tiny_model(path: Path, *, context: int = 64, seed: int = 0) -> Path:
    """Write a one-layer llama with a byte vocabulary and random weights.

    Its end-of-answer token can be sampled but is never the likeliest.
    """
    tokens = [*SPECIAL, *byte_symbols(), *(m.replace(" ", "") for m in MERGES)]
    hidden, heads, kv_heads, head_dim, ffn = 16, 4, 2, 4, 24
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(context)
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(ffn)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(head_dim)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL))
    )
    writer.add_token_merges(list(MERGES))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(EOS)
    writer.add_chat_template(TEMPLATE)
    rng = np.random.default_rng(seed)
    for name, shape in {
        "token_embd.weight": (len(tokens), hidden),
        "output_norm.weight": (hidden,),
        "blk.0.attn_norm.weight": (hidden,),
        "blk.0.attn_q.weight": (heads * head_dim, hidden),
        "blk.0.attn_k.weight": (kv_heads * head_dim, hidden),
        "blk.0.attn_v.weight": (kv_heads * head_dim, hidden),
        "blk.0.attn_output.weight": (hidden, heads * head_dim),
        "blk.0.ffn_norm.weight": (hidden,),
        "blk.0.ffn_gate.weight": (ffn, hidden),
        "blk.0.ffn_up.weight": (ffn, hidden),
        "blk.0.ffn_down.weight": (hidden, ffn),
    }.items():
        weight = rng.normal(size=shape).astype(np.float32)
        if name == "token_embd.weight":  # also the output matrix
            weight[EOS] = 0  # a logit of 0: greedy answers never stop
        writer.add_tensor(name, weight, raw_dtype=GGMLQuantizationType.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
