"""Slow and independent: pairs by enumeration, FLOPs as torch sees them."""

from __future__ import annotations


def visible_pairs(q_len, context_len, window=None):
    """Count (query, key) pairs one by one, bottom-right causal."""
    count = 0
    for query in range(q_len):
        position = context_len + query
        for key in range(context_len + q_len):
            near = window is None or position - key < window
            if key <= position and near:
                count += 1
    return count


def torch_flops(sizes, q_len, context_len):
    """Return FLOPs by operation of a tiny transformers Llama.

    ``FlopCounterMode`` sees the matrix products that torch dispatches:
    attention over the full rectangle of queries and keys.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(**sizes, attn_implementation="eager")
    model = LlamaForCausalLM(config).eval()
    tokens = torch.arange(context_len + q_len)[None] % config.vocab_size
    cache = DynamicCache(config=config)
    with torch.no_grad():
        if context_len:
            model(tokens[:, :context_len], cache=cache, use_cache=True)
        with FlopCounterMode(display=False) as counter:
            model(tokens[:, context_len:], cache=cache, use_cache=True)
    modules = {
        name: {str(op): n for op, n in ops.items()}
        for name, ops in counter.get_flop_counts().items()
    }
    found = {"unembed": sum(modules["LlamaForCausalLM.lm_head"].values())}
    names = {
        "self_attn.q_proj": "wq",
        "self_attn.k_proj": "wk",
        "self_attn.v_proj": "wv",
        "self_attn.o_proj": "wo",
        "mlp.gate_proj": "w_gate",
        "mlp.up_proj": "w_up",
        "mlp.down_proj": "w_down",
    }
    for module, name in names.items():
        found[name] = sum(
            sum(ops.values())
            for path, ops in modules.items()
            if path.endswith("." + module)
        )
    found["attention"] = sum(
        ops.get("aten.bmm", 0)
        for path, ops in modules.items()
        if path.endswith(".self_attn")
    )
    found["total"] = counter.get_total_flops()
    return found
