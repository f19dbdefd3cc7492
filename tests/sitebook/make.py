"""Write the small book: real layout and settings, pages of its own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = Path(__file__).parent / "pages"
TOC = """\
format: jb-book
root: book/index
parts:
  - caption: The only part
    chapters:
      - file: book/part/section
  - caption: Reference
    chapters:
      - file: book/words
      - file: book/sources
"""
INTRO = """\
# What a pass costs

**You will be able to** predict how long one forward pass takes.
Reading: 5 minutes. Running: 2 seconds, 0.2 GB.

A **prefill** reads the whole prompt at once
([Vaswani et al. 2017](../sources.md#vaswani2017), Section 3). A decode step
reads one token ({cite:p}`kwon2023`).

## One layer by hand

The scores of query $q_i$ over the keys $k_j$, $j \\le i$, are

$$
p_{ij} = \\frac{\\exp(q_i \\cdot k_j / \\sqrt{d_h})}
{\\sum_{m \\le i} \\exp(q_i \\cdot k_m / \\sqrt{d_h})},
\\qquad o_i = \\sum_{j \\le i} p_{ij} v_j \\in \\mathbb{R}^{d_h}
$$

so that a formula wider than a phone must scroll by itself.

:::{note}
The scale is $1/\\sqrt{d_h}$, the width of one head.
:::

:::{warning}
A mask that starts at the top left is wrong when there is a cache.
:::
"""
CODE = '''\
def attention(q, k, v, scale):  # a line of exactly eighty columns, to the end..
    """Read from earlier tokens: a weighted mean of their values."""
    scores = q @ k.T * scale
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v'''
TABLE = """\
## What was measured

| step | tokens | FLOPs | bytes read from memory | bound | predicted | measured |
|---|---:|---:|---:|---|---:|---:|
| prefill | 37 | 9.955e+09 | 538,060,032 | compute | 0.0996 s | 0.1313 s |
| decode | 1 | 2.690e+08 | 538,060,032 | memory | 0.0299 s | 0.0981 s |

> A quotation, to see how it looks.

### Exercise 1

Write `ridge(peak, bandwidth)`: the intensity at which both take equally long.
"""
SVG = (
    '<svg id="demo" role="img" aria-label="Two bars: decode waits for '
    'memory" viewBox="0 0 360 200" width="360" height="200" '
    'xmlns="http://www.w3.org/2000/svg">'
    "<title>Two bars: decode waits for memory</title>"
    '<path d="M40 10V170H350" fill="none" stroke="currentColor"/>'
    '<rect x="70" y="60" width="90" height="110" fill="#0072b2"/>'
    '<rect x="210" y="30" width="90" height="140" fill="#d55e00"/>'
    '<text x="85" y="190" font-size="14" fill="currentColor">prefill</text>'
    '<text x="225" y="190" font-size="14" fill="currentColor">decode</text></svg>'
)
WIDE = "step      " + "  ".join(f"layer{i:02}" for i in range(12))


def cells() -> list[nbformat.NotebookNode]:
    """Return the cells of the section, outputs stored."""
    shown = '<div class="highlight"><pre><span></span>shown</pre></div>'
    return [
        new_markdown_cell(INTRO, id="intro"),
        code(CODE, id="code"),
        code(
            "print(table)",
            new_output("stream", text=f"{WIDE}\n{WIDE.upper()}\n"),
            id="print",
        ),
        code("figure.show(fig)", html(SVG), id="figure"),
        code("show(attention)", html(shown), id="show"),
        code("1 / 3", result("0.3333"), id="value"),
        new_markdown_cell(TABLE, id="table"),
        code("grade.check(...)", result("not answered yet"), id="exercise"),
        code(
            "def ridge(peak, bandwidth):\n    return peak / bandwidth",
            id="solution",
            metadata={
                "tags": ["hide-cell"],
                "mystnb": {"code_prompt_show": "Show the solution"},
            },
        ),
    ]


def code(
    source: str, *outputs: nbformat.NotebookNode, id: str, **fields: object
) -> nbformat.NotebookNode:
    """Return a code cell that looks executed."""
    return new_code_cell(
        source, outputs=list(outputs), execution_count=1, id=id, **fields
    )


def html(text: str) -> nbformat.NotebookNode:
    """Return an output of HTML, with the plain text beside it."""
    data = {"text/html": text, "text/plain": "<shown>"}
    return new_output("display_data", data)


def result(text: str) -> nbformat.NotebookNode:
    """Return the value of a cell's last expression."""
    data = {"text/plain": text}
    return new_output("execute_result", data, execution_count=1)


def section() -> nbformat.NotebookNode:
    """Return the section's notebook."""
    kernel = {"name": "python3", "display_name": "Python 3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return new_notebook(cells=cells(), metadata=metadata)


def make_book(folder: Path) -> Path:
    """Write the small book into an empty folder; return the folder."""
    pages = folder / "book"
    shutil.copytree(PAGES, pages)
    shutil.copytree(ROOT / "book" / "_static", pages / "_static")
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    extension = ROOT / "tools" / "sphinx_ext"
    settings = re.sub(
        r"(cutaway_site: ).*", rf"\g<1>{extension.as_posix()}", settings
    )
    (folder / "_config.yml").write_text(settings, encoding="utf-8")
    (folder / "_toc.yml").write_text(TOC, encoding="utf-8")
    (pages / "part").mkdir()
    nbformat.write(section(), pages / "part" / "section.ipynb")
    return folder
