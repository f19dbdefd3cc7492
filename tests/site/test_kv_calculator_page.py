"""The KV-cache calculator on the page: widths, keyboard, touch, barriers."""

from __future__ import annotations

import pytest

from sitebook.kv_calculator import SLIDERS, choose
from sitebook.widget_pages import (
    check_barriers,
    check_dark,
    check_letters,
    check_replaced,
    check_width,
)

pytestmark = pytest.mark.browser


def test_every_control_has_a_label_and_works_with_the_keyboard(calculator):
    for name in ("Model", "GPU", "Weights", "Cache"):
        assert calculator.get_by_label(name, exact=True).count() == 1
    batch = calculator.get_by_label("Sequences", exact=True)
    batch.focus()
    calculator.keyboard.press("ArrowRight")
    assert batch.get_attribute("aria-valuetext") == "2"
    ids = calculator.evaluate(
        "[...document.querySelectorAll('.cw [id]')].map(n => n.id)"
    )
    assert len(ids) == len(set(ids)) == 16
    assert [name for name in ids if " " in name] == []


def test_the_widget_replaces_the_picture(
    calculator, calculator_page, open_page
):
    check_replaced(calculator, calculator_page, open_page)


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_overflows_at_any_choice(open_page, calculator_page, width):
    calculator = open_page(
        calculator_page, viewport={"width": width, "height": 900}
    )
    sliders = calculator.locator(SLIDERS)
    for name, power in (("gpt2", "0"), ("llama-3.1-405b", "17")):
        choose(calculator, name)
        sliders.first.fill(power)
        sliders.nth(1).fill("10")
        check_width(calculator, width)
    choose(calculator, "your own")
    check_width(calculator, width)
    check_letters(calculator)


def test_touch_targets_are_at_least_40_pixels(open_page, calculator_page):
    calculator = open_page(
        calculator_page, viewport={"width": 390, "height": 900}, has_touch=True
    )
    choose(calculator, "your own")  # now every control is there
    for box in calculator.locator(".cw").locator("input, select").all():
        size = box.bounding_box()
        assert min(size["height"], size["width"]) >= 40


def test_axe_finds_no_barrier_in_light_and_dark(browser, calculator_page):
    check_barriers(browser, calculator_page)
    check_barriers(
        browser, calculator_page, prepare=lambda tab: choose(tab, "your own")
    )


def test_dark_mode_changes_the_colours(calculator):
    check_dark(calculator, ".cw-dot", "fill")
