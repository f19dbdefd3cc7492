"""The real model's tokenizer, and the same one built by ``tokenizers``."""

from __future__ import annotations

from itertools import accumulate, pairwise

import gguf
import pytest
import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from cutaway.tokenizer import BYTE_TO_SYMBOL, Pretokenizer, Tokenizer
from cutaway.tokenizer.pretokenize import LLAMA3, QWEN2
from cutaway.weights import fetch


def _stages(first, use_regex: bool):
    bytes_ = pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=use_regex
    )
    return pre_tokenizers.Sequence([*first, bytes_])


def _split(pattern: str):
    return pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")


# Hugging Face's stages for the cuts of our four families.
PEER_CUTS = {
    "gpt-2": _stages([], True),
    "smollm": _stages([pre_tokenizers.Digits(individual_digits=True)], True),
    "llama-bpe": _stages([_split(LLAMA3)], False),
    "qwen2": _stages([_split(QWEN2)], False),
}


@pytest.fixture(scope="session")
def peer_cuts():
    return PEER_CUTS


@pytest.fixture(scope="session")
def metadata() -> dict:
    """The key-value pairs of the real file, read by the gguf package."""
    fields = gguf.GGUFReader(fetch()).fields
    return {key: field.contents() for key, field in fields.items()}


@pytest.fixture(scope="session")
def tokenizer(metadata) -> Tokenizer:
    return Tokenizer.from_gguf(metadata)


@pytest.fixture(scope="session")
def peer(metadata) -> tokenizers.Tokenizer:
    """Hugging Face's tokenizer from the same vocabulary and merges."""
    tokens = metadata["tokenizer.ggml.tokens"]
    kinds = metadata["tokenizer.ggml.token_type"]
    merges = [
        tuple(line.split(" ")) for line in metadata["tokenizer.ggml.merges"]
    ]
    vocab = {token: token_id for token_id, token in enumerate(tokens)}
    made = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(
        [
            tokenizers.AddedToken(token, special=True, normalized=False)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == 3
        ]
    )
    return made


@pytest.fixture(scope="session")
def toy_metadata() -> dict:
    """All bytes, a few merges, two special tokens; 'b' is not learned."""
    tokens = ["<|end|>", "<|end|>>", "<user>"]
    kinds = [3, 3, 4]
    symbols = [symbol for symbol in BYTE_TO_SYMBOL if symbol != "b"]
    merges = ["Ġ t", "h e", "Ġt he", "a a", "aa a", "Ã ©"]
    joined = [merge.replace(" ", "") for merge in merges]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens + symbols + joined,
        "tokenizer.ggml.token_type": kinds + [1] * len(symbols + joined),
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": 1,
    }


@pytest.fixture(scope="session")
def toy(toy_metadata) -> Tokenizer:
    return Tokenizer.from_gguf(toy_metadata)


@pytest.fixture(scope="session")
def newer_characters() -> frozenset[str]:
    """Characters that only one of ``regex`` and ``tokenizers`` knows.

    Each library has the Unicode of its own day. Every character of the
    planes that have letters stands in a line of text whose cuts tell its
    class; where the two libraries cut a line differently, they differ.
    ``tokenizers`` has two engines for patterns: one for its own (GPT-2's)
    and one for those that a file brings (Qwen2's).
    """
    found = set()
    for name in ("smollm", "qwen2"):
        peer, ours = PEER_CUTS[name], Pretokenizer(name)
        for block in range(0, 0x40000, 0x800):
            if block == 0xD800:  # the surrogates, which are no characters
                continue
            chars = map(chr, range(block, block + 0x800))
            lines = [f"a{char}!{char} {char}\n" for char in chars]
            text = "".join(lines)
            spans = {span for _, span in peer.pre_tokenize_str(text)}
            ends = list(accumulate(map(len, ours(text))))
            spans ^= set(pairwise([0, *ends]))
            width = len(lines[0])
            found |= {chr(block + start // width) for start, _ in spans}
    return frozenset(found)
