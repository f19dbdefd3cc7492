"""A copy of the package, to be edited while the real one stays as it is."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

from tamper.copies import ROOT


def copy_package(folder: Path) -> Path:
    """Copy the package into a folder that may stand on ``PYTHONPATH``."""
    shutil.copytree(
        ROOT / "src" / "cutaway",
        folder / "cutaway",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return folder


def comment(file: Path, name: str) -> None:
    """Put a comment into a function: nothing changes but its text.

    Args:
        file: A module.
        name: Qualified name of the function in it.
    """
    text = file.read_text(encoding="utf-8")
    node: ast.AST = ast.parse(text)
    for part in name.split("."):
        [node] = [
            child
            for child in ast.iter_child_nodes(node)
            if getattr(child, "name", None) == part
        ]
    assert isinstance(node, ast.FunctionDef)
    last = node.body[-1]
    lines = text.splitlines(keepends=True)
    lines.insert(last.lineno - 1, f"{' ' * last.col_offset}# edited\n")
    file.write_text("".join(lines), encoding="utf-8")


def replace(file: Path, old: str, new: str) -> None:
    """Replace text in a module, where it stands once."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} in {file.name}"
    file.write_text(text.replace(old, new), encoding="utf-8")
