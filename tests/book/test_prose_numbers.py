"""Every number in the prose is printed by its section, or is cited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcheck.markdown import citations, prose_of, sections
from bookcheck.numbers import find_numbers
from bookcheck.pool import numbers_in, printed_numbers, supports
from bookcheck.prose import (
    check_book,
    check_notebook,
    check_page,
    leak,
    numbers_to_check,
)

BOOK = Path(__file__).parents[2] / "book"
FACTS = BOOK / "facts.toml"
NOTEBOOKS = sorted(
    path
    for path in BOOK.rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)

# --- the real book -------------------------------------------------------


def test_the_book_has_notebooks_to_check():
    assert NOTEBOOKS


def test_every_number_in_the_book_is_supported():
    findings = check_book(BOOK, FACTS)
    assert not findings, "\n".join(map(str, findings))


@pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=[str(p.relative_to(BOOK)) for p in NOTEBOOKS]
)
def test_few_wrong_integers_would_pass(path):
    assert leak(path, digits=2) < 0.05
    assert leak(path, digits=3) < 0.02


# --- which numbers are checked -------------------------------------------

CHECKED = [
    # A measured unit, whatever the size of the number.
    ("It takes 5 ms.", ["5 ms"]),
    ("2 bytes each", ["2 bytes"]),
    ("16.06 GB of weights", ["16.06 GB"]),
    ("22.5 KiB", ["22.5 KiB"]),
    ("It reads 18 GB/s here.", ["18 GB/s"]),
    ("18 GB per second", ["18 GB per second"]),
    ("at 33 tokens/s", ["33 tokens/s"]),
    ("33 tokens per second, 33 tokens a second", 2),
    ("5.74 bits a weight", ["5.74 bits a weight"]),
    ("295.3 FLOP/byte", ["295.3 FLOP/byte"]),
    ("989.4 TFLOP/s or 312 TFLOPS", ["989.4 TFLOP/s", "312 TFLOPS"]),
    ("a clock of 1.83 GHz", ["1.83 GHz"]),
    ("77 % of it", ["77 %"]),
    ("77% of it, 5 percent", ["77%", "5 percent"]),
    ("1.6× faster", ["1.6×"]),
    ("3x faster", ["3x"]),
    ("3 times faster", ["3 times"]),
    ("a 12-fold gain", ["12-fold"]),
    ("3 µs and 3 μs and 3 ns", 3),
    ("80GB of memory", ["80GB"]),
    # Spelled powers.
    ("135 million of them", ["135 million"]),
    ("1.5 billion parameters", ["1.5 billion parameters"]),
    ("7B parameters", ["7B parameters"]),
    ("a 2-trillion-token corpus", ["2-trillion-token"]),
    ("2^30 bytes", ["2^30 bytes"]),
    ("10⁹ operations", ["10⁹ operations"]),
    ("1.5 × 10⁹ of them", ["1.5 × 10⁹"]),
    # Counts from ten.
    ("30 layers", ["30 layers"]),
    ("a 30-layer model", ["30-layer"]),
    ("37 prompt tokens", ["37 prompt tokens"]),
    ("37 of the new tokens", []),
    ("21 of the 256 bytes", ["21", "256 bytes"]),
    ("between 10 and 20 tokens", ["10", "20 tokens"]),
    ("10–20 tokens", ["10", "20 tokens"]),
    ("8, 16 and 32 heads", ["16", "32 heads"]),
    ("9 heads", []),
    ("3 layers, 2 blocks and 1 step", []),
    ("1.5 tokens a step", ["1.5 tokens a step"]),
    # Bare numbers of three digits.
    ("the id 7042", ["7042"]),
    ("49,152 of them", ["49,152"]),
    ("49\u202f152 of them", ["49\u202f152"]),
    ("about 500", ["500"]),
    ("a logit of 17.37", ["17.37"]),
    ("a probability of 0.77", ["0.77"]),
    ("-0.25 and −0.25", ["-0.25", "−0.25"]),
    ("42 or 7", []),
    ("0.5 or 1.5", []),
    # Wrapped lines and emphasis do not hide a unit.
    ("there are **37** tokens", 1),
    ("there are 37\ntokens", 1),
    ("there are 37&nbsp;tokens", 1),
    ("there are 37\n\ntokens", []),
    ("> quoted: 512", ["512"]),
    (
        "| 512 | 4 |",
        [
            "512",
        ],
    ),
    ("[512 tokens](page.md)", ["512 tokens"]),
    ("![A plot of 512 points](p512.svg)", ["512 points"]),
    (":::{note} For 512 tokens\nIt takes 640 steps.\n:::", 2),
    ("```{warning}\nIt takes 640 steps.\n```", ["640 steps"]),
    ("````{note}\n```\n512\n```\n640\n````", ["640"]),
    (":::{unknown-directive}\n512\n:::", ["512"]),
    (":::{figure} plot512.svg\n:width: 512\nAfter 640 steps\n:::", 1),
]


@pytest.mark.parametrize(("markdown", "expected"), CHECKED)
def test_claims_are_checked(markdown, expected):
    found = [number.text for number in numbers_to_check(markdown)]
    if isinstance(expected, int):
        assert len(found) == expected, found
    else:
        assert found == expected


NOT_CHECKED = [
    "`x = 512` and ``y = `640` ``",
    "$512$, $x = 1024$ and $$\nn = 4096\n$$",
    "\\begin{align}\nn &= 4096\n\\end{align}",
    "```python\nx = 512\n```",
    "~~~\nx = 512\n~~~",
    "```{code-block} python\n:lineno-start: 512\nx = 512\n```",
    "```{math}\nn = 512\n```",
    ":::{math}\n:label: eq512\nn = 512\n:::",
    "[the page](page512.html#512)",
    "<https://example.org/512> and https://example.org/640",
    "[ref]: https://example.org/512",
    "{cite:p}`someone2512`, {numref}`fig-512`, {ref}`512`",
    "(label-512)=\n% comment 512\n<!-- 512 tokens -->",
    '<span style="width: 512px">text</span>',
    "# Heading {#id-512}",
    "1. first\n2. second\n512. third",
    "a footnote[^512]",
    "H100, A100-80GB, Q4_1, fp32, bfloat16, sm_100, int8",
    "Llama-3.1-8B, GPT-2, SmolLM2-135M, a 7B model, 8x7B, a 128K context",
    "32-bit floats, a 16-bit format, a 4-bit weight",
    "UTF-8, U+0120, 0x1F600, RFC 3629, IEEE 754",
    "Table 312, Section 4.1, section 3.2.1, Figure 100 and Fig. 217",
    "sections 3.2 and 3.3, Tables 100, 101 and 102, § 4.12, Eq. (100)",
    "Algorithm 1, Appendix B, step 100, page 112, pp. 112–119",
    "Python 3.11, torch 2.13.0, CUDA 12.4, version 3.14, v0.1.2",
    "arXiv 2309.06180, arXiv:2309.06180v2",
    "2024-06-20, 20 June 2023, June 20, 2023, June 2023, in 2017, (2019)",
    "the 1990s, at 12:30:15",
    "thirty layers, two hundred times",
    "3 × 4 and 2 x 3",
    "the 30th layer",
]


@pytest.mark.parametrize("markdown", NOT_CHECKED)
def test_what_makes_no_claim_is_not_checked(markdown):
    assert [number.text for number in numbers_to_check(markdown)] == []


SNEAKY = [
    # A rule that skips must not take a claim with it.
    ("In Table 1 and 512 tokens", ["512 tokens"]),
    ("Section 4.1, 512 tokens", ["512 tokens"]),
    ("as in step 3, 1,024 tokens", ["1,024 tokens"]),
    ("after step 3 of 512 steps", ["512 steps"]),
    ("in 2017, 16 heads", ["16 heads"]),
    ("In 2,017 cases", ["2,017 cases"]),
    ("2048 is a lot", ["2048"]),
    ("2000 tokens", ["2000 tokens"]),
    ("costs $5 and 512 tokens for $6", ["512 tokens"]),
    ("`a` 512 `b`", ["512"]),
    ("the H100 reads 3.35 TB/s", ["3.35 TB/s"]),
    ("a 7B model of 512 tokens", ["512 tokens"]),
    ("(512 tokens)", ["512 tokens"]),
    ("~512 tokens", ["512 tokens"]),
    ("key/value pairs: 512", ["512"]),
    ("[x](y) 512 [z](w)", ["512"]),
    ("<b>512</b> tokens", ["512    "]),
]


@pytest.mark.parametrize(("markdown", "expected"), SNEAKY)
def test_a_skipped_name_hides_no_claim(markdown, expected):
    found = [number.text.strip() for number in numbers_to_check(markdown)]
    assert len(found) == len(expected)
    for text, want in zip(found, expected, strict=True):
        assert text.startswith(want.strip())


def test_blanked_text_keeps_every_line_and_position():
    source = "a `b`\n\n```\n1\n```\n$x$ 512 tokens"
    prose = prose_of(source)
    assert len(prose) == len(source)
    assert prose.count("\n") == source.count("\n")
    assert source.index("512") == prose.index("512")


_TEXTS = st.text(
    st.sampled_from(list("019,. -−^{}*_`$~:\n×⁹eEkMB%/()[]<>#abx=\\")),
    max_size=60,
)


@given(_TEXTS)
def test_any_text_can_be_blanked_and_read(text):
    prose = prose_of(text)
    assert len(prose) == len(text)
    assert [i for i, c in enumerate(text) if c == "\n"] == [
        i for i, c in enumerate(prose) if c == "\n"
    ]
    for number in find_numbers(text) + find_numbers(text, prose=False):
        assert text[number.start :].startswith(number.text)
        assert number.digits >= 1
        assert number.step > 0


@given(_TEXTS)
def test_any_page_is_cut_without_loss(text):
    joined = "\n".join(part for _, part in sections(text))
    assert len(joined) == len(text)


# --- values, units, precision --------------------------------------------

VALUES = [
    ("1,234,567", 1234567),
    ("1_000_000", 1000000),
    ("1.5e-3", 0.0015),
    ("2e9", 2e9),
    ("1.5 million", 1.5e6),
    ("2^10", 1024),
    ("2**10", 1024),
    ("10^{-3}", 0.001),
    ("10⁻³", 0.001),
    ("2³⁰", 2**30),
    ("3 × 10⁸", 3e8),
    ("−12", -12),
    ("3-4", 3),
    ("15.7K slots", 15700),
    ("0^-1", 0),
    ("10^999", float("inf")),
    ("007", 7),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values_are_read(text, value):
    assert float(find_numbers(text)[0].value) == value


@pytest.mark.parametrize(
    ("text", "dimension", "scale"),
    [
        ("3 GB", "byte", 1e9),
        ("3 GiB", "byte", 2**30),
        ("3 kilobytes", "byte", 1e3),
        ("3 ms", "second", 1e-3),
        ("3 milliseconds", "second", 1e-3),
        ("3 minutes", "second", 60),
        ("3 GFLOP/s", "flop/second", 1e9),
        ("3 GFLOPS", "flop/second", 1e9),
        ("3 tok/s", "token/second", 1),
        ("3 generated tokens per second", "token/second", 1),
        ("3 bytes per token", "byte/token", 1),
        ("3 bpw", "bit/number", 1),
        ("3 bits/weight", "bit/number", 1),
        ("3 queries", "token", 1),
        ("3 matrices", "tensor", 1),
        ("3 key/value heads", "head", 1),
        ("3 Layers", "layer", 1),
    ],
)
def test_units_are_read(text, dimension, scale):
    unit = find_numbers(text)[0].unit
    assert (unit.dimension, float(unit.scale)) == (dimension, scale)


SUPPORT = [
    # prose, output line, supported?
    ("37 tokens", "37 tokens", True),
    ("37 tokens", "[37 tokens]", True),
    ("37 tokens", "(37, 576)", True),
    ("37 tokens", "prompt: 37", True),
    ("37 tokens", "tokens: 37", True),
    ("37 tokens", "37 layers", False),
    ("37 tokens", "layers: 37", False),
    ("37 tokens", "num_layers=37", False),
    ("37 tokens", "37 ms", False),
    ("37 tokens", "time per token 37", True),
    ("37 tokens", "tokens: 30 layers: 37", False),
    ("30 tokens", "tokens: 30 layers: 37", True),
    ("30 keys", "30 tokens", True),
    ("21 bytes", "21 of 256 bytes are missing", True),
    ("37 tokens", "38 tokens", False),
    ("37 tokens", "37.2 tokens", False),
    ("37 tokens", "model37 v37.1", False),
    ("49,152", "49152 tokens", True),
    ("49,152", "49,152", True),
    ("49,152 tokens", "49,153 tokens", False),
    ("7042", "7042 ' Paris'", True),
    # Decimals round, integers do not.
    ("17.37", "logit 17.371", True),
    ("17.37", "logit 17.368", True),
    ("17.37", "logit 17.376", False),
    ("17.4", "logit 17.371", True),
    ("17.3 ms", "17.371 ms", False),
    ("17 ms", "17.371 ms", False),
    ("about 17 ms", "17.371 ms", True),
    ("17.0 ms", "17 ms", True),
    ("5.74 bits a weight", "per weight    5.7437 bits", True),
    ("5.7 bits a weight", "per weight    5.7437 bits", True),
    ("5.8 bits a weight", "per weight    5.7437 bits", False),
    ("1.5 million", "1487000", True),
    ("1.4 million", "1487000", False),
    ("135 million", "134,515,008", False),
    ("about 135 million", "134,515,008", True),
    ("about 134 million", "134,515,008", False),
    ("about 500 tokens", "497 tokens", True),
    ("roughly 500 tokens", "503 tokens", True),
    ("about 500 tokens", "460 tokens", False),
    ("about 50 tokens", "46 tokens", False),
    ("≈ 0.77", "0.7725", True),
    ("more than 500 tokens", "503 tokens", False),
    # Units of one kind convert; of different kinds they do not.
    ("0.54 GB", "538.06 MB", True),
    ("538 MB", "538.06 MB", False),
    ("15 ms", "0.015 s", True),
    ("1.05 MB", "1.00 MiB", True),
    ("22.5 KiB", "23.04 kB (22.50 KiB)", True),
    ("22.5 kB", "23.04 kB (22.50 KiB)", False),
    ("18 GB/s", "18 GB", False),
    ("18 GB", "18 GB/s", False),
    ("23,040 bytes per token", "23,040 bytes", True),
    ("23,040 bytes", "23,040 bytes per token", False),
    ("77.3 %", "77.25 %", True),
    ("77.3 %", "0.7725", False),
    ("77 %", "share: 77", True),
    # Signs: an unsigned number may tell of a drop.
    ("0.25", "-0.25", True),
    ("-0.25", "0.25", False),
    ("−0.25", "-0.25", True),
]


@pytest.mark.parametrize(("prose", "line", "expected"), SUPPORT)
def test_an_output_supports_exactly_what_it_shows(prose, line, expected):
    [number] = find_numbers(prose)
    found = any(supports(number, printed) for printed in numbers_in(line))
    assert found is expected


# --- the pool ------------------------------------------------------------


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def html(markup):
    data = {"text/html": markup, "text/plain": "999"}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def code(*outputs, **metadata):
    return {
        "cell_type": "code",
        "id": "code",
        "metadata": metadata,
        "source": "compute(4321)",
        "execution_count": 1,
        "outputs": list(outputs),
    }


def markdown(source, cell_id="text", **metadata):
    return {
        "cell_type": "markdown",
        "id": cell_id,
        "metadata": metadata,
        "source": source,
    }


def pool_values(*cells):
    printed = printed_numbers({"cells": list(cells)})
    return sorted({float(p.value) for p in printed})


def test_source_of_cells_is_not_in_the_pool():
    assert pool_values(code(stream("1 2\n"))) == [1, 2]


def test_lines_of_more_than_twelve_numbers_do_not_count():
    twelve = " ".join(str(100 + n) for n in range(12))
    thirteen = " ".join(str(200 + n) for n in range(13))
    values = pool_values(code(stream(f"{twelve}\n{thirteen}\n")))
    assert values == [100.0 + n for n in range(12)]


def test_the_lines_of_streams_may_come_in_pieces():
    assert pool_values(code(stream(["12", "34\n", "56\n"]))) == [56, 1234]


def test_pictures_traces_styles_and_source_do_not_count():
    markup = (
        "<svg><text>111</text></svg><style>p{width:222px}</style>"
        '<script type="application/json">[333]</script>'
        '<div class="cutaway-source"><pre>x = 444</pre></div>'
        "<p>555</p>"
    )
    assert pool_values(code(html(markup))) == [555]


def test_html_is_read_instead_of_its_plain_form():
    assert pool_values(code(html("<p>5</p><p>7</p>"))) == [5, 7]


def test_table_cells_take_their_units_from_the_heading():
    table = (
        "<table><thead><tr><th>part</th><th>time (ms)</th><th>size MB</th>"
        "</tr></thead><tr><td>layers</td><td>37</td><td>54</td></tr>"
        "<tr>" + "".join(f"<td>{n}</td>" for n in range(60, 73)) + "</tr>"
        "</table>"
    )
    pool = printed_numbers({"cells": [code(html(table))]})
    assert sorted(int(p.value) for p in pool) == [37, 54]

    def says(text):
        [number] = find_numbers(text)
        return any(supports(number, printed) for printed in pool)

    assert says("37 ms")
    assert says("54 MB")
    assert not says("37 MB")
    assert not says("37 tokens")


def test_an_error_counts_by_its_message():
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "got 12",
        "traceback": ["\x1b[31mline 4567\x1b[0m"],
    }
    assert pool_values(code(error)) == [12]


@pytest.mark.parametrize(
    "tag", ["nbval-ignore-output", "nbval-skip", "exercise", "solution"]
)
def test_outputs_that_nothing_compares_and_gradings_do_not_count(tag):
    assert pool_values(code(stream("512\n"), tags=[tag])) == []


# --- notebooks and pages -------------------------------------------------

FACT = """
[peak]
text = "A peak."
value = 989.4
unit = "TFLOP/s"
source = "maker2022"
where = "Table 1"

