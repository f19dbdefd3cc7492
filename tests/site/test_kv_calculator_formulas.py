"""The KV-cache calculator computes what the package computes."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.book.kv_calculator import (
    FORMATS,
    MAX_DEVICES,
    MAX_SEQUENCES,
    MAX_TOKENS,
    WEIGHTS,
    calculator_data,
    layout_entry,
)
from cutaway.core import ArgumentError, KVShape
from cutaway.roofline import (
    CACHE_FILES,
    CONFIGS,
    HARDWARE,
    AttentionCache,
    CacheFormat,
    KVLayout,
    SharedCache,
    StateCache,
    max_tokens,
    model_layout,
    sequences_that_fit,
)
from sitebook.kv_calculator import MODELS, SELECTS, SLIDERS, choose

pytestmark = pytest.mark.browser


def random_layout(rng) -> KVLayout:
    """Layers of every kind, heads that some numbers of devices divide."""
    makers = (
        lambda: AttentionCache(
            shape=KVShape(*(int(2 ** rng.integers(0, 6)) for _ in range(3)))
        ),
        lambda: AttentionCache(
            shape=KVShape(int(rng.integers(1, 9)), 128, 64),
            window=int(2 ** rng.uniform(0, 14)),
        ),
        lambda: AttentionCache(shape=KVShape(1, 576, 0)),
        lambda: StateCache(
            num_heads=int(2 ** rng.integers(0, 8)),
            elements_per_head=int(rng.integers(1, 20_000)),
            kind=("recurrent", "conv")[rng.integers(2)],
        ),
    )
    kinds = [makers[rng.integers(4)]() for _ in range(3)]
    layers = [(kinds[rng.integers(3)],) for _ in range(rng.integers(1, 40))]
    layers.append((*kinds[:2],) if rng.integers(2) else ())
    if isinstance(layers[0][0], AttentionCache):
        layers.append((SharedCache(layer=0),))
    return KVLayout(tuple(layers))


def random_cases(count):
    """Draw (layout, format, tokens, devices, room, sequences)."""
    rng = np.random.default_rng(7)
    cases = []
    for number in range(count):
        layout = random_layout(rng)
        if number % 2:
            layout = model_layout(MODELS[number // 2 % len(MODELS)])
        cases.append(
            (
                layout,
                int(rng.integers(len(FORMATS))),
                int(2 ** rng.uniform(0, 20)) - 1,
                int(2 ** rng.integers(0, 7)) if number % 3 else 1,
                int(10 ** rng.uniform(6, 12)),
                int(2 ** rng.uniform(0, 10)),
            )
        )
    return cases


def in_python(case):
    """What the package says to a case; None where heads do not fit."""
    layout, number, tokens, tp, room, sequences = case
    chosen = FORMATS[number]
    cache_format = CacheFormat(
        key_bytes=chosen["key"], value_bytes=chosen["value"]
    )
    try:
        floor = layout.floor_bytes(tokens, cache_format, tp=tp)
        reserved = layout.reserved_bytes(tokens, cache_format, tp=tp)
    except ArgumentError:
        return None
    longest = [
        max_tokens(
            layout,
            room,
            cache_format,
            batch_size=sequences,
            reserved=full,
            tp=tp,
        )
        for full in (False, True)
    ]
    fit = sequences_that_fit(room, room // 3, floor)
    return [floor, reserved, *longest, fit]


SCRIPT = """
cases => {
  const { formats } = JSON.parse(
    document.querySelector("script[data-widget]").textContent);
  const m = window.cutaway.widgets["kv-calculator"].model;
  return cases.map(([model, number, tokens, tp, room, sequences]) => {
    if (m.unfit(model, tp) !== undefined) return null;
    const f = formats[number];
    const floor = m.floorBytes(model, f, tokens, tp);
    const longest = size => m.maxTokens(model, f, room, sequences, tp, size);
    return [floor, m.reservedBytes(model, f, tokens, tp),
            longest(m.floorBytes), longest(m.reservedBytes),
            m.sequencesThatFit(room, Math.floor(room / 3), floor)];
  });
}
"""


def test_the_formulas_are_those_of_the_package(calculator):
    cases = random_cases(600)
    sent = [[layout_entry(layout), *rest] for layout, *rest in cases]
    answers = calculator.evaluate(SCRIPT, sent)
    ours = [in_python(case) for case in cases]
    for case, theirs, mine in zip(cases, answers, ours, strict=True):
        assert (theirs is None) == (mine is None), case
        if mine is not None:
            assert theirs[:2] == pytest.approx(mine[:2], rel=1e-12), case
            assert theirs[2:] == mine[2:], case
    assert 20 < ours.count(None) < 300  # both answers occur
    fitting = [one for one in ours if one is not None]
    assert sum(one[0] < one[1] for one in fitting) > 50  # windows count
    assert any(one[2] is None for one in fitting)
    assert any(one[2] == 0 for one in fitting)


def test_every_model_every_machine_and_every_format_can_be_chosen(calculator):
    options = [
        box.locator("option").all_text_contents()
        for box in calculator.locator(SELECTS).all()
    ]
    assert options == [
        [*CONFIGS, *CACHE_FILES, "your own"],
        [machine.name for machine in HARDWARE.values()],
        [one["name"] for one in WEIGHTS],
        [one["name"] for one in FORMATS],
    ]


def test_the_length_ends_where_the_model_does(calculator):
    calculator.locator(SLIDERS).first.fill("17")
    choose(calculator, "tinyllama-1.1b")
    assert calculator.locator(".cw-field output").first.inner_text() == "2,048"


def test_the_sliders_end_where_the_package_says(calculator):
    choose(calculator, "kimi-linear-48b-a3b")
    ends = [
        box.get_attribute("max") for box in calculator.locator(SLIDERS).all()
    ]
    assert [2 ** int(end) for end in ends] == [
        MAX_TOKENS,
        MAX_SEQUENCES,
        MAX_DEVICES,
    ]


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        (("llama-9", "h100-sxm"), {}, "model"),
        (("gpt2", "abacus"), {}, "machine"),
        (("gpt2", "h100-sxm"), {"tokens": 2048}, "tokens"),
        (("gpt2", "h100-sxm"), {"tokens": 1000}, "tokens"),
        (("gpt2", "h100-sxm"), {"tokens": 1, "sequences": 3}, "sequences"),
        (("gpt2", "h100-sxm"), {"tokens": 1, "sequences": 2048}, "sequences"),
    ],
)
def test_a_start_off_the_sliders_is_refused(arguments, options, name):
    with pytest.raises(ArgumentError, match=f"^{name}"):
        calculator_data(*arguments, **options)
