"""Coverage of the package by the book: no public name without a use.

A public name, one in the ``__all__`` of a sub-package, counts as exercised
when a code cell of a chapter uses it (an import alone is no use), or when
the API pages list it and its docstring holds a doctest. They list a name by
an ``autofunction`` or ``autoclass``, or its whole module by ``public``.
Errors, protocols and dataclasses need none: what raises, takes or returns
them is exercised.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "cutaway"
_MAGIC = re.compile(r"^(\s*)(?:%{1,2}|!|\?)(?=\w)", re.M)
_PUBLIC = re.compile(r"^\.\. public:: ([\w.]+)", re.M)
_DIRECTIVE = re.compile(
    r"^\s*(?:`{3,}|:{3,})?\s*(?:\{|\.\.\s+)"
    r"auto(?:function|class|decorator)(?:\}|::)\s+([\w.]+)",
    re.M,
)


def public_names(package: str = PACKAGE) -> dict[str, Any]:
    """Return the public functions and classes of the sub-packages.

    Returns:
        Dotted name, as a reader would import it, to the object. A module
        named in an ``__all__`` stands for its own public names.
    """
    top = import_module(package)
    found: dict[str, Any] = {}
    for info in pkgutil.iter_modules(top.__path__, f"{package}."):
        if info.ispkg:
            found.update(_exports(import_module(info.name)))
    return found


def _exports(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in getattr(module, "__all__", ()):
        dotted = f"{module.__name__}.{name}"
        value = resolve(dotted)
        if inspect.ismodule(value):
            yield from _exports(value)
        elif _needs_exercise(value):
            yield dotted, value


def _needs_exercise(value: Any) -> bool:
    if not inspect.isclass(value):
        return inspect.isroutine(value)
    return not (
        issubclass(value, Exception)
        or dataclasses.is_dataclass(value)
        or getattr(value, "_is_protocol", False)
    )


def resolve(dotted: str) -> Any:
    """Return the object of a dotted name, or None if there is none.

    An attribute goes before a module of the same name, as it does in
    ``from package import name``.

    >>> resolve("json.dumps") is __import__("json").dumps
    True
    """
    head, *rest = dotted.split(".")
    try:
        value: Any = import_module(head)
        for at, part in enumerate(rest, start=1):
            if not hasattr(value, part):
                import_module(".".join([head, *rest[:at]]))
            value = getattr(value, part)
    except (ModuleNotFoundError, AttributeError):
        return None
    return value


def names_used(sources: list[str], package: str = PACKAGE) -> set[str]:
    """Return the dotted names of the package that code cells use.

    Args:
        sources: The code cells of one notebook, in order.
        package: Names of other packages are left out.

    >>> cells = ["from cutaway.core import merge as m", "s = m(a, b)"]
    >>> sorted(names_used(cells))
    ['cutaway.core.merge']
    >>> names_used(cells[:1])
    set()
    """
    known: dict[str, str] = {}
    used: set[str] = set()
    for source in sources:
        tree = ast.parse(_MAGIC.sub(r"\1pass  # ", source))
        for node in ast.walk(tree):
            known.update(_imported(node, package))
        for node in ast.walk(tree):
            dotted = _dotted(node)
            head, _, rest = dotted.partition(".")
            if head in known:
                used.add(f"{known[head]}.{rest}" if rest else known[head])
    return used


def _imported(node: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Yield the local names that an import binds, with what they mean."""
    if isinstance(node, ast.ImportFrom) and node.module:
        if node.module.split(".")[0] == package:
            for alias in node.names:
                local = alias.asname or alias.name
                yield local, f"{node.module}.{alias.name}"
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] != package:
                continue
            if alias.asname:
                yield alias.asname, alias.name
            else:
                yield package, package


def _dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` for such an expression, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return ""


def code_cells(notebook: Path) -> list[str]:
    """Return the sources of a notebook's code cells."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]


def documented_names(api_page: str) -> set[str]:
    """Return the names whose API entry shows a doctest.

    Args:
        api_page: Text of the pages, with their autodoc directives.
    """
    listed = set(_DIRECTIVE.findall(api_page))
    for module in _PUBLIC.findall(api_page):
        listed.update(name for name, _ in _exports(import_module(module)))
    return {name for name in listed if ">>>" in _docstrings(resolve(name))}


def _docstrings(value: Any) -> str:
    """Return an object's docstring, and those of a class's own methods."""
    texts = [inspect.getdoc(value) or ""] if value is not None else []
    if inspect.isclass(value):
        texts += [
            inspect.getdoc(getattr(value, name)) or ""
            for name in vars(value)
            if not name.startswith("_")
        ]
    return "\n".join(texts)


def unexercised(notebooks: list[Path], api_page: str) -> list[str]:
    """Return the public names that neither a chapter nor the API page uses.

    Args:
        notebooks: All chapters of the book.
        api_page: Text of the API page.
    """
    names = documented_names(api_page)
    for notebook in notebooks:
        names |= names_used(code_cells(notebook))
    # An object has several dotted names: compare the objects.
    seen = [resolve(name) for name in names]
    return sorted(
        dotted
        for dotted, value in public_names().items()
        if not any(value is other for other in seen)
    )