[ids]
text = "Some ids."
value = [504, 3575]
source = "maker2022"
where = "Table 2"
"""


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "facts.toml"
    path.write_text(FACT, encoding="utf-8")
    return path


def notebook(folder, *cells):
    path = folder / "section.ipynb"
    content = {
        "cells": list(cells),
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_supported_number_passes_and_a_changed_one_is_found(tmp_path, facts):
    good = "# Title\n\nThe prompt has\n37 tokens."
    output = code(stream("[37 tokens]\n"))
    path = notebook(tmp_path, markdown(good), output)
    assert check_notebook(path, facts) == []
    path = notebook(tmp_path, markdown(good.replace("37", "38")), output)
    [finding] = check_notebook(path, facts)
    assert (finding.cell, finding.line) == ("text", 4)
    assert finding.number == "38 tokens"
    assert "38 tokens" in str(finding)


def test_an_output_anywhere_in_the_section_supports(tmp_path, facts):
    path = notebook(
        tmp_path, markdown("First, 512 steps."), code(stream("512 steps"))
    )
    assert check_notebook(path, facts) == []


def test_the_wrong_unit_is_told(tmp_path, facts):
    path = notebook(
        tmp_path, markdown("It takes 512 MB."), code(stream("512 steps"))
    )
    [finding] = check_notebook(path, facts)
    assert "in another unit: '512 steps'" in finding.why


@pytest.mark.parametrize(
    ("source", "passes"),
    [
        ("989.4 TFLOP/s {cite:p}`maker2022`.", True),
        ("989.4 TFLOP/s {cite}`other2020,maker2022`.", True),
        ("989.4 TFLOPS {cite:t}`maker2022`.", True),
        ("About 989 TFLOP/s {cite:p}`maker2022`.", True),
        ("989 TFLOP/s {cite:p}`maker2022`.", False),
        ("989.5 TFLOP/s {cite:p}`maker2022`.", False),
        ("989.4 TB/s {cite:p}`maker2022`.", False),
        ("989.4 TFLOP/s.", False),
        ("989.4 TFLOP/s {cite:p}`other2020`.", False),
        ("989.4 TFLOP/s; maker2022.", False),
        ("989.4 TFLOP/s ``{cite:p}`maker2022` ``.", True),
        ("The ids 504 and 3575 {cite:p}`maker2022`.", True),
        ("The ids 504 and 3576 {cite:p}`maker2022`.", False),
    ],
)
def test_a_fact_counts_only_where_its_source_is_cited(
    tmp_path, facts, source, passes
):
    path = notebook(tmp_path, markdown(source))
    assert (check_notebook(path, facts) == []) is passes


def test_a_citation_in_another_cell_does_not_count(tmp_path, facts):
    path = notebook(
        tmp_path,
        markdown("See {cite:p}`maker2022`."),
        markdown("989.4 TFLOP/s", cell_id="second"),
    )
    [finding] = check_notebook(path, facts)
    assert finding.cell == "second"
    assert "cite maker2022" in finding.why


def test_exceptions_need_a_reason_and_a_number_to_except(tmp_path, facts):
    source = "Say, 4,096 tokens."
    good = markdown(source, numbers={"4096": "an example the reader picks"})
    assert check_notebook(notebook(tmp_path, good), facts) == []
    for numbers in ({"4096": ""}, {"4096": 7}, {"4097": "another"}):
        bad = markdown(source, numbers=numbers)
        assert check_notebook(notebook(tmp_path, bad), facts)
    spare = markdown("No number.", numbers={"4096": "an example"})
    [finding] = check_notebook(notebook(tmp_path, spare), facts)
    assert "not needed" in finding.why


def test_a_section_has_at_most_five_exceptions(tmp_path, facts):
    def cells(count):
        return [
            markdown(
                f"{n}00 tokens", cell_id=f"c{n}", numbers={f"{n}00": "why"}
            )
            for n in range(1, count + 1)
        ]

    assert check_notebook(notebook(tmp_path, *cells(5)), facts) == []
    [finding] = check_notebook(notebook(tmp_path, *cells(6)), facts)
    assert "6 exceptions" in finding.why


def test_the_header_is_exempt_and_only_the_header(tmp_path, facts):
    line = "*20 minutes to read · 25 s · 1.2 GB*"
    header = markdown(line, cutaway={"header": True})
    assert check_notebook(notebook(tmp_path, header), facts) == []
    assert len(check_notebook(notebook(tmp_path, markdown(line)), facts)) == 3


def test_pages_may_use_cited_facts_only(tmp_path, facts):
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n\n989.4 TFLOP/s {cite:p}`maker2022`\n\n"
        "# Two\n\n989.4 TFLOP/s\n\n```\n# 512\n```\n"
    )
    [finding] = check_page(page, facts)
    assert finding.line == 7
    page.write_text(
        "---\nnumbers:\n  '512': a reason\n---\n# One\n\n512 tokens\n"
    )
    assert check_page(page, facts) == []
    page.write_text("---\nnumbers:\n  '512': a reason\n---\n# One\n")
    [finding] = check_page(page, facts)
    assert "not needed" in finding.why


def test_headings_in_code_do_not_cut_a_page():
    text = "# One\n```\n# no\n```\n## Two\nend"
    assert [start for start, _ in sections(text)] == [1, 5]
    assert "\n".join(part for _, part in sections(text)) == text


def test_citations_in_code_blocks_do_not_count():
    assert citations("{cite}`a2020`\n```\n{cite}`b2021`\n```") == {"a2020"}


def test_a_book_without_notebooks_is_a_finding(tmp_path, facts):
    (tmp_path / "index.md").write_text("# Title\n")
    [finding] = check_book(tmp_path, facts)
    assert "no notebook" in finding.why
    hidden = tmp_path / ".ipynb_checkpoints"
    hidden.mkdir()
    notebook(hidden, markdown("512 tokens"))
    [finding] = check_book(tmp_path, facts)
    assert "no notebook" in finding.why


def test_a_book_is_checked_file_by_file(tmp_path, facts):
    part = tmp_path / "part"
    part.mkdir()
    notebook(part, markdown("512 tokens"))
    (tmp_path / "index.md").write_text("# Title\n\n640 tokens\n")
    numbers = {finding.number for finding in check_book(tmp_path, facts)}
    assert numbers == {"512 tokens", "640 tokens"}


# --- how much a wrong number would slip through --------------------------


def test_the_leak_counts_what_the_pool_supports(tmp_path):
    path = notebook(tmp_path, code(stream("37 tokens\n")))
    assert leak(path, digits=2) == pytest.approx(1 / (90 * 8))
    path = notebook(tmp_path, code(stream("37\n")))
    assert leak(path, digits=2) == pytest.approx(1 / 90)
    path = notebook(tmp_path, code(stream("512 tokens\n")))
    assert leak(path, digits=3) == pytest.approx(2 / (900 * 9))


def test_a_typical_section_leaks_little_and_a_listing_leaks_much(tmp_path):
    lines = [
        "layers        30",
        "vector width  576",
        "query heads   9 of 64 numbers each",
        "vocabulary    49,152 tokens",
        "[37 tokens]",
        "   504  'The'",
        "  3575  ' capital'",
        "q           (5, 9, 64)      11,520 bytes",
        "tokens read with a cache:    44",
        "weights 16.06 GB (14.96 GiB)",
        "smallest lead 0.082, largest 14.2",
    ]
    path = notebook(tmp_path, code(stream("\n".join(lines) + "\n")))
    assert 0 < leak(path, digits=2) < 0.05
    assert 0 < leak(path, digits=3) < 0.02
    numbers = [str(n) for n in range(10, 100)]
    rows = [" ".join(numbers[n : n + 10]) for n in range(0, 90, 10)]
    path = notebook(tmp_path, code(stream("\n".join(rows) + "\n")))
    assert leak(path, digits=2) > 0.9
