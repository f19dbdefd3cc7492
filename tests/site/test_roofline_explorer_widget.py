"""The roofline explorer in a real browser, against the package."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from cutaway.book import figure
from cutaway.book.roofline_explorer import (
    MAX_BATCH_SIZE,
    MAX_KV_LEN,
    explorer_data,
    is_dense,
)
from cutaway.roofline import (
    CONFIGS,
    HARDWARE,
    batch_counts,
    critical_batch,
    operating_point,
    predict_time,
    resident_bytes,
)
from sitebook.widget_pages import (
    check_barriers,
    check_dark,
    check_letters,
    check_replaced,
    check_targets,
    check_width,
)

pytestmark = pytest.mark.browser

DATA = explorer_data("llama-3.1-8b", "h100-sxm", batch_size=16)
MODELS = [entry["name"] for entry in DATA["models"]]
MACHINES = list(HARDWARE)
SELECTS = ".cw-field select"
SLIDERS = ".cw-field input"


@pytest.fixture(scope="module")
def page_file(widget_page) -> Path:
    fig, ax = figure.subplots()
    ax.plot([1, 2], [1, 2])
    return widget_page(
        "explorer",
        DATA,
        widget="roofline-explorer",
        fig=fig,
        alt="A roof with one point for prefill and one for decode under it.",
    )


@pytest.fixture
def tab(open_page, page_file):
    return open_page(page_file, viewport={"width": 1000, "height": 900})


def random_cases(count):
    """Draw (model, machine, format, sequences, new tokens, context)."""
    rng = np.random.default_rng(11)
    cases = []
    for number in range(count):
        new = 1 if number % 2 else int(2 ** rng.uniform(0, 17))
        cases.append(
            [
                int(rng.integers(len(MODELS))),
                int(rng.integers(len(MACHINES))),
                int(rng.integers(len(DATA["formats"]))),
                int(2 ** rng.uniform(0, 10)),
                new,
                int(2 ** rng.uniform(0, 17)) - 1,
            ]
        )
    return cases


def in_python(case):
    """What the package says to a case."""
    model, machine, number_format, sequences, new, context = case
    config = CONFIGS[MODELS[model]]
    gpu = HARDWARE[MACHINES[machine]]
    chosen = DATA["formats"][number_format]
    dtype = next(name for name in chosen["peaks"] if name in gpu.peak_flops)
    sizes = {
        "weight_bytes_per_param": chosen["weight"],
        "kv_bytes_per_element": chosen["cache"],
    }
    point = operating_point(
        config, gpu, [(new, context)] * sequences, dtype=dtype, **sizes
    )
    batch = critical_batch(config, gpu, context, dtype=dtype, **sizes)
    held = resident_bytes(config, sequences, context + new, **sizes)
    return point, batch, held


SCRIPT = """
cases => {
  const data = JSON.parse(
    document.querySelector("script[data-widget]").textContent);
  const m = window.cutaway.widgets["roofline-explorer"].model;
  return cases.map(([a, b, c, sequences, fresh, context]) => {
    const [model, machine, format] =
      [data.models[a], data.machines[b], data.formats[c]];
    const point = m.operatingPoint(
      model, machine, format, sequences, fresh, context);
    const held = m.resident(model, format, sequences, context + fresh);
    return [point, m.criticalBatch(model, machine, format, context),
            held.weights + held.caches];
  });
}
"""


def test_the_formulas_are_those_of_the_package(tab):
    cases = random_cases(400)
    for case, (point, batch, held) in zip(
        cases, tab.evaluate(SCRIPT, cases), strict=True
    ):
        mine, least, kept = in_python(case)
        assert point["tokens"] == mine.num_tokens, case
        assert point["flops"] == pytest.approx(mine.flops, rel=1e-12)
        assert point["bytes"] == pytest.approx(mine.moved_bytes, rel=1e-12)
        assert point["seconds"] == pytest.approx(mine.time_s, rel=1e-12)
        assert point["bound"] == mine.bound, case
        assert (point["waiting"] < 0.5) == (mine.bound == "compute"), case
        assert point["intensity"] == pytest.approx(mine.intensity, rel=1e-12)
        assert batch == least, case
        assert held == pytest.approx(kept, rel=1e-12)
    batches = [in_python(case)[1] for case in cases]
    assert batches.count(None) > 20  # both answers occur
    assert sum(batch is not None for batch in batches) > 20


def test_all_dense_models_and_all_machines_can_be_chosen(tab):
    options = [
        box.locator("option").all_text_contents()
        for box in tab.locator(SELECTS).all()
    ]
    assert options[0] == [name for name in CONFIGS if is_dense(CONFIGS[name])]
    assert len(options[0]) >= 12
    assert options[1] == [machine.name for machine in HARDWARE.values()]
    assert len(options[2]) == 3


def readings(tab) -> dict:
    """The table as text, by row."""
    return {
        row.locator("th").inner_text(): row.locator("td").all_text_contents()
        for row in tab.locator(".cw-table tbody tr").all()
    }


def waiting_share(new, sequences, context):
    """The time that operations wait for memory, as the table prints it."""
    config, gpu = CONFIGS["llama-3.1-8b"], HARDWARE["h100-sxm"]
    ops = batch_counts(
        config,
        [(new, context)] * sequences,
        weight_bytes_per_param=2,
        kv_bytes_per_element=2,
    )
    least = predict_time(ops, gpu, "bfloat16", activations=False)
    waited = sum(op.time_s for op in least.ops if op.bound == "memory")
    return f"{100 * waited / least.total_s:.0f} %"


def test_the_first_view_is_the_one_asked_for(tab):
    chosen = [
        box.evaluate("node => node.selectedOptions[0].textContent")
        for box in tab.locator(SELECTS).all()
    ]
    assert chosen == ["llama-3.1-8b", "NVIDIA H100 SXM5 80 GB", "16-bit"]
    outputs = tab.locator(".cw-field output").all_text_contents()
    assert outputs == ["16", "1,024"]
    config, gpu = CONFIGS["llama-3.1-8b"], HARDWARE["h100-sxm"]
    decode = operating_point(config, gpu, [(1, 1023)] * 16)
    prefill = operating_point(config, gpu, [(1024, 0)])
    shown = readings(tab)
    assert shown["tokens in a pass"] == ["1,024", "16"]
    assert shown["of it, for memory"] == [
        waiting_share(1024, 1, 0),
        waiting_share(1, 16, 1023),
    ]
    for point, column in ((prefill, 0), (decode, 1)):
        assert shown["FLOP/byte"][column] == f"{point.intensity:.3g}"
        ms = f"{point.time_s * 1e3:#.3g}".rstrip("0").rstrip(".")
        assert shown["time of a pass"][column] == f"{ms} ms"
        rate = float(shown["tokens/s"][column].replace(",", ""))
        assert rate == pytest.approx(point.tokens_per_s, rel=0.005)


def test_the_points_lie_where_the_axes_say(tab):
    config, gpu = CONFIGS["llama-3.1-8b"], HARDWARE["h100-sxm"]
    decode = operating_point(config, gpu, [(1, 1023)] * 16)
    moved = tab.locator(".cw-decode").get_attribute("transform")
    x, y = map(float, re.findall(r"-?[\d.]+", moved))
    across, up = np.log10([decode.intensity, decode.flops_per_s])
    assert x == pytest.approx(44 + 302 * (across + 1) / 7, abs=0.01)
    assert y == pytest.approx(234 - 204 * (up - 11) / 5, abs=0.01)


def test_more_sequences_raise_the_rate_and_fill_the_memory(tab):
    slider = tab.locator(SLIDERS).first
    before = readings(tab)
    assert "fits into 80 GB" in tab.locator(".cw-fit").inner_text()
    slider.fill("10")
    after = readings(tab)
    assert after["FLOP/byte"][0] == before["FLOP/byte"][0]
    assert float(after["FLOP/byte"][1]) > float(before["FLOP/byte"][1])
    assert "does not fit into 80 GB" in tab.locator(".cw-fit").inner_text()
    assert tab.locator(".cw-memory.is-over").count() == 1


def test_the_sentence_tells_the_critical_batch_or_that_there_is_none(tab):
    said = tab.locator(".cw-said")
    assert said.get_attribute("aria-live") == "polite"
    assert "whatever the batch" in said.inner_text()
    tab.locator(SLIDERS).nth(1).fill("7")
    batch = critical_batch(CONFIGS["llama-3.1-8b"], HARDWARE["h100-sxm"], 127)
    assert f"crosses the ridge point at a batch of {batch:,}." in (
        said.inner_text()
    )


def test_the_sentence_agrees_with_the_side_that_the_point_is_on(tab):
    ridge = HARDWARE["h100-sxm"].ridge("bfloat16")
    batch = critical_batch(CONFIGS["llama-3.1-8b"], HARDWARE["h100-sxm"], 255)
    assert 512 < batch < 1024
    tab.locator(SLIDERS).nth(1).fill("8")
    for power, beyond in (("9", False), ("10", True)):
        tab.locator(SLIDERS).first.fill(power)
        assert f"at a batch of {batch}." in tab.locator(".cw-said").inner_text()
        assert (float(readings(tab)["FLOP/byte"][1]) > ridge) == beyond


def test_the_names_of_the_points_never_overlap(tab):
    for batch in ("0", "5", "9", "10"):
        for tokens in ("0", "4", "8", "10", "17"):
            tab.locator(SLIDERS).first.fill(batch)
            tab.locator(SLIDERS).nth(1).fill(tokens)
            one, two = (
                tab.locator(f".cw-{name} text").bounding_box()
                for name in ("prefill", "decode")
            )
            apart = (
                one["x"] + one["width"] <= two["x"]
                or two["x"] + two["width"] <= one["x"]
                or two["y"] + two["height"] <= one["y"] + 1
                or one["y"] + one["height"] <= two["y"] + 1
            )
            assert apart, (batch, tokens)


def test_the_context_ends_where_the_model_does(tab):
    tab.locator(SLIDERS).nth(1).fill("17")
    tab.locator(SELECTS).first.select_option(label="tinyllama-1.1b")
    assert tab.locator(".cw-field output").nth(1).inner_text() == "2,048"
    assert tab.locator(SLIDERS).nth(1).get_attribute("max") == "11"


def test_every_control_has_a_label_and_works_with_the_keyboard(tab):
    for name in ("Model", "GPU", "Numbers"):
        assert tab.get_by_label(name, exact=True).count() == 1
    batch = tab.get_by_label("Sequences in decode")
    batch.focus()
    tab.keyboard.press("ArrowRight")
    assert batch.get_attribute("aria-valuetext") == "32"
    tab.get_by_label("GPU", exact=True).focus()
    before = readings(tab)
    tab.keyboard.press("ArrowUp")
    assert readings(tab) != before


def test_no_id_has_a_blank_and_each_label_finds_its_control(tab):
    ids = tab.evaluate(
        "[...document.querySelectorAll('.cw [id]')].map(n => n.id)"
    )
    assert len(ids) == len(set(ids)) == 5
    assert [name for name in ids if " " in name] == []
    labels = tab.locator(".cw-field label")
    names = labels.evaluate_all("all => all.map(n => n.htmlFor)")
    assert names == ids
    shown = tab.locator(".cw-field output")
    heard = shown.evaluate_all("all => all.map(n => [...n.htmlFor])")
    assert heard == [[name] for name in ids[-2:]]


def test_the_sliders_end_where_the_package_says(tab):
    ends = [box.get_attribute("max") for box in tab.locator(SLIDERS).all()]
    assert [2 ** int(end) for end in ends] == [MAX_BATCH_SIZE, MAX_KV_LEN]


def test_the_widget_replaces_the_picture(tab, page_file, open_page):
    check_replaced(tab, page_file, open_page)


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_overflows_at_any_choice(open_page, page_file, width):
    tab = open_page(page_file, viewport={"width": width, "height": 900})
    model, slider = tab.locator(SELECTS).first, tab.locator(SLIDERS).nth(1)
    for name, power in (("gpt2", "0"), ("llama-3.1-405b", "17")):
        model.select_option(label=name)
        slider.fill(power)
        check_width(tab, width)
        inside = tab.evaluate(
            """() => {
              const box = document.querySelector(".cw-chart")
                .getBoundingClientRect();
              return [...document.querySelectorAll(".cw-mark, .cw-chart text")]
                .every(node => {
                  const r = node.getBoundingClientRect();
                  return r.left >= box.left - 1 && r.right <= box.right + 1 &&
                    r.top >= box.top - 1 && r.bottom <= box.bottom + 1;
                });
            }"""
        )
        assert inside, name
    check_letters(tab)


def test_touch_targets_are_at_least_40_pixels(open_page, page_file):
    check_targets(open_page, page_file)


def test_axe_finds_no_barrier_in_light_and_dark(browser, page_file):
    check_barriers(browser, page_file)


def test_dark_mode_changes_the_colours(tab):
    check_dark(tab, ".cw-decode", "fill")
