"""Sizes of a small model, and what the files of a model say."""

GOOD = {
    "num_layers": 2,
    "hidden_size": 12,
    "num_heads": 6,
    "num_kv_heads": 2,
    "head_dim": 4,
    "ffn_size": 16,
    "vocab_size": 30,
    "rope_theta": 1e4,
    "norm_eps": 1e-5,
    "max_seq_len": 64,
}

GGUF = {
    "general.architecture": "llama",
    "llama.block_count": 30,
    "llama.context_length": 8192,
    "llama.embedding_length": 576,
    "llama.feed_forward_length": 1536,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
    "llama.rope.dimension_count": 64,
    "llama.rope.freq_base": 100000.0,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "tokenizer.ggml.tokens": ["a"] * 49152,
}

HF = {
    "model_type": "llama",
    "num_hidden_layers": 3,
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 3072,
    "vocab_size": 151936,
    "rope_theta": 1000000.0,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 40960,
    "tie_word_embeddings": True,
}
