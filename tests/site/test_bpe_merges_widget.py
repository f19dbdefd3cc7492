"""The merges of the reader's own text, in a real browser, from file://."""

from __future__ import annotations

import random
import unicodedata
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

import pytest

from cutaway.book.merge_ladder import merge_figure, merge_trace
from cutaway.book.token_steps import visible
from cutaway.tokenizer import (
    BYTE_TO_SYMBOL,
    Tokenizer,
    TokenizerSpec,
    merge_steps,
    to_bytes,
    to_symbols,
)
from cutaway.weights import GGUFFile, fetch
from oracles.nasty_text import CURATED, random_texts
from sitebook.widget_pages import (
    check_barriers,
    check_dark,
    check_letters,
    check_replaced,
    check_targets,
    check_width,
)

pytestmark = [pytest.mark.browser, pytest.mark.model]

EXAMPLES = ["tokenization", "In 2024, don't", "naïve café 🙂", "  two  spaces"]
NUM_MERGES = 8000


@pytest.fixture(scope="module")
def real() -> Tokenizer:
    with GGUFFile(fetch()) as file:
        return Tokenizer.from_gguf(file.metadata)


@pytest.fixture(scope="module")
def fewer(real) -> Tokenizer:
    """The model's tokenizer with its first merges only."""
    merges = real.spec.merges[:NUM_MERGES]
    symbols = [real.id_to_token(i) for i in real._vocab.byte_ids if i]
    tokens = [*symbols, *(merge.replace(" ", "") for merge in merges)]
    return Tokenizer(
        TokenizerSpec(
            tokens=tokens, kinds=[1] * len(tokens), merges=merges, pre="smollm"
        )
    )


@pytest.fixture(scope="module")
def page_file(widget_page, real) -> Path:
    return widget_page(
        "own-merges",
        merge_trace(real, NUM_MERGES, EXAMPLES),
        widget="bpe-merges",
        fig=merge_figure(real.merge_steps("tokenization")),
        alt="The tokens of a word after each merge, one row a step.",
        caption="Type <your> own text.",
    )


@pytest.fixture
def tab(open_page, page_file):
    return open_page(page_file, viewport={"width": 1000, "height": 800})


def texts() -> list[str]:
    """Texts whose characters every library of the day knows."""
    new = frozenset(
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) == "Cn"
    )
    digits = random.Random(3)
    noise = [
        "".join(digits.choices("0123 \n\t'sStT.,é\x85\ufeff\xa0", k=14))
        for _ in range(60)
    ]
    short = [text for text in CURATED if len(text) <= 120]
    kept = [text for text in short if new.isdisjoint(text)]
    return [*kept, *random_texts(200, 21, new), *noise]


SEQUENCE = """texts => {
  const { cut, symbols, ranksOf, mergesOf, tokensAfter, visible } =
    window.cutaway.bpe;
  const data = JSON.parse(
    document.querySelector("script[data-widget]").textContent);
  const ranks = ranksOf(data.merges.split("\\n"));
  return texts.map(text => {
    const words = cut(text);
    const merges = mergesOf(words, ranks);
    const last = tokensAfter(words, merges, merges.length);
    return { words, merges, last, shown: last.flat().map(visible) };
  });
}"""


def test_cuts_and_merges_equal_the_package_on_hundreds_of_texts(tab, fewer):
    tried = texts()
    assert len(tried) > 350
    merged = 0
    for text, got in zip(tried, tab.evaluate(SEQUENCE, tried), strict=True):
        words = fewer.pretokenize(text)
        assert got["words"] == words, ascii(text)
        expected = [encoded(fewer, word) for word in words]
        assert got["last"] == expected, ascii(text)
        flat = [token for word in expected for token in word]
        assert got["shown"] == [visible(to_bytes(token)) for token in flat]
        merged += check_order(words, got["merges"], fewer)
    assert merged > 1500


