"""The stepper through decoding with and without a cache, from file://."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cutaway.book.cache_steps import cache_figure
from sitebook.widget_pages import (
    check_barriers,
    check_dark,
    check_letters,
    check_replaced,
    check_targets,
    check_width,
)

pytestmark = pytest.mark.browser

PROMPT = 4
TOKENS = ["␣The", "</script>", "<b>", "␣", "⟨F0 9F⟩", "↵", "␣interesting", "."]
PASSES = len(TOKENS) - PROMPT


def make_trace() -> dict:
    """A trace such as cache_steps returns, with awkward tokens."""
    rng = np.random.default_rng(3)
    modes = {"cached": [], "uncached": []}
    for mode, passes in modes.items():
        sums = dict.fromkeys(("tokens", "kv", "flops"), 0)
        for number in range(PASSES):
            stop = PROMPT + number
            seen = stop - 1 if number else 0
            start = seen if mode == "cached" else 0
            read = int(rng.integers(1, 10**6)) if start else 0
            made = int(rng.integers(1, 10**6))
            sums["tokens"] += stop - start
            sums["kv"] += read
            sums["flops"] += int(10 ** rng.uniform(6, 12))
            one = {"start": start, "stop": stop, "seen": seen}
            passes.append({**one, "made": made, "read": read, **sums})
    return {"tokens": TOKENS, "prompt": PROMPT, **modes}


def amount(number: float, unit: str) -> str:
    """Three significant digits and a power of a thousand."""
    if unit == "":
        return str(number)
    power = 0
    while number >= 1000 and power < 4:
        number, power = number / 1000, power + 1
    text = f"{number:#.3g}".rstrip(".") if power else str(number)
    if "e" in text:
        return amount(1000 ** (power + 1), unit)
    return f"{text} {['', 'k', 'M', 'G', 'T'][power]}{unit}"


@pytest.fixture(scope="module")
def page_file(widget_page) -> Path:
    return widget_page(
        "cache-steps",
        make_trace(),
        widget="cache-stepper",
        fig=cache_figure(make_trace()),
        alt="Passes over tokens, without a cache and with one.",
    )


@pytest.fixture
def tab(open_page, page_file):
    return open_page(page_file, viewport={"width": 1000, "height": 900})


def state(tab) -> dict:
    """What the widget shows now."""
    return tab.evaluate(
        """() => {
          const all = s => [...document.querySelectorAll(s)];
          const columns = all(".cw-kv-head").length;
          const cells = all(".cw-kv > .cw-kv-cell");
          const kind = c => (c.className.match(/is-(new|again|read|gone)/)
            || ["", ""])[1];
          return {
            kinds: [0, 1, 2].map(row => cells
              .slice(row * columns, (row + 1) * columns).map(kind)),
            last: cells.map(c => c.classList.contains("is-last")).indexOf(true),
            next: all(".cw-kv-head").findIndex(
              h => h.classList.contains("is-next")),
            later: all(".cw-kv-head.is-later").length,
            pressed: all(".cw-modes button").map(
              b => b.getAttribute("aria-pressed")),
            values: all(".cw-value").map(n => n.textContent),
            widths: all(".cw-bar").map(n => parseFloat(n.style.width)),
            chosen: all(".cw-bars li").map(
              n => n.classList.contains("is-chosen")),
            said: document.querySelector(".cw-said").textContent,
            count: document.querySelector(".cw-count").textContent,
            label: document.querySelector(".cw-kv").getAttribute("aria-label"),
          };
        }"""
    )


def mode(tab, name):
    tab.locator(".cw-modes").get_by_text(name, exact=True).click()


def go(tab, step):
    tab.locator(".cw input").fill(str(step))


def test_the_widget_replaces_the_picture(tab, page_file, open_page):
    check_replaced(tab, page_file, open_page)


def test_tokens_are_text_never_markup(tab):
    assert tab.locator(".cw-kv-head").all_text_contents() == TOKENS
    assert tab.locator(".cw b").count() == 0


def test_with_a_cache_old_keys_are_read_and_old_queries_gone(tab):
    for step in range(PASSES):
        go(tab, step)
        stop = PROMPT + step
        start = stop - 1 if step else 0
        new, rest = ["new"] * (stop - start), [""] * (len(TOKENS) - stop)
        queries, keys, values = state(tab)["kinds"]
        assert queries == ["gone"] * start + new + rest
        assert keys == values == ["read"] * start + new + rest


def test_without_a_cache_all_but_one_are_computed_again(tab):
    mode(tab, "Without")
    for step in range(PASSES):
        go(tab, step)
        stop = PROMPT + step
        again = stop - 1 if step else 0
        line = ["again"] * again + ["new"] * (stop - again)
        line += [""] * (len(TOKENS) - stop)
        assert state(tab)["kinds"] == [line] * 3


def test_the_query_of_the_newest_token_gives_the_next(tab):
    for name in ("Without", "With a cache"):
        mode(tab, name)
        for step in range(PASSES):
            go(tab, step)
            seen = state(tab)
            # the marked query is not that of the token to come
            assert seen["last"] == PROMPT + step - 1
            assert seen["next"] == PROMPT + step
            assert seen["later"] == PASSES - 1 - step
            query, given = TOKENS[PROMPT + step - 1 : PROMPT + step + 1]
            assert seen["said"].endswith(
                f"The query of “{query}” gives “{given}”."
            )


def test_a_change_of_mode_keeps_the_pass(tab):
    go(tab, 2)
    assert state(tab)["pressed"] == ["true", "false"]
    mode(tab, "Without")
    seen = state(tab)
    assert (seen["pressed"], seen["count"]) == (["false", "true"], "3 / 4")
    assert seen["chosen"] == [False, True] * 3


def test_the_sentence_says_what_the_pass_does(tab):
    data = make_trace()
    go(tab, 0)
    made = amount(data["cached"][0]["made"], "B")
    assert state(tab)["said"].startswith(
        f"Pass 1 computes the 4 tokens of the prompt and adds {made} to "
        "the cache. "
    )
    go(tab, 2)
    one = data["cached"][2]
    assert state(tab)["said"].startswith(
        f"Pass 3 computes “↵” alone, reads {amount(one['read'], 'B')} of "
        f"keys and values of 5 earlier tokens and adds "
        f"{amount(one['made'], 'B')} to the cache. "
    )
    assert state(tab)["label"] == (
        "5 tokens read from the cache, 0 computed again, "
        "1 computed for the first time."
    )
    mode(tab, "Without")
    assert state(tab)["said"].startswith(
        "Pass 3 computes all 6 tokens, 5 of them again, and keeps nothing. "
    )
    assert state(tab)["label"] == (
        "0 tokens read from the cache, 5 computed again, "
        "1 computed for the first time."
    )
    go(tab, 0)
    assert state(tab)["said"].startswith(
        "Pass 1 computes the 4 tokens of the prompt and keeps nothing. "
    )


def test_every_sum_is_that_of_the_data(tab):
    data = make_trace()
    for step in range(PASSES):
        go(tab, step)
        seen = iter(zip(*(state(tab)[k] for k in ("values", "widths")),
                        strict=True))  # fmt: skip
        for key, unit in (("tokens", ""), ("flops", "FLOP"), ("kv", "B")):
            most = max(data[m][-1][key] for m in ("cached", "uncached"))
            for which in ("cached", "uncached"):
                value, width = next(seen)
                total = data[which][step][key]
                assert value == amount(total, unit)
                assert width == pytest.approx(100 * total / most, rel=1e-4)


def test_numbers_read_as_in_python(tab):
    rng = np.random.default_rng(0)
    numbers = [0, 1, 999, 1000, 1001, 999_499, 999_500, 999_999, 10**12]
    numbers += [int(10**x) for x in rng.uniform(0, 14, 300)]
    texts = tab.evaluate(
        "numbers => numbers.map(n => window.cutaway.kv.amount(n, 'B'))",
        numbers,
    )
    for number, text in zip(numbers, texts, strict=True):
        want = amount(number, "B")
        # a tie may go either way: 1.125 is 1.12 here and 1.13 there
        digits = [float(t.split()[0]) for t in (text, want)]
        assert text.split()[1:] == want.split()[1:]
        assert digits[0] == pytest.approx(digits[1], rel=0.0101)
        assert len(text.split()[0]) == len(want.split()[0])
    assert tab.evaluate("cutaway.kv.amount(46080, 'B')") == "46.1 kB"
    assert tab.evaluate("cutaway.kv.amount(999600, 'B')") == "1.00 MB"


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_overflows(open_page, page_file, width):
    tab = open_page(page_file, viewport={"width": width, "height": 900})
    for name in ("With a cache", "Without"):
        mode(tab, name)
        for step in range(PASSES):
            go(tab, step)
            check_width(tab, width)
    check_letters(tab)


def test_touch_targets_are_at_least_40_pixels(open_page, page_file):
    tab = check_targets(open_page, page_file)
    tab.get_by_role("button", name="Without").tap()
    assert state(tab)["pressed"] == ["false", "true"]


def test_axe_finds_no_barrier_in_light_and_dark(browser, page_file):
    for name in ("With a cache", "Without"):
        check_barriers(
            browser,
            page_file,
            lambda tab, name=name: (go(tab, 2), mode(tab, name)),
        )


def test_dark_mode_changes_the_colours(tab):
    check_dark(tab)
