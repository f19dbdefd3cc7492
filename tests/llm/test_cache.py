"""``LLM(cache=...)``: every kind of cache answers, an unknown one is named."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway import LLM, SamplingParams
from cutaway.core import ArgumentError
from cutaway.kvcache import CACHES, ContiguousCache

GREEDY = SamplingParams(temperature=0, max_tokens=12)
PROMPTS = ["hello there", "x", "the hen"]


def answers(llm: LLM) -> list[list[int]]:
    return [
        output.outputs[0].token_ids for output in llm.generate(PROMPTS, GREEDY)
    ]


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("name", sorted(CACHES))
def test_every_cache_answers(tiny_path, name, impl):
    llm = LLM(tiny_path, impl=impl, cache=name)
    assert [len(ids) for ids in answers(llm)] == [12, 12, 12]
    assert np.isfinite(llm.logits([1, 2, 3])).all()


def test_each_request_has_a_cache_of_its_own(tiny_path, tiny):
    made = []

    def make(config, capacity_tokens, /, *, impl, dtype):
        cache = ContiguousCache(config, capacity_tokens, impl=impl, dtype=dtype)
        made.append(cache)
        return cache

    llm = LLM(tiny_path, impl=tiny.decoder.impl, cache=make)
    assert answers(llm) == answers(tiny)
    prompts = [len(llm.tokenizer.encode(text)) for text in PROMPTS]
    # the last token is chosen and not read: n + 12 - 1
    assert [cache.num_tokens for cache in made] == [n + 11 for n in prompts]
    assert [cache.capacity_tokens for cache in made] == [
        n + 11 for n in prompts
    ]
    assert np.array_equal(llm.logits([1, 2]), tiny.logits([1, 2]))
    assert made[-1].num_tokens == 2


@pytest.mark.parametrize("cache", ["contigous", None, 3])
def test_an_unknown_cache_is_named_before_the_model_is_read(cache):
    with pytest.raises(ArgumentError, match="'contiguous'") as info:
        LLM("/no/such/file.gguf", cache=cache)
    assert info.value.name == "cache"


@pytest.mark.model
def test_the_real_model_answers_with_every_cache():
    prompt = "The capital of France is"
    greedy = SamplingParams(temperature=0, max_tokens=2)
    for name in sorted(CACHES):
        llm = LLM(cache=name)
        text = llm.generate(prompt, greedy)[0].outputs[0].text
        assert text == " Paris.", name
        del llm