def encoded(tokenizer: Tokenizer, word: str) -> list[str]:
    """The tokens of a word; a byte without a token stands alone."""
    lacking = tokenizer.missing_bytes
    runs: list[list[int]] = [[]]
    for byte in word.encode():
        if byte in lacking:
            runs += [[byte], []]
        else:
            runs[-1].append(byte)
    tokens: list[str] = []
    for run in filter(None, runs):
        symbols = to_symbols(bytes(run))
        if run[0] in lacking:
            tokens.append(symbols)
        else:
            tokens += list(slow_steps(symbols, tokenizer))[-1]
    return tokens


def slow_steps(symbols: str, tokenizer: Tokenizer):
    """Merges as in the package, on symbols that may be half a character."""
    return merge_steps(symbols, table_of(tokenizer))


@cache
def table_of(tokenizer: Tokenizer) -> dict:
    pairs = [tuple(line.split(" ")) for line in tokenizer.spec.merges]
    return {pair: (rank, "".join(pair)) for rank, pair in enumerate(pairs)}


def check_order(words, merges, tokenizer) -> int:
    """Each merge is the best one of the whole text at its time."""
    ranks = {line: rank for rank, line in enumerate(tokenizer.spec.merges)}
    now = [list(to_symbols(word.encode())) for word in words]
    for merge in merges:
        best = min(
            (ranks[f"{left} {right}"], word, place)
            for word, tokens in enumerate(now)
            for place, (left, right) in enumerate(pairwise(tokens))
            if f"{left} {right}" in ranks
        )
        assert best == (merge["rank"], merge["word"], merge["place"])
        place = merge["place"]
        joined = merge["left"] + merge["right"]
        assert "".join(now[merge["word"]][place : place + 2]) == joined
        now[merge["word"]][place : place + 2] = [joined]
    return len(merges)


def test_whole_words_are_merged_as_the_package_merges_them(tab, fewer):
    for text in ("Hello, world! naïve", "tokenization", "I'll don't  go"):
        [got] = tab.evaluate(SEQUENCE, [text])
        for index, word in enumerate(fewer.pretokenize(text)):
            steps = fewer.merge_steps(word)
            mine = [m for m in got["merges"] if m["word"] == index]
            assert len(mine) == len(steps) - 1
            assert got["last"][index] == steps[-1]


def test_the_symbols_of_the_bytes_are_the_packages(tab):
    got = tab.evaluate(
        "() => [...Array(0x800).keys()].flatMap(code => "
        "window.cutaway.bpe.symbols(String.fromCodePoint(code)))"
    )
    expected = [
        BYTE_TO_SYMBOL[byte] for code in range(0x800)
        for byte in chr(code).encode()
    ]  # fmt: skip
    assert got == expected


def state(tab) -> dict:
    return tab.evaluate(
        """() => {
          const all = s => [...document.querySelectorAll(s)];
          return {
            words: all(".cw-merge-word").map(word =>
              [...word.children].map(token => token.textContent)),
            fresh: all(".is-new").map(n => n.textContent),
            missing: all(".is-missing").map(n => n.textContent),
            slider: Number(document.querySelector("[type=range]").value),
            count: document.querySelector(".cw-count").textContent,
            said: document.querySelector(".cw-said").textContent,
            off: all(".cw-nav").map(n => n.disabled),
          };
        }"""
    )


def write(tab, text: str) -> None:
    tab.get_by_role("textbox", name="Your text").fill(text)


def test_the_widget_replaces_the_picture(tab, page_file, open_page):
    check_replaced(tab, page_file, open_page)
    assert tab.locator("figcaption").inner_text() == "Type <your> own text."


def test_it_starts_with_the_bytes_of_the_first_example(tab):
    now = state(tab)
    assert now["words"] == [list("tokenization")]
    assert now["off"] == [True, False]
    assert now["said"].startswith("No merge yet")
    assert "12 bytes are 12 tokens." in now["said"]


def test_each_step_shows_the_tokens_of_that_step(tab, fewer):
    steps = fewer.merge_steps("tokenization")
    forth = tab.get_by_role("button", name="Next merge")
    for number, step in enumerate(steps[1:], start=1):
        forth.click()
        now = state(tab)
        assert now["words"] == [step]
        assert now["slider"] == number
        assert now["count"] == f"{number} / {len(steps) - 1}"
        [fresh] = now["fresh"]
        assert fresh in step
        assert f"becomes {fresh}." in now["said"]
    assert now["off"] == [False, True]
    tab.get_by_role("button", name="One merge back").click()
    assert state(tab)["words"] == [steps[-2]]


