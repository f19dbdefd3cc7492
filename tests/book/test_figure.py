"""Figures: the same bytes for the same data, and no unfit picture."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest

from cutaway.book import figure
from cutaway.core.errors import ArgumentError

ALT = "A curve that rises and falls ten times."
SCRIPT = """
import numpy as np
from cutaway.book import figure
fig, (left, right) = figure.subplots(1, 2)
x = np.linspace(0, 10, 500)
left.plot(x, np.sin(x), "o-", label="sine")
left.fill_between(x[:50], 0, 1, hatch="//")
left.legend()
left.set_yscale("symlog")
right.scatter([1, 2], [3, 4], s=[20, 60])
figure.heatmap(right, np.arange(6.0).reshape(2, 3), label="weight")
print(figure.render(fig, name="twice", alt="A sine beside a heat map."))
"""


@pytest.fixture(autouse=True)
def _matplotlib_settings():
    with matplotlib.rc_context():
        yield


def curve(**kw):
    fig, ax = figure.subplots(height_in=2, **kw)
    x = np.linspace(0, 10, 50)
    ax.plot(x, np.sin(x))
    return fig, ax


def render(fig, name="curve", alt=ALT):
    return figure.render(fig, name=name, alt=alt)


def in_new_process(seed: str) -> bytes:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        check=True,
        env={"PYTHONHASHSEED": seed, "PATH": "", "HOME": "/nonexistent"},
    ).stdout


def test_two_processes_make_the_same_bytes():
    first = in_new_process("1")
    assert first.startswith(b"<svg ")
    assert first == in_new_process("2")


def test_two_figures_of_one_process_are_the_same_bytes():
    assert render(curve()[0]) == render(curve()[0])


def test_earlier_settings_do_not_change_the_bytes():
    wanted = render(curve()[0])
    matplotlib.rcParams.update({"font.size": 20, "path.simplify": True})
    assert render(curve()[0]) == wanted


def test_settings_of_the_session_reach_later_notes():
    fig, ax = curve()
    note = ax.text(2, 0, "a note")
    assert note.get_fontsize() == 11
    assert "a note" in render(fig)


def test_svg_is_well_formed_and_carries_what_a_page_needs():
    root = ET.fromstring(render(curve()[0]))
    assert root.tag == "svg"
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == ALT
    assert root.attrib["viewBox"] == "0 0 374.4 144"
    assert "max-width: 100%" in root.attrib["style"]
    assert "height: auto" in root.attrib["style"]


def test_svg_holds_nothing_that_changes_or_leaks():
    svg = render(curve()[0])
    for word in ("Matplotlib", "metadata", "<style", "http", "xlink", "<!--"):
        assert word not in svg
    assert not re.search(r"\b20\d\d-\d\d-\d\d", svg)


def test_coordinates_have_at_most_two_decimals():
    svg = render(curve()[0])
    assert re.search(r"\d\.\d\d\b", svg)
    assert not re.search(r"\d\.\d{3,}", svg)
    assert "-0 " not in svg


def test_ids_are_numbered_in_order_prefixed_and_used():
    fig, ax = curve()
    ax.lines[0].set_gid("the-curve")
    svg = render(fig, name="my-figure")
    ids = re.findall(r' id="([^"]*)"', svg)
    assert ids[0] == "fig-my-figure"
    assert "fig-my-figure-the-curve" in ids
    numbered = [i for i in ids if re.fullmatch(r"fig-my-figure-\d+", i)]
    assert numbered == [
        f"fig-my-figure-{n}" for n in range(1, len(numbered) + 1)
    ]
    targets = set(re.findall(r"#(fig-[\w-]+)", svg))
    assert targets == set(numbered)


def test_text_and_axes_take_the_colour_of_the_page():
    svg = render(curve()[0])
    assert "currentColor" in svg
    assert "#010203" not in svg
    assert "#000000" not in svg


def test_long_line_keeps_all_its_points():
    fig, ax = figure.subplots()
    ax.plot(np.linspace(0, 1, 500))
    path = max(re.findall(r' d="([^"]*)"', render(fig)), key=len)
    assert path.count("L") == 499


def test_log_axes_have_no_small_raised_digits():
    fig, ax = figure.subplots()
    ax.loglog([1, 10, 1e6], [1e-3, 1, 1e4])
    svg = render(fig)
    assert "10⁶" in svg
    assert "tspan" not in svg


def test_show_hands_over_html_and_text(monkeypatch):
    seen = []
    monkeypatch.setattr(
        figure, "show_html", lambda markup, text: seen.append((markup, text))
    )
    figure.show(curve()[0], name="curve", alt=ALT)
    [(markup, text)] = seen
    assert markup == render(curve()[0])
    assert text == f"Figure curve: {ALT}"


def test_pyplot_forgets_a_figure_that_was_shown():
    from matplotlib import pyplot

    matplotlib.use("agg")
    figure.subplots()
    fig, ax = pyplot.subplots(figsize=(5, 2))
    ax.plot([1, 2])
    render(fig)
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize(
    "alt",
    [
        "",
        "Figure 1",
        "a curve that rises and falls ten times.",
        "A curve that rises and falls",
        "A curve.",
        "A curve\nthat rises and falls ten times.",
    ],
)
def test_alt_text_that_is_no_sentence_is_refused(alt):
    with pytest.raises(ArgumentError, match="alt"):
        render(curve()[0], alt=alt)


@pytest.mark.parametrize("name", ["", "Two Words", "x_y", "1st", "a--b"])
def test_name_that_is_no_id_is_refused(name):
    with pytest.raises(ArgumentError, match="name"):
        render(curve()[0], name=name)


def test_line_of_501_points_is_refused():
    fig, ax = figure.subplots()
    ax.plot(np.zeros(501))
    with pytest.raises(ArgumentError, match="points of a line"):
        render(fig)


def test_heat_map_of_2501_cells_is_refused():
    fig, ax = figure.subplots()
    with pytest.raises(ArgumentError, match=r"values\.size"):
        figure.heatmap(ax, np.zeros((41, 61)))
    ax.pcolormesh(np.zeros((41, 61)))
    with pytest.raises(ArgumentError, match="cells of a collection"):
        render(fig)


def test_heat_map_of_2500_cells_is_drawn_cell_by_cell():
    fig, ax = figure.subplots()
    figure.heatmap(ax, np.arange(2500.0).reshape(50, 50))
    assert render(fig).count("<path") >= 2500


def test_heat_map_has_row_0_on_top():
    _, ax = figure.subplots()
    figure.heatmap(ax, np.zeros((3, 4)))
    low, high = ax.get_ylim()
    assert low > high


def test_image_is_refused():
    fig, ax = figure.subplots()
    ax.imshow(np.zeros((4, 4)))
    with pytest.raises(ArgumentError, match="image"):
        render(fig)


def test_colour_bar_of_pixels_is_refused():
    fig, ax = figure.subplots()
    mesh = ax.pcolormesh(np.eye(3))
    fig.colorbar(mesh)
    with pytest.raises(ArgumentError, match="pixels"):
        render(fig)


def test_small_font_is_refused():
    fig, ax = curve()
    ax.text(1, 0, "fine print", fontsize=8)
    with pytest.raises(ArgumentError, match=r"font size: got 8 pt"):
        render(fig)


def test_small_exponent_is_refused():
    fig, ax = curve()
    ax.text(1, 0, "$x^2$")
    with pytest.raises(ArgumentError, match="font size"):
        render(fig)


def test_wide_figure_is_refused():
    with pytest.raises(ArgumentError, match="width_in"):
        figure.subplots(width_in=6)
    fig, _ = curve()
    fig.set_figwidth(6)
    with pytest.raises(ArgumentError, match="figure width"):
        render(fig)


def test_label_that_leaves_the_figure_is_refused():
    fig, ax = curve()
    ax.set_title("a title that is much too long for a figure " * 3)
    with pytest.raises(ArgumentError, match="inside the figure"):
        render(fig)


def luminance(colour: str) -> float:
    """WCAG 2 relative luminance of #rrggbb."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4
        for p in parts
    ]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", ["#ffffff", "#f4f2ee", "#12161b"])
@pytest.mark.parametrize("name", list(figure.PALETTE))
def test_colours_stand_out_on_light_and_dark(name, ground):
    assert contrast(figure.PALETTE[name], ground) >= 3


# Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "normal sight": np.eye(3).tolist(),
}


def lab(colour: str, matrix: list[list[float]]) -> np.ndarray:
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(
        srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4
    )
    linear = np.clip(np.array(matrix) @ linear, 0, 1)
    to_xyz = np.array(
        [
            [0.4124, 0.3576, 0.1805],
            [0.2126, 0.7152, 0.0722],
            [0.0193, 0.1192, 0.9505],
        ]
    )
    x, y, z = np.cbrt(to_xyz @ linear / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", BLINDNESS)
def test_colours_differ_for_colour_blind_readers(sight):
    seen = [lab(c, BLINDNESS[sight]) for c in figure.PALETTE.values()]
    # 2.3 is a just noticeable difference.
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
    assert min(gaps) > 15


def test_importing_the_book_package_loads_no_plotting():
    code = (
        "import sys, cutaway.book.figure, cutaway.book.show;"
        "print({'matplotlib', 'pygments', 'torch', 'IPython'}"
        " & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert done.stdout == "set()\n"
