"""Show the live source of the package as an output of a cell.

The text of a chapter must not retype code: an edited function would leave
the copy behind. ``show`` prints what is imported, so nbval fails until the
chapter has been run, and read, again.
"""

from __future__ import annotations

import ast
import html
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cutaway
from cutaway.book.output import show_html
from cutaway.core.checks import check

__all__ = ["show"]

MAX_COLUMNS = 80


@dataclass(frozen=True)
class Source:
    """The source of a function or class, its long docstrings set apart.

    Attributes:
        name: Qualified name within its module.
        path: File within the package, with forward slashes.
        text: The source as written, dedented.
        code: The same without docstrings of several lines.
        docs: Those docstrings: whose they are, and their text.
    """

    name: str
    path: str
    text: str
    code: str
    docs: tuple[tuple[str, str], ...]


def show(fn: Any) -> None:
    """Display the source of a function, class or method of the package.

    Docstrings of more than one line are folded below the code, so that
    the page shows what runs. A one-line docstring stays in place.

    Args:
        fn: A function, class, method or property of ``cutaway``.

    Raises:
        ArgumentError: ``fn`` is none of the package's, or a line of it is
            wider than the 80 columns a page shows.

    >>> from cutaway.core.errors import ArgumentError
    >>> show(ArgumentError)
    # cutaway/core/errors.py: ArgumentError
    class ArgumentError(CutawayError):
        \"\"\"An argument of a public function is unusable.\"\"\"
    """
    source = read_source(fn)
    show_html(_as_html(source), _as_text(source))


def read_source(fn: Any) -> Source:
    """Return the source behind an object of the package.

    Args:
        fn: A function, class, method or property of ``cutaway``.

    Raises:
        ArgumentError: As for ``show``.
    """
    target: Any = fn.fget if isinstance(fn, property) else fn
    if callable(target) and not inspect.isclass(target):
        target = inspect.unwrap(target)
    expected = "a function, class or method of the package cutaway"
    module = getattr(target, "__module__", None) or ""
    shown = getattr(target, "__qualname__", repr(type(target)))
    ours = module.split(".")[0] == "cutaway"
    check(ours and hasattr(target, "__qualname__"), "fn", shown, expected)
    file = Path(inspect.getsourcefile(target) or "").resolve()
    root = Path(str(cutaway.__file__)).resolve().parent.parent
    check(file.is_relative_to(root), "fn", shown, expected)
    text = textwrap.dedent(inspect.getsource(target)).rstrip()
    for line in text.splitlines():
        check(
            len(line) <= MAX_COLUMNS,
            f"width of a line of {shown}",
            len(line),
            f"<= {MAX_COLUMNS} columns: {line.strip()[:40]!r}",
        )
    code, docs = _split(text, shown)
    return Source(shown, file.relative_to(root).as_posix(), text, code, docs)


def _split(text: str, name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Take the docstrings of several lines out of a definition."""
    lines = text.splitlines()
    docs: list[tuple[str, str]] = []
    drop: set[int] = set()
    for owner, node in _definitions(ast.parse(text).body[0], name):
        first = node.body[0]
        doc = ast.get_docstring(node)
        alone = len(node.body) == 1
        if doc is None or alone or first.lineno == first.end_lineno:
            continue
        docs.append((owner, doc))
        after = first.end_lineno or first.lineno
        drop.update(range(first.lineno - 1, after))
        if after < len(lines) and not lines[after].strip():
            drop.add(after)
    kept = [line for at, line in enumerate(lines) if at not in drop]
    return "\n".join(kept), tuple(docs)


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definitions(node: ast.AST, name: str) -> Iterator[tuple[str, _Definition]]:
    """Yield a definition and those directly inside its classes."""
    if isinstance(node, _Definition):
        yield name, node
        if isinstance(node, ast.ClassDef):
            for child in node.body:
                inner = getattr(child, "name", "")
                yield from _definitions(child, f"{name}.{inner}")


def _as_text(source: Source) -> str:
    return f"# {source.path}: {source.name}\n{source.text}"


def _as_html(source: Source) -> str:
    """Return the code, highlighted by the page's own style sheet."""
    parts = [
        '<div class="cutaway-source">',
        f'<p class="cutaway-source-name"><code>{html.escape(source.name)}'
        f"</code> in <code>{html.escape(source.path)}</code></p>",
        '<div class="highlight-python"><div class="highlight">'
        f'<pre tabindex="0">{_highlight(source.code)}</pre></div></div>',
    ]
    if source.docs:
        several = len(source.docs) > 1
        parts.append(f"<details><summary>Docstring{'s' * several}</summary>")
        for owner, doc in source.docs:
            if several:
                parts.append(f"<p><code>{html.escape(owner)}</code></p>")
            parts.append(f'<pre tabindex="0">{html.escape(doc)}</pre>')
        parts.append("</details>")
    parts.append("</div>")
    return "\n".join(parts)


def _highlight(code: str) -> str:
    """Return HTML with Pygments' class names; plain where it is missing."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return html.escape(code)
    return highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip()
