"""The controls that all steppers share, tried on a widget of three lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.book import figure

pytestmark = pytest.mark.browser

BUILD = """last => {
  const { stepper, el } = window.cutaway;
  const shown = el("output", { id: "shown" });
  window.seen = [];
  const steps = stepper({
    label: "Numbers",
    back: "One back", next: "One on", slider: "Number",
    above: [shown, el("textarea", { "aria-label": "Text" })],
    below: [el("select", { "aria-label": "Choice" },
      el("option", {}, "a"), el("option", {}, "b"))],
    pace: 60,
    show(step, focused) {
      shown.textContent = step;
      window.seen.push([step, focused ? focused.tagName : null]);
      return { said: `This is ${step}.`, ...window.extra };
    },
  });
  steps.reset(last);
  window.steps = steps;
  steps.node.id = "mine";
  document.querySelector("main").append(steps.node);
}"""


@pytest.fixture(scope="module")
def page_file(widget_page) -> Path:
    fig, ax = figure.subplots()
    ax.plot([1, 2], [1, 2])
    step = {"token": "a", "id": 1, "norms": [1, 20],
            "top": [{"token": "a", "id": 1, "p": 0.5}]}  # fmt: skip
    return widget_page(
        "steps",
        {"num_prompt_tokens": 1, "prompt_tail": ["x"], "steps": [step]},
        widget="token-stepper",
        fig=fig,
        alt="A line that stands for a picture.",
    )


@pytest.fixture
def tab(open_page, page_file):
    tab = open_page(page_file)
    tab.evaluate(BUILD, 4)
    return tab


def state(tab) -> dict:
    return tab.evaluate(
        """() => {
          const one = s => document.querySelector(`#mine ${s}`);
          return {
            step: Number(one("#shown").textContent),
            slider: Number(one("[type=range]").value),
            heard: one("[type=range]").getAttribute("aria-valuetext"),
            count: one(".cw-count").textContent,
            said: one(".cw-said").textContent,
            live: one(".cw-said").getAttribute("aria-live"),
            play: one(".cw-play").textContent,
            off: [...document.querySelectorAll("#mine :disabled")]
              .map(n => n.getAttribute("aria-label") || n.textContent),
          };
        }"""
    )


def test_the_first_step_is_shown_with_all_that_belongs_to_it(tab):
    assert state(tab) == {
        "step": 0,
        "slider": 0,
        "heard": "0 of 4",
        "count": "0 / 4",
        "said": "This is 0.",
        "live": "polite",
        "play": "Play",
        "off": ["One back"],
    }


def test_a_widget_may_word_the_place_itself(tab):
    tab.evaluate("window.extra = { count: 'C', value: 'V' }; steps.go(2)")
    now = state(tab)
    assert (now["count"], now["heard"], now["step"]) == ("C", "V", 2)


def test_steps_beyond_the_ends_are_the_ends(tab):
    tab.evaluate("steps.go(99)")
    assert (state(tab)["step"], state(tab)["off"]) == (4, ["One on"])
    tab.evaluate("steps.go(-1)")
    assert state(tab)["step"] == 0


def test_a_reset_sets_the_number_of_steps(tab):
    tab.evaluate("steps.reset(9, 7)")
    assert (state(tab)["count"], state(tab)["slider"]) == ("7 / 9", 7)
    tab.evaluate("steps.reset(0)")
    off = ["One back", "Number", "One on", "Play"]
    assert (state(tab)["count"], state(tab)["off"]) == ("0 / 0", off)
    tab.evaluate("steps.reset(1)")
    assert state(tab)["off"] == ["One back"]


def test_keys_step_and_hand_on_the_focus(tab):
    tab.locator("#mine .cw-play").focus()
    for key, step in (("ArrowRight", 1), ("End", 4), ("ArrowLeft", 3),
                      ("Home", 0)):  # fmt: skip
        tab.keyboard.press(key)
        assert state(tab)["step"] == step
    assert tab.evaluate("window.seen.at(-1)") == [0, "BUTTON"]
    tab.keyboard.press("Alt+ArrowRight")
    assert state(tab)["step"] == 0


@pytest.mark.parametrize("field", ["textarea", "select"])
def test_keys_in_a_field_stay_in_the_field(tab, field):
    tab.evaluate("steps.go(2)")
    tab.locator(f"#mine {field}").focus()
    for key in ("ArrowLeft", "ArrowRight", "Home", "End"):
        tab.keyboard.press(key)
    assert state(tab)["step"] == 2


def test_play_with_reduced_motion_shows_the_end_at_once(tab):
    tab.get_by_role("group", name="Numbers").get_by_text("Play").click()
    assert tab.evaluate("window.seen.map(s => s[0])") == [0, 4]
    assert state(tab)["play"] == "Play"


@pytest.fixture
def moving(open_page, page_file):
    tab = open_page(page_file, reduced_motion="no-preference")
    tab.evaluate(BUILD, 3)
    return tab


def test_play_walks_silently_and_says_the_last_step(moving):
    button = moving.locator("#mine .cw-play")
    button.click()
    assert (state(moving)["play"], state(moving)["live"]) == ("Pause", "off")
    moving.wait_for_function("window.seen.length === 4")
    assert moving.evaluate("window.seen.map(s => s[0])") == [0, 1, 2, 3]
    now = state(moving)
    assert (now["said"], now["live"]) == ("This is 3.", "polite")
    button.click()  # from the end, Play starts over
    moving.wait_for_function("window.seen.length === 8")
    assert moving.evaluate("window.seen.slice(4).map(s => s[0])") == [
        0,
        1,
        2,
        3,
    ]


def test_a_step_by_hand_and_pause_end_play(moving):
    moving.evaluate("steps.reset(50)")
    button = moving.locator("#mine .cw-play")
    for stop in (button.click, lambda: moving.evaluate("steps.go(5)")):
        button.click()
        assert state(moving)["play"] == "Pause"
        stop()
        now = state(moving)
        assert (now["play"], now["live"]) == ("Play", "polite")
        moving.wait_for_timeout(200)
        assert state(moving)["step"] == now["step"]