def test_typing_shows_the_tokens_at_once(tab, fewer):
    for text in ("Hello, world!", " the the", "naïve 🙂 12", ""):
        write(tab, text)
        expected = [
            [visible(to_bytes(token)) for token in encoded(fewer, word)]
            for word in fewer.pretokenize(text)
        ]
        now = state(tab)
        assert now["words"] == expected
        number = sum(map(len, expected))
        size = len(text.encode())
        assert f"{size} bytes are {number} tokens." in now["said"]


def test_arrows_in_the_text_field_move_its_caret_only(tab):
    write(tab, "the then")
    before = state(tab)
    tab.get_by_role("textbox").focus()
    for key in ("ArrowLeft", "Home", "ArrowRight"):
        tab.keyboard.press(key)
    assert state(tab) == before


@pytest.mark.parametrize(
    "target", ["[type=range]", ".cw-play", ".cw-nav >> nth=1"]
)
def test_arrow_keys_step_once_wherever_else_the_focus_is(tab, target):
    tab.locator(target).focus()
    for key, step in (
        ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0)
    ):  # fmt: skip
        tab.keyboard.press(key)
        assert state(tab)["slider"] == step


def test_a_byte_without_a_token_is_named(tab):
    write(tab, "a\x04b")
    now = state(tab)
    assert now["missing"] == ["⟨4⟩"]
    assert "no token for the byte 04: the package refuses" in now["said"]
    write(tab, "\U00050000")
    assert state(tab)["missing"] == ["⟨F1⟩"]


def test_text_is_never_markup(tab):
    write(tab, "<b>x</b>")
    assert tab.locator(".cw b").count() == 0
    assert "".join(chain.from_iterable(state(tab)["words"])) == "<b>x</b>"


def test_an_example_starts_over_with_its_bytes(tab):
    tab.locator(".cw-chip").nth(2).click()
    now = state(tab)
    assert now["slider"] == 0
    assert tab.get_by_role("textbox").input_value() == "naïve café 🙂"
    assert now["words"][2] == ["␣", "⟨F0⟩", "⟨9F⟩", "⟨99⟩", "⟨82⟩"]


def test_play_walks_to_the_end_and_at_once_with_reduced_motion(
    open_page, page_file, tab
):
    tab.get_by_role("button", name="Play").click()
    assert state(tab)["off"] == [False, True]
    moving = open_page(page_file, reduced_motion="no-preference")
    moving.get_by_role("textbox").fill("the")
    moving.get_by_role("button", name="Play").click()
    assert moving.get_by_role("button", name="Pause").count() == 1
    moving.get_by_role("button", name="Play").wait_for(timeout=8000)
    assert state(moving)["words"] == [["the"]]


def test_a_text_of_200_characters_is_merged_in_no_time(tab):
    milliseconds = tab.evaluate(
        """() => {
          const input = document.querySelector("textarea");
          input.value = "the quick brown fox ".repeat(10);
          const start = performance.now();
          input.dispatchEvent(new Event("input"));
          return performance.now() - start;
        }"""
    )
    assert milliseconds < 1000


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_overflows(open_page, page_file, width):
    tab = open_page(page_file, viewport={"width": width, "height": 800})
    for text in ("a" * 200, "!?" * 100, "字" * 60, "ab " * 60, "-" * 200):
        write(tab, text)
        check_width(tab, width)
        if tab.locator("[type=range]").is_enabled():
            tab.locator("[type=range]").fill("0")
        check_width(tab, width)
    check_letters(tab)


def test_touch_targets_are_at_least_40_pixels(open_page, page_file):
    tab = check_targets(open_page, page_file)
    tab.locator(".cw-nav").nth(1).tap()
    assert state(tab)["slider"] == 1


def test_axe_finds_no_barrier_in_light_and_dark(browser, page_file):
    check_barriers(browser, page_file, lambda tab: write(tab, "the a\x04b"))


def test_dark_mode_changes_the_colours(tab):
    check_dark(tab)
