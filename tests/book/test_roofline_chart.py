"""The roofline as a picture, and the data of the explorer."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.book import figure
from cutaway.book.lecture import (
    gigabytes,
    milliseconds,
    strict_milliseconds,
    tokens_per_second,
)
from cutaway.book.roofline_chart import draw_points, draw_roof
from cutaway.book.roofline_explorer import (
    MAX_BATCH_SIZE,
    MAX_KV_LEN,
    explorer_data,
    is_dense,
    model_entry,
)
from cutaway.core import CutawayError
from cutaway.roofline import (
    CONFIGS,
    HARDWARE,
    attainable_flops,
    forward_counts,
    hardware,
    num_params,
    operating_point,
)

H100 = hardware("h100-sxm")
LARGE = CONFIGS["llama-3.1-8b"]


def test_the_roof_bends_at_the_ridge_point():
    _, ax = figure.subplots()
    draw_roof(ax, H100, "bfloat16", low=1, high=1000)
    roof, ridge = ax.lines
    x, y = roof.get_data()
    assert list(x) == [1, H100.ridge("bfloat16"), 1000]
    assert list(y) == [attainable_flops(float(i), H100, "bfloat16") for i in x]
    assert set(ridge.get_xdata()) == {H100.ridge("bfloat16")}
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


@pytest.mark.parametrize(("low", "high"), [(1, 100), (500, 1000)])
def test_a_range_without_the_ridge_shows_one_part_of_the_roof(low, high):
    _, ax = figure.subplots()
    draw_roof(ax, H100, "bfloat16", low=low, high=high)
    assert list(ax.lines[0].get_xdata()) == [low, high]


def test_points_stand_where_their_pass_does():
    _, ax = figure.subplots()
    points = {
        "one": operating_point(LARGE, H100, [(1, 1023)]),
        "many": operating_point(LARGE, H100, [(1, 1023)] * 64),
        "prefill": operating_point(LARGE, H100, [(512, 0)]),
    }
    draw_points(ax, points)
    for line, (name, point) in zip(ax.lines, points.items(), strict=True):
        assert line.get_label() == name
        assert np.ravel(line.get_data()).tolist() == [
            point.intensity,
            point.flops_per_s,
        ]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == list(points)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"low": 0}, "low"),
        ({"low": 10, "high": 10}, "high"),
        ({"dtype": "int3"}, "dtype"),
    ],
)
def test_an_impossible_roof_is_refused_and_draws_nothing(options, name):
    _, ax = figure.subplots()
    dtype = options.pop("dtype", "bfloat16")
    with pytest.raises(CutawayError, match=name):
        draw_roof(ax, H100, dtype, **options)
    assert len(ax.lines) == 0


def test_too_many_points_are_refused():
    _, ax = figure.subplots()
    point = operating_point(LARGE, H100, [(1, 0)])
    with pytest.raises(CutawayError, match="points"):
        draw_points(ax, {str(number): point for number in range(7)})


def test_coefficients_add_up_to_the_counts_of_any_pass():
    for model in ("smollm2-135m", "llama-3.1-8b", "qwen2.5-7b", "gpt2"):
        config = CONFIGS[model]
        entry = model_entry(model, config)
        assert entry["params"] == num_params(config)
        rows, logit_rows = 7, 3
        ops = forward_counts(
            config,
            rows,
            0,
            logit_rows=logit_rows,
            weight_bytes_per_param=1,
            kv_bytes_per_element=1,
        )
        flops = sum(rows * op[0] + logit_rows * op[1] for op in entry["ops"])
        weights = sum(op[2] + rows * op[3] for op in entry["ops"])
        cached = sum(rows * op[4] for op in entry["ops"])
        plain = [op for op in ops if op.name not in ("scores", "values")]
        assert flops == sum(op.flops for op in plain)
        assert weights == sum(op.weight_bytes for op in plain)
        assert cached == sum(op.kv_bytes for op in plain)


def test_the_explorer_has_every_dense_model_and_every_machine():
    data = explorer_data("llama-3.1-8b", "h100-sxm", batch_size=8, kv_len=256)
    names = [entry["name"] for entry in data["models"]]
    assert names == [name for name, c in CONFIGS.items() if is_dense(c)]
    assert len(data["machines"]) == len(HARDWARE)
    start = data["start"]
    assert names[start["model"]] == "llama-3.1-8b"
    assert (start["batch"], start["context"]) == (8, 256)


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        (("no-model", "h100-sxm"), {}, "model"),
        (("mixtral-8x7b", "h100-sxm"), {}, "model"),
        (("llama-2-7b", "no-gpu"), {}, "machine"),
        (("llama-2-7b", "h100-sxm"), {"batch_size": 3}, "batch_size"),
        (("llama-2-7b", "h100-sxm"), {"kv_len": 0}, "kv_len"),
        (("llama-2-7b", "h100-sxm"), {"batch_size": 2048}, "batch_size"),
        (("llama-2-7b", "h100-sxm"), {"kv_len": 8192}, "kv_len"),
        (("llama-3.1-8b", "h100-sxm"), {"kv_len": 2**18}, "kv_len"),
    ],
)
def test_an_impossible_first_view_is_refused(arguments, options, name):
    with pytest.raises(CutawayError, match=name):
        explorer_data(*arguments, **options)


def test_the_first_view_may_be_the_end_of_both_sliders():
    start = explorer_data(
        "llama-3.1-8b",
        "h100-sxm",
        batch_size=MAX_BATCH_SIZE,
        kv_len=MAX_KV_LEN,
    )["start"]
    assert (start["batch"], start["context"]) == (1024, 131_072)


def test_a_mixture_of_experts_has_no_coefficients():
    with pytest.raises(CutawayError, match="config"):
        model_entry("mixtral-8x7b", CONFIGS["mixtral-8x7b"])


def test_the_lectures_numbers_of_three_batches():
    batches = (1, 64, 256)
    assert [round(x, 2) for x in gigabytes(batches)] == [26.87, 79.72, 240.78]
    assert [round(x, 2) for x in milliseconds(batches)] == [8.02, 23.8, 71.87]
    rates = tokens_per_second(batches)
    assert rates == pytest.approx([124.7, 2689.5, 3561.8], abs=0.05)
    assert round(tokens_per_second((256,), 8)[0]) == 13_068
    strict = strict_milliseconds(["llama-3.1-8b", "llama-2-13b"])
    assert [round(x, 2) for x in strict] == [4.48, 7.67]
