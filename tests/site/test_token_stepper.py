"""The stepper through an answer, in a real browser, from file://."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from bookcheck.site_visit import follow
from cutaway.book import trace
from sitebook.widget_pages import (
    check_barriers,
    check_dark,
    check_letters,
    check_replaced,
    check_targets,
    check_width,
)

pytestmark = pytest.mark.browser

TOKENS = ["␣The", "</script>", "<|im_end|>", "␣", "🙂", "⟨F0 9F⟩", "↵"]
LAYERS = 30


def make_trace(tokens=TOKENS) -> dict:
    """A trace such as token_steps returns, with awkward tokens."""
    rng = np.random.default_rng(7)
    steps = []
    for number, token in enumerate(tokens):
        weights = np.sort(rng.exponential(1, 5) ** 3)[::-1]
        probs = 0.99 * weights / weights.sum()
        rivals = [token, *[f"␣other{i}" for i in range(4)]]
        top = [
            {"token": t, "id": 10 * number + i, "p": float(f"{p:.3g}")}
            for i, (t, p) in enumerate(zip(rivals, probs, strict=True))
        ]
        norms = np.exp(rng.uniform(0.9, 6.5, LAYERS + 1))
        steps.append({**top[0], "top": top, "norms": norms.tolist()})
    return {
        "num_prompt_tokens": 38,
        "prompt_tail": ["?", "<|im_end|>", "↵", "<b>bold</b>"],
        "steps": steps,
    }


@pytest.fixture(scope="module")
def page_file(widget_page) -> Path:
    """The page that emit would put on the site, beside script and style."""
    return widget_page(
        "answer-steps",
        make_trace(),
        widget="token-stepper",
        fig=trace.token_figure(make_trace(["A"] * len(TOKENS))),
        alt="Each token of the answer with its probability and lengths.",
        caption="Step through <the> answer.",
    )


@pytest.fixture
def tab(open_page, page_file):
    return open_page(page_file, viewport={"width": 1000, "height": 800})


def state(tab) -> dict:
    """Return what the widget shows now."""
    return tab.evaluate(
        """() => {
          const all = s => [...document.querySelectorAll(s)];
          return {
            current: all(".cw-chip").findIndex(
              chip => chip.getAttribute("aria-current") === "step"),
            read: all(".cw-chip.is-read").length,
            slider: Number(document.querySelector(".cw input").value),
            value: document.querySelector(".cw input")
              .getAttribute("aria-valuetext"),
            count: document.querySelector(".cw-count").textContent,
            names: all(".cw-bars .cw-token").map(n => n.textContent),
            values: all(".cw-value").map(n => n.textContent),
            widths: all(".cw-bar").map(n => parseFloat(n.style.width)),
            chosen: all(".cw-bars li").map(
              n => n.classList.contains("is-chosen")),
            dots: all(".cw-dot").map(n => Number(n.getAttribute("cy"))),
            said: document.querySelector(".cw-said").textContent,
            off: all(".cw-nav").map(n => n.disabled),
          };
        }"""
    )


def test_the_widget_replaces_the_picture(tab, page_file, open_page):
    check_replaced(tab, page_file, open_page)
    assert (
        tab.locator("figcaption").inner_text() == "Step through <the> answer."
    )


def test_tokens_are_text_never_markup(tab):
    assert tab.locator(".cw-chip").all_text_contents() == TOKENS
    assert tab.locator(".cw b").count() == 0
    row = tab.locator(".cw-row").first
    assert row.locator("code").last.text_content() == "<b>bold</b>"
    assert "… 34 more" in row.inner_text()


def test_next_and_previous_walk_through_the_answer(tab):
    back = tab.get_by_role("button", name="Previous token")
    forth = tab.get_by_role("button", name="Next token")
    last = len(TOKENS) - 1
    assert state(tab)["off"] == [True, False]
    for number in range(1, last + 1):
        forth.click()
        assert state(tab)["current"] == number
        assert state(tab)["slider"] == number
        assert state(tab)["read"] == number
        assert state(tab)["count"] == f"{number + 1} / {last + 1}"
    assert state(tab)["off"] == [False, True]
    back.click()
    assert state(tab)["current"] == last - 1


def test_the_focus_is_not_lost_at_the_ends(tab):
    tab.get_by_role("button", name="Next token").focus()
    for _ in TOKENS[1:]:
        tab.keyboard.press("Enter")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert tab.evaluate(focused) == "Previous token"


def test_the_slider_shows_its_step(tab):
    slider = tab.get_by_role("slider", name="Token of the answer")
    slider.fill("4")
    assert state(tab)["current"] == 4
    assert state(tab)["value"] == f"Token 5 of {len(TOKENS)}: 🙂"


def test_a_click_on_a_token_goes_there(tab):
    tab.locator(".cw-chip").nth(3).click()
    assert state(tab)["current"] == 3


@pytest.mark.parametrize(
    "target", [".cw input", ".cw-chip >> nth=0", ".cw-nav >> nth=1"]
)
def test_arrow_keys_step_once_wherever_the_focus_is(tab, target):
    tab.locator(target).focus()
    steps = [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1),
             ("End", len(TOKENS) - 1), ("ArrowRight", len(TOKENS) - 1),
             ("Home", 0), ("ArrowLeft", 0)]  # fmt: skip
    for key, expected in steps:
        tab.keyboard.press(key)
        assert state(tab)["current"] == expected, key


def test_arrow_keys_outside_the_widget_do_nothing(tab):
    tab.keyboard.press("ArrowRight")
    assert state(tab)["current"] == 0


def test_the_focus_follows_the_token(tab):
    tab.locator(".cw-chip").nth(2).focus()
    tab.keyboard.press("ArrowRight")
    tab.locator(".cw-chip").nth(2).focus()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.textContent") == TOKENS[2]


def test_every_step_shows_the_data_of_that_step(tab):
    """What JavaScript computes (percent, log scale) equals Python."""
    data = make_trace()
    norms = [n for step in data["steps"] for n in step["norms"]]
    low = math.floor(math.log10(min(norms)))
    high = math.ceil(math.log10(max(norms)))
    for number, step in enumerate(data["steps"]):
        tab.locator(".cw input").fill(str(number))
        seen = state(tab)
        assert seen["names"] == [t["token"] for t in step["top"]]
        assert seen["chosen"] == [True, False, False, False, False]
        for text, width, rival in zip(
            seen["values"], seen["widths"], step["top"], strict=True
        ):
            percent = 100 * rival["p"]
            shown = f"{percent:#.3g}".rstrip(".")
            assert text == f"{shown if percent >= 1e-3 else '< 0.001'} %"
            assert width == pytest.approx(percent, rel=1e-4)
        expected = [
            186 - 174 * (math.log10(n) - low) / (high - low)
            for n in step["norms"]
        ]
        assert seen["dots"] == pytest.approx(expected, abs=0.01)
        first, second = seen["values"][:2]
        assert seen["said"] == (
            f"Token {number + 1} of {len(TOKENS)}: the model has read "
            f"{38 + number} tokens and gives “{step['token']}” {first}, "
            f"then “{step['top'][1]['token']}” {second}."
        )


def test_the_sentence_is_announced(tab):
    assert tab.locator(".cw-said").get_attribute("aria-live") == "polite"
    label = tab.locator(".cw-chart").get_attribute("aria-label")
    assert label.startswith("Length of the residual vector:")


def test_with_reduced_motion_the_line_is_there_at_once(tab):
    before = state(tab)["dots"]
    after = tab.evaluate(
        """() => {
          document.querySelectorAll(".cw-nav")[1].click();
          return Number(document.querySelector(".cw-dot").getAttribute("cy"));
        }"""
    )
    assert after == state(tab)["dots"][0] != before[0]
    duration = "getComputedStyle(document.querySelector('.cw-bar'))"
    assert tab.evaluate(f"{duration}.transitionProperty") == "none"


def test_with_motion_the_line_glides_to_the_same_place(
    open_page, page_file, tab
):
    moving = open_page(page_file, reduced_motion="no-preference")
    for one in (tab, moving):
        for _ in range(3):
            one.get_by_role("button", name="Next token").click()
    moving.wait_for_timeout(500)
    assert state(moving)["dots"] == pytest.approx(state(tab)["dots"])


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_overflows(open_page, page_file, width):
    tab = open_page(page_file, viewport={"width": width, "height": 800})
    for number in range(len(TOKENS)):
        tab.locator(".cw input").fill(str(number))
        check_width(tab, width)
    check_letters(tab)


def test_touch_targets_are_at_least_40_pixels(open_page, page_file):
    tab = check_targets(open_page, page_file)
    tab.locator(".cw-chip").nth(2).tap()
    assert state(tab)["current"] == 2


def test_axe_finds_no_barrier_in_light_and_dark(browser, page_file):
    check_barriers(browser, page_file)


def test_dark_mode_changes_the_colours(tab):
    check_dark(tab)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ('data-widget="no-such"', "no widget no-such"),
        ('data-widget="token-stepper"', "token-stepper"),
    ],
)
def test_a_broken_trace_leaves_the_picture_and_is_reported(
    browser, page_file, script, says
):
    markup = re.sub(
        r'data-widget="token-stepper">.*?</script>',
        f"{script}>{{}}</script>",
        page_file.read_text("utf-8"),
    )
    broken = page_file.with_name("broken.html")
    broken.write_text(markup, encoding="utf-8")
    tab = browser.new_page()
    record = follow(tab)
    tab.goto(broken.as_uri())
    assert tab.locator(".cutaway-static svg").is_visible()
    assert tab.locator("[data-ready]").count() == 0
    assert any(says in line for line in record.console)
    tab.close()
