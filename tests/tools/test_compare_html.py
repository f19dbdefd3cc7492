"""Numeric comparison of HTML, SVG, JSON and whole outputs."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pytest

from bookcheck.compare_html import attributes, html_agrees, html_difference
from bookcheck.compare_outputs import differences, json_agrees, reconcile
from cutaway.book import figure


def svg(d: str = "M 1 2 L 3 4", style: str = "stroke: #0072b2") -> str:
    return (
        '<svg role="img" aria-label="A line of 37 tokens." '
        f'viewBox="0 0 374.4 216"><path d="{d}" style="{style}"/>'
        '<g transform="translate(10.5 20.25) rotate(-90)">'
        '<text x="4.5">0.25</text></g></svg>'
    )


SAME = [
    ("coordinate by 0.05", svg("M 1 2 L 3 4"), svg("M 1.05 2 L 3 3.95")),
    ("colour by 2", svg(), svg(style="stroke: #0274b0")),
    ("shift by 0.05", svg(), svg().replace("20.25", "20.30")),
    ("text beside tags", "<p>loss 1.234</p>", "<p>loss  1.235</p>"),
    ("attribute", '<i style="width: 33.33%">', '<i style="width: 33.34%">'),
    ("blanks between tags", "<p>a</p>\n<p>b</p>", "<p>a</p> <p>b</p>"),
    (
        "trace",
        '<script type="application/json">{"p": [0.12345, 1e-05]}</script>',
        '<script type="application/json">{"p": [0.12346, 1e-05]}</script>',
    ),
]

DIFFERENT = [
    ("coordinate by 0.06", svg("M 1 2 L 3 4"), svg("M 1.06 2 L 3 4")),
    ("point more", svg("M 1 2 L 3 4"), svg("M 1 2 L 3 4 L 5 6")),
    ("curve for a line", svg("M 1 2 L 3 4"), svg("M 1 2 Q 3 4")),
    ("colour by 3", svg(), svg(style="stroke: #0375b2")),
    ("colour by name", svg(), svg(style="stroke: red")),
    ("width of a stroke", svg(style="stroke-width: 1"),
     svg(style="stroke-width: 2")),
    ("shift by 0.1", svg(), svg().replace("20.25", "20.35")),
    ("turn", svg(), svg().replace("rotate(-90)", "rotate(-89)")),
    ("scale", svg().replace("translate(10.5 20.25)", "scale(1.00)"),
     svg().replace("translate(10.5 20.25)", "scale(1.04)")),
    ("number in the alt text", svg(), svg().replace("37", "38")),
    ("tick label", svg(), svg().replace("0.25<", "0.26<")),
    ("tag", "<b>37</b>", "<i>37</i>"),
    ("class", '<b class="a">1</b>', '<b class="b">1</b>'),
    ("missing attribute", '<b id="a">', "<b>"),
    ("text", "<p>37</p>", "<p>38</p>"),
    ("element more", "<p>a</p>", "<p>a</p><p>b</p>"),
    ("last digit of shown source",
     '<div class="cutaway-source"><pre>arXiv 2309.06180</pre></div>',
     '<div class="cutaway-source"><pre>arXiv 2309.06181</pre></div>'),
    ("coordinate outside an svg", '<td width="1.0">', '<td width="1.04">'),
    (
        "trace",
        '<script type="application/json">{"p": [0.12345]}</script>',
        '<script type="application/json">{"p": [0.12545]}</script>',
    ),
    (
        "integer in a trace",
        '<script type="application/json">{"id": 504}</script>',
        '<script type="application/json">{"id": 505}</script>',
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("test", "ref"), [pair for _, *pair in SAME], ids=[n for n, *_ in SAME]
)
def test_what_nobody_sees_agrees(test, ref):
    assert html_agrees(test, ref)
    assert html_agrees(ref, test)


@pytest.mark.parametrize(
    ("test", "ref"),
    [pair for _, *pair in DIFFERENT],
    ids=[name for name, *_ in DIFFERENT],
)
def test_real_differences_are_seen(test, ref):
    assert not html_agrees(test, ref)
    assert not html_agrees(ref, test)
    assert html_difference(test, ref)


def plot(data: np.ndarray) -> str:
    fig, ax = figure.subplots(height_in=2.5)
    ax.plot(data)
    ax.set_ylim(0, 1.2)
    return figure.render(fig, name="data", alt="A noisy curve below one.")


def test_plot_of_data_perturbed_by_3e_5_agrees_and_by_one_per_cent_not():
    data = np.random.default_rng(0).random(200).astype(np.float32)
    stored = plot(data)
    assert plot(data * np.float32(1 + 3e-5)) != stored
    assert html_agrees(plot(data * np.float32(1 + 3e-5)), stored)
    assert not html_agrees(plot(data * np.float32(1.01)), stored)


def test_one_wrong_point_of_a_plot_is_seen():
    data = np.linspace(0, 1, 100)
    stored = plot(data)
    data[50] += 0.01
    assert not html_agrees(plot(data), stored)


@pytest.mark.parametrize("factor", [1 + 3e-5, 1.01])
def test_trace_of_five_digits_is_compared_as_numbers(factor):
    rng = np.random.default_rng(3)

    def page(scale: float) -> str:
        probs = [float(f"{p * scale:.5g}") for p in rng_values]
        trace = json.dumps({"steps": [{"id": 504, "p": probs}]})
        return f'<script type="application/json">{trace}</script>'

    rng_values = rng.random(50)
    assert html_agrees(page(factor), page(1)) == (factor < 1.001)


def test_a_greater_sign_in_a_quoted_value_does_not_end_the_tag():
    name, given = attributes('<svg aria-label="a > b" x="1"/>')
    assert (name, given) == ("svg", {"aria-label": "a > b", "x": "1"})
    assert not html_agrees('<b title="a > 1">', '<b title="a > 2">')


JSON_SAME = [
    (0.123456, 0.123457),
    ([1, 2.0], [1, 2.0]),
    ({"a": float("nan")}, {"a": float("nan")}),
    (float("inf"), float("inf")),
]
JSON_DIFFERENT = [
    (1, 2),
    (1, True),
    (0.1, 0.2),
    (1.0, 1),
    ([1.0], [1.0, 2.0]),
    ({"a": 1}, {"b": 1}),
    ("1.2345", "1.2346"),
    (float("inf"), float("nan")),
]


@pytest.mark.parametrize(("test", "ref"), JSON_SAME)
def test_json_values_agree(test, ref):
    assert json_agrees(test, ref)


@pytest.mark.parametrize(("test", "ref"), JSON_DIFFERENT)
def test_json_values_differ(test, ref):
    assert not json_agrees(test, ref)


def outputs() -> list[dict]:
    return [
        {"output_type": "stream", "name": "stdout", "text": "a 1.2345\n"},
        {
            "output_type": "display_data",
            "data": {"text/html": "<b>0.5678</b>", "text/plain": "x 0.5678"},
            "metadata": {},
        },
        {"output_type": "error", "ename": "E", "evalue": "got 1.2345"},
    ]


def test_reconcile_takes_over_what_agrees_and_leaves_its_input():
    stored = outputs()
    fresh = json.loads(re.sub("345", "346", json.dumps(stored)))
    before = copy.deepcopy(fresh)
    assert reconcile(fresh, stored) == stored
    assert fresh == before
    assert differences(fresh, stored) == []


def test_reconcile_keeps_what_differs_and_says_where():
    stored = outputs()
    fresh = copy.deepcopy(stored)
    fresh[1]["data"]["text/html"] = "<b>0.5778</b>"
    assert reconcile(fresh, stored) == fresh
    [said] = differences(fresh, stored)
    assert said.startswith("text/html: ")
    assert "0.5678" in said
    assert "0.5778" in said


def test_an_output_more_is_named():
    stored = outputs()
    assert differences([*stored, stored[0]], stored) == [
        "stdout: stored 1 outputs, now 2"
    ]
