"""Layouts: formats of the numbers, and layers that share a cache."""

from __future__ import annotations

from cutaway.core import KVShape
from cutaway.roofline import (
    AttentionCache,
    CacheFormat,
    KVLayout,
    SharedCache,
    bits_per_value,
    model_layout,
    share_layers,
)

# Formats


def test_scales_make_formats_wider_than_their_name():
    assert bits_per_value(8, group_size=32) == 8.5  # q8_0
    assert bits_per_value(4, group_size=32) == 4.5  # q4_0
    assert bits_per_value(4, group_size=32, zero_bits=16) == 5.0  # q4_1
    assert bits_per_value(2, group_size=32, zero_bits=16) == 3.0
    assert bits_per_value(8, group_size=128, scale_bits=0) == 8


def test_the_cache_of_the_books_model_in_three_formats():
    layout = model_layout("smollm2-135m")
    sizes = [
        layout.bytes_per_token(CacheFormat.of(bits / 8))
        for bits in (
            16,
            bits_per_value(8, group_size=32),
            bits_per_value(4, group_size=32, zero_bits=16),
        )
    ]
    assert sizes == [23_040, 12_240, 7_200]


def test_keys_and_values_may_have_formats_of_their_own():
    mixed = CacheFormat(key_bytes=1, value_bytes=0.5)
    assert model_layout("llama-3.1-8b").bytes_per_token(mixed) == (
        32 * 8 * 128 * 1.5
    )
    # a latent vector serves as both and is stored as a key
    assert model_layout("deepseek-v3").bytes_per_token(mixed) == 61 * 576


# Sharing between layers


def test_layers_that_share_add_nothing():
    layout = model_layout("llama-3.1-8b")
    for every, share in ((1, 1), (2, 2), (4, 4)):
        shared = share_layers(layout, every)
        assert shared.bytes_per_token() * share == layout.bytes_per_token()
        assert shared.num_layers == 32
    three = share_layers(layout, 3)  # 11 owners, the last with one borrower
    assert three.bytes_per_token() * 32 == layout.bytes_per_token() * 11
    assert three.layers[31] == (SharedCache(layer=30),)
    assert [count for count, _ in three.groups] == [11, 21]


def test_the_published_sizes_of_cross_layer_attention():
    # CLA, table 1: 20 layers, one KV head of 128, 16 bits
    layer = (AttentionCache(shape=KVShape(1, 128, 128)),)
    mqa = KVLayout((layer,) * 20)
    assert mqa.bytes_per_token() == 10_240
    assert share_layers(mqa, 2).bytes_per_token() == 5_120
