"""Directive ``public``: everything that a module of the package exports.

The list is read from the module itself, so that the page of the API has
each public name and no other.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def public_names(module: ModuleType) -> list[str]:
    """Return ``__all__``, or else the functions and classes defined here."""
    named = getattr(module, "__all__", None)
    if named is None:
        named = [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", None) == module.__name__
        ]
    return [name for name in named if not name.startswith("_")]


def exported(module: ModuleType, name: str) -> Any:
    """Return what a name of ``__all__`` stands for; it may be a module."""
    if hasattr(module, name):
        return getattr(module, name)
    return importlib.import_module(f"{module.__name__}.{name}")


def entry(module: str, name: str, value: Any) -> Iterator[str]:
    """Yield the reStructuredText that documents one public name."""
    if inspect.ismodule(value):
        yield from listing(value.__name__)
        return
    if inspect.isclass(value):
        yield f".. autoclass:: {module}.{name}"
        if not issubclass(value, Exception):
            yield "   :members:"
    elif callable(value):
        yield f".. autofunction:: {module}.{name}"
    else:
        yield f".. autodata:: {module}.{name}"
        yield "   :no-value:"
    yield ""


def listing(module: str) -> Iterator[str]:
    """Yield the reStructuredText that documents a module's names."""
    loaded = importlib.import_module(module)
    for name in public_names(loaded):
        yield from entry(module, name, exported(loaded, name))


class Public(SphinxDirective):
    """Document all public names of the module named as the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the documentation of each name, in the module's order."""
        source, _ = self.get_source_info()
        lines = StringList(list(listing(self.arguments[0])), source)
        parent = nodes.Element()
        self.state.nested_parse(lines, self.content_offset, parent)
        return parent.children
