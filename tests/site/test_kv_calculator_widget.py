"""What the KV-cache calculator shows when it is operated."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.roofline import (
    CONFIGS,
    max_tokens,
    model_layout,
    num_params,
    sequences_that_fit,
)
from sitebook.kv_calculator import (
    MODELS,
    OWN,
    SELECTS,
    SLIDERS,
    choose,
    readings,
    said,
)

pytestmark = pytest.mark.browser


def test_the_first_view_is_the_one_asked_for(calculator):
    assert calculator.locator(".cw-field output").all_text_contents() == [
        "8,192",
        "1",
        "1",
    ]
    one = model_layout("llama-3.1-8b").floor_bytes(8192)
    weights = 2 * num_params(CONFIGS["llama-3.1-8b"])
    fits = sequences_that_fit(80e9, weights, one)
    shown = readings(calculator)
    assert shown["a sequence, GB"] == ["1.07", "1.07"]
    assert shown["a sequence, GiB"] == ["1", "1"]
    assert shown["all of them, GB"] == ["1.07", "1.07"]
    assert shown["sequences that fit"] == [f"{fits}", f"{fits}"]
    longest = max_tokens(model_layout("llama-3.1-8b"), 80e9 - weights)
    assert shown["tokens of each that fit"] == [f"{longest:,}"] * 2
    assert said(calculator) == (
        "A token takes 131,072 bytes. "
        "The cache outweighs the weights beyond 122,532 tokens."
    )


def test_windows_part_the_floor_from_the_reserve(calculator):
    choose(calculator, "gpt-oss-20b")
    calculator.locator(SLIDERS).first.fill("17")
    assert readings(calculator)["a sequence, GiB"] == ["3", "6"]
    lines = calculator.locator(".cw-chart > path.cw-line").all()[2:]
    reserve, floor = (line.get_attribute("d") for line in lines)
    assert reserve != floor
    choose(calculator, "llama-3.1-8b")
    reserve, floor = (line.get_attribute("d") for line in lines)
    assert reserve == floor


def test_the_dot_lies_on_the_line_of_the_floor(calculator):
    now = model_layout("llama-3.1-8b").floor_bytes(8192)
    dot = calculator.locator(".cw-dot")
    assert float(dot.get_attribute("cx")) == pytest.approx(
        44 + 302 * 13 / 20, abs=0.01
    )
    share = (np.log10(now) - 5) / 8
    assert float(dot.get_attribute("cy")) == pytest.approx(
        234 - 204 * share, abs=0.01
    )


def test_a_hybrid_has_a_state_and_no_known_weights(calculator):
    choose(calculator, "qwen3-next-80b-a3b")
    assert said(calculator) == (
        "A token takes 24,576 bytes, a sequence 77.3 MB besides. "
        "Its parameters are not known, so no weights are counted."
    )


def test_heads_are_copied_beyond_their_number(calculator):
    slider = calculator.locator(SLIDERS).nth(2)
    for power, per_token in (("3", 16_384), ("5", 16_384)):
        slider.fill(power)
        assert said(calculator).startswith(
            f"A token takes {per_token:,} bytes on each of {2 ** int(power)} "
        )
    choose(calculator, "smollm2-135m")
    assert said(calculator) == "3 heads cannot be spread evenly over 32 GPUs."
    assert not calculator.locator(".cw-panels").is_visible()
    slider.fill("0")
    assert calculator.locator(".cw-panels").is_visible()


def test_formats_change_the_cache_and_not_the_weights(calculator):
    before = calculator.locator(".cw-fit").inner_text()
    calculator.locator(SELECTS).nth(3).select_option(label="8 bits (q8_0)")
    assert "A token takes 69,632 bytes." in said(calculator)
    after = calculator.locator(".cw-fit").inner_text()
    assert before.split(" of weights")[0] == after.split(" of weights")[0]
    calculator.locator(SELECTS).nth(2).select_option(label="4 bits (q4_0)")
    assert "4.52 GB of weights" in calculator.locator(".cw-fit").inner_text()


def test_a_model_of_your_own_starts_as_the_last_one(calculator):
    assert not calculator.locator(".cw-own").is_visible()
    choose(calculator, "gpt-oss-20b")
    before = readings(calculator)
    choose(calculator, "your own")
    assert calculator.locator(".cw-own").is_visible()
    values = [box.input_value() for box in calculator.locator(OWN).all()]
    assert values == [
        *("24", "12", "0", "8", "64", "64", "128", "2048", "20.91")
    ]
    assert readings(calculator)["a sequence, GB"] == before["a sequence, GB"]
    calculator.get_by_label("KV heads").fill("16")
    assert said(calculator).startswith("A token takes 98,304 bytes.")


def test_a_latent_vector_and_a_state_of_your_own(calculator):
    choose(calculator, "your own")
    for label, value in (
        ("Layers", "61"),
        ("KV heads", "1"),
        ("Width of a key", "576"),
        ("Width of a value", "0"),
    ):
        calculator.get_by_label(label, exact=True).fill(value)
    assert "A token takes 70,272 bytes." in said(calculator)
    calculator.get_by_label("Layers with a state").fill("36")
    assert said(calculator).startswith(
        "A token takes 28,800 bytes, a sequence 75.5 MB besides."
    )


@pytest.mark.parametrize("value", ["", "0", "2.5", "-1", "9999"])
def test_a_field_out_of_range_is_said_and_nothing_is_computed(
    calculator, value
):
    choose(calculator, "your own")
    calculator.get_by_label("Layers", exact=True).fill(value)
    assert said(calculator) == (
        "A field is empty or out of its range, or the layers are too few."
    )
    assert not calculator.locator(".cw-panels").is_visible()
    calculator.get_by_label("Layers", exact=True).fill("32")
    assert calculator.locator(".cw-panels").is_visible()


def test_more_layers_with_a_window_or_a_state_than_layers_are_refused(
    calculator,
):
    choose(calculator, "your own")
    calculator.get_by_label("Layers with a window").fill("20")
    calculator.get_by_label("Layers with a state").fill("12")
    assert calculator.locator(".cw-panels").is_visible()
    calculator.get_by_label("Layers with a state").fill("13")
    assert said(calculator).endswith("the layers are too few.")
    assert not calculator.locator(".cw-panels").is_visible()


def test_every_model_can_be_made_the_readers_own(calculator):
    for model in MODELS:
        choose(calculator, model)
        choose(calculator, "your own")
        assert calculator.locator(".cw-panels").is_visible(), model
