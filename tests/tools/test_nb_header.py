"""The header line: minutes from the text, the rest from the last run."""

from __future__ import annotations

import pytest
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from nbtools.header import (
    keep_measures,
    reading_minutes,
    round_seconds,
    update_header,
)


def section(source: str, *cells):
    head = new_markdown_cell(source, metadata={"cutaway": {"header": True}})
    return new_notebook(cells=[head, *cells])


def line(seconds: int, gigabytes: str) -> str:
    return (
        f"*1 minute to read · runs in about {seconds} s "
        f"· {gigabytes} GB of memory*"
    )


def test_line_goes_below_the_heading():
    notebook = section("# Title\n\nProse.")
    update_header(notebook, 12.6, 1_234_000_000)
    assert notebook.cells[0].source == (
        f"# Title\n\n{line(15, '1.2')}\n\nProse."
    )


def test_line_goes_on_top_without_a_heading():
    notebook = section("Prose.")
    update_header(notebook, 3.2, 250_000_000)
    assert notebook.cells[0].source == f"{line(3, '0.2')}\n\nProse."


def test_line_without_a_measurement_holds_minutes_alone():
    notebook = section("# Title")
    update_header(notebook)
    assert notebook.cells[0].source == "# Title\n\n*1 minute to read*"


@pytest.mark.parametrize(
    ("wall_s", "peak", "seconds", "gigabytes"),
    [
        (20, 1.2e9, 20, "1.2"),
        (16.1, 0.97e9, 20, "1.2"),  # within 25 %: kept
        (25.9, 1.5e9, 20, "1.2"),
        (15.9, 0.95e9, 15, "0.9"),  # beyond: rounded anew
        (27.1, 1.61e9, 25, "1.6"),
        (27.1, 1.2e9, 25, "1.2"),
    ],
)
def test_values_near_the_measured_ones_stay(wall_s, peak, seconds, gigabytes):
    notebook = section(f"# Title\n\n{line(20, '1.2')}")
    update_header(notebook, wall_s, int(peak))
    assert line(seconds, gigabytes) in notebook.cells[0].source


def test_minutes_are_updated_and_measures_kept_without_a_run():
    prose = new_markdown_cell("word " * 1000)
    notebook = section(f"# Title\n\n{line(20, '1.2')}", prose)
    update_header(notebook)
    assert notebook.cells[0].source.endswith(
        "*5 minutes to read · runs in about 20 s · 1.2 GB of memory*"
    )


def test_no_header_cell_is_left_alone():
    notebook = new_notebook(cells=[new_markdown_cell("# T")])
    update_header(notebook, 1, 1)
    assert notebook.cells[0].source == "# T"


def test_reading_time_counts_words_code_and_outputs_once():
    code = new_code_cell("x = 1\n" * 20)
    code.outputs = [new_output("stream", name="stdout", text="1\n" * 500)]
    hidden = new_code_cell("y = 1\n" * 200, metadata={"tags": ["remove-cell"]})
    prose = new_markdown_cell("word " * 400)
    notebook = section("# Title", prose, code, hidden)
    # 2 minutes of prose, 20 lines of code and 40 of the output's lines
    assert reading_minutes(notebook) == 4


def test_folded_docstrings_of_shown_source_are_not_read():
    code = '<div class="cutaway-source">\n' + "x\n" * 38
    docs = "<details>" + "y\n" * 400 + "</details>"
    for markup in (code + "</div>", code + docs + "</div>"):
        data = {"text/html": markup, "text/plain": "x\n" * 400}
        shown = new_output("display_data", data=data)
        cells = [new_code_cell("", outputs=[shown]) for _ in range(3)]
        assert reading_minutes(section("", *cells)) == 3


def test_measures_survive_a_text_that_does_not_repeat_them():
    old = section(f"# Title\n\n{line(20, '1.2')}\n\nOld.")
    new = section("# Title\n\nNew.")
    keep_measures(new, old)
    assert new.cells[0].source == f"# Title\n\n{line(20, '1.2')}\n\nNew."
    minutes_only = section("# Title\n\n*9 minutes to read*\n\nNew.")
    keep_measures(minutes_only, old)
    assert minutes_only.cells[0].source == new.cells[0].source
    written = section(f"# Title\n\n{line(5, '0.1')}")
    keep_measures(written, old)
    assert line(5, "0.1") in written.cells[0].source


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.2, 1), (3.4, 3), (9.6, 10), (12.4, 10), (58, 60)]
)
def test_seconds_are_rounded_to_what_is_worth_saying(seconds, shown):
    assert round_seconds(seconds) == shown
