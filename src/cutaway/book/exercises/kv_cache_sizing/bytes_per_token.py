"""Exercise 1: bytes of a token, from a ``config.json``."""

from __future__ import annotations

from typing import Any

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Config = dict[str, int]


def bytes_per_token(config: Config) -> int:
    """Return the bytes that a token adds to a 16-bit cache."""
    layers = config["num_hidden_layers"]
    if "kv_lora_rank" in config:
        latent = config["kv_lora_rank"] + config["qk_rope_head_dim"]
        return 2 * layers * latent
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads", heads)
    head_dim = config.get("head_dim", config["hidden_size"] // heads)
    return 2 * 2 * layers * kv_heads * head_dim


def _sizes(layers: int, hidden: int, heads: int, **more: int) -> Config:
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        **more,
    }


def _grade(judge: Judge) -> None:
    fixed = (
        # Qwen3-4B tells most mistakes apart: 32 heads, 8 for keys and
        # values, of 128 numbers and not 80
        _sizes(36, 2560, 32, num_key_value_heads=8, head_dim=128),
        _sizes(32, 4096, 32),  # nothing but heads of their own
        _sizes(30, 576, 9, num_key_value_heads=3),
        _sizes(
            61,
            7168,
            128,
            num_key_value_heads=128,
            kv_lora_rank=512,
            qk_rope_head_dim=64,
        ),
        _sizes(1, 8, 2, num_key_value_heads=1),
    )
    for config in fixed:
        _one_config(judge, config)
    for _ in range(20):
        _one_config(judge, _drawn(judge.rng))


def _one_config(judge: Judge, config: Config) -> None:
    judge.same_number(judge.call(config), bytes_per_token(config), config)


def _drawn(rng: Any) -> Config:
    """Draw a file: keys that may be left out sometimes are."""
    kv_heads = int(rng.integers(1, 9))
    heads = kv_heads * int(rng.integers(1, 9))
    share = 2 * int(rng.integers(1, 65))
    config = _sizes(int(rng.integers(1, 100)), heads * share, heads)
    if rng.random() < 0.3:
        config["kv_lora_rank"] = 64 * int(rng.integers(1, 33))
        config["qk_rope_head_dim"] = share
        return {**config, "num_key_value_heads": heads}
    if rng.random() < 0.7:
        config["num_key_value_heads"] = kv_heads
    if rng.random() < 0.5:
        config["head_dim"] = 2 * int(rng.integers(1, 129))
    return config


def _with(**changed: Any) -> Any:
    """Return an answer that reads the file as if it said something else."""

    def answer(config: Config) -> int:
        keys = {key: new(config) for key, new in changed.items()}
        return bytes_per_token({**config, **keys})

    return answer


def _latent(of: Any) -> Any:
    """Return an answer that is wrong about the latent vector only."""

    def answer(config: Config) -> int:
        if "kv_lora_rank" not in config:
            return bytes_per_token(config)
        return 2 * config["num_hidden_layers"] * of(config)

    return answer


EXERCISE = Exercise(
    id="kv_cache/sizing:1",
    title="Bytes of a token from a config.json",
    reference=bytes_per_token,
    grade=_grade,
    hints=(
        "Which heads are cached, and where does the file state their number "
        "and their width? `config.get(key, default)` reads what may be "
        "missing.",
        "One 2 is for the key and the value, the other for the two bytes of "
        "a number. A latent vector stands for both, so it has only one 2.",
        "With `kv_lora_rank`: 2 x layers x (`kv_lora_rank` + "
        "`qk_rope_head_dim`). Else: 2 x 2 x layers x `num_key_value_heads` "
        "x `head_dim`, by default as many as query heads, and the hidden "
        "width over the query heads.",
    ),
    reread="One formula, and four ways to get it wrong",
    mistakes=(
        Mistake(
            _latent(lambda c: 2 * (c["kv_lora_rank"] + c["qk_rope_head_dim"])),
            "a latent vector is key and value at once: no factor for the two",
        ),
        Mistake(
            _latent(lambda c: c["kv_lora_rank"]),
            "the rotary key is cached beside the latent vector",
        ),
        Mistake(
            _latent(lambda c: 2 * c["kv_lora_rank"]),
            "one latent vector with its rotary key, not two latent vectors",
        ),
        Mistake(
            _with(
                head_dim=lambda c: c["hidden_size"] // c["num_attention_heads"]
            ),
            "the file states head_dim; it is not always hidden over heads",
        ),
        Mistake(
            _with(num_key_value_heads=lambda c: c["num_attention_heads"]),
            "query heads were counted; only key/value heads are cached",
        ),
        Mistake(
            lambda config: bytes_per_token(config) // 2,
            "half of it: a key and a value, and two bytes for each number",
        ),
        Mistake(
            lambda config: 2 * bytes_per_token(config),
            "twice too much: one 2 is for key and value, one for the bytes",
        ),
        Mistake(
            lambda config: (
                bytes_per_token(config) // config["num_hidden_layers"]
            ),
            "one layer was counted; every layer has a cache of its own",
        ),
    ),
)
