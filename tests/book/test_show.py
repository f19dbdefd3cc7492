"""``show`` displays live source, and nothing that differs between machines."""

from __future__ import annotations

import html
import importlib
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import cutaway
from cutaway.book import show
from cutaway.book.show import read_source
from cutaway.core import AttentionState, ModelConfig, merge
from cutaway.core.errors import ArgumentError, CutawayError

PACKAGE = Path(cutaway.__file__).parent


@pytest.fixture
def shown(monkeypatch):
    """A function that shows an object and returns the HTML and the text."""
    module = importlib.import_module("cutaway.book.show")
    seen: list[tuple[str, str]] = []
    monkeypatch.setattr(
        module, "show_html", lambda markup, text: seen.append((markup, text))
    )

    def run(fn: object) -> tuple[str, str]:
        show(fn)
        return seen.pop()

    return run


def plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@pytest.fixture
def planted(tmp_path):
    """A function that makes a module of the package from source."""
    made: list[str] = []

    def make(source: str):
        name = f"cutaway.planted_{len(made)}"
        spec = importlib.util.spec_from_file_location(
            name, tmp_path / f"planted_{len(made)}.py"
        )
        assert spec is not None
        assert spec.loader is not None
        Path(str(spec.origin)).write_text(source)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        made.append(name)
        spec.loader.exec_module(module)
        return module

    yield make
    for name in made:
        del sys.modules[name]


def test_text_is_the_source_under_a_line_that_names_it(shown):
    _, text = shown(merge)
    head, _, body = text.partition("\n")
    assert head == "# cutaway/core/state.py: merge"
    assert body == inspect.getsource(merge).rstrip()


def test_html_holds_code_and_docstring_apart(shown):
    markup, _ = shown(merge)
    code, _, folded = markup.partition("<details>")
    assert "lse = np.logaddexp(lse_a, lse_b)" in plain(code)
    assert "Combine attention" not in plain(code)
    assert "Combine attention over two disjoint sets" in plain(folded)
    assert "Where both are empty, lse is -inf" in plain(code)  # a comment
    assert "cutaway/core/state.py" in plain(code)


def test_code_without_docstring_is_every_other_line(shown):
    source = read_source(merge)
    docstring = re.compile(r'""".*?"""', re.S)
    wanted = docstring.sub("", inspect.getsource(merge), count=1)
    assert [line for line in source.code.splitlines() if line.strip()] == [
        line.rstrip() for line in wanted.splitlines() if line.strip()
    ]


def test_class_folds_the_docstrings_of_its_methods():
    source = read_source(ModelConfig)
    owners = [owner for owner, _ in source.docs]
    assert owners[0] == "ModelConfig"
    assert "ModelConfig.from_gguf" in owners
    assert "@dataclass(frozen=True, kw_only=True)" in source.code
    assert '"""Query heads that share one key/value head."""' in source.code


def test_class_with_nothing_but_a_docstring_keeps_it():
    assert read_source(ArgumentError).code.endswith('unusable."""')
    assert read_source(ArgumentError).docs == ()


@pytest.mark.parametrize(
    ("fn", "name"),
    [
        (AttentionState.empty, "AttentionState.empty"),
        (ModelConfig.group_size, "ModelConfig.group_size"),
        (ModelConfig.__post_init__, "ModelConfig.__post_init__"),
        (CutawayError.__str__, "CutawayError.__str__"),
    ],
)
def test_methods_and_properties_are_shown_dedented(shown, fn, name):
    markup, text = shown(fn)
    assert text.splitlines()[0].endswith(f": {name}")
    assert not text.splitlines()[1].startswith(" ")
    assert f"<code>{name}</code>" in markup


def test_output_holds_no_path_of_this_machine_and_no_address(shown):
    for fn in (merge, ModelConfig, show):
        for part in shown(fn):
            assert str(PACKAGE) not in part
            assert str(Path.home()) + "/" not in part
            assert not re.search(r"0x[0-9a-f]{6,}", part)


def test_signs_of_html_are_escaped(shown):
    markup, text = shown(show)
    assert '"<' in text or "'<" in text or ">>>" in text
    assert ">>>" not in markup
    assert "&gt;&gt;&gt;" in markup


def test_scrolling_blocks_can_be_reached_by_keyboard(shown):
    markup, _ = shown(merge)
    assert markup.count("<pre") == markup.count('<pre tabindex="0"') == 2


@pytest.mark.parametrize(
    "fn",
    [np.add, len, lambda x: x, 3, "merge", np, test_signs_of_html_are_escaped],
)
def test_what_is_not_the_packages_is_refused(fn):
    with pytest.raises(ArgumentError, match="fn"):
        show(fn)


def test_a_function_outside_the_packages_folder_is_refused(planted):
    module = planted("def f():\n    return 1\n")
    with pytest.raises(ArgumentError, match="package cutaway"):
        show(module.f)


def test_lines_wider_than_the_page_are_refused(planted, monkeypatch):
    wide = planted(f"def f():\n    return {'1 + ' * 30}1\n")
    fit = planted(f"def f():\n    return '{'a' * 67}'\n")
    module = importlib.import_module("cutaway.book.show")
    monkeypatch.setattr(
        module.cutaway, "__file__", str(Path(wide.__file__).parent / "x" / "y")
    )
    with pytest.raises(ArgumentError, match="width of a line of f"):
        show(wide.f)
    assert read_source(fit.f).path == Path(fit.__file__).name


def test_an_edit_of_the_source_changes_the_output(planted, monkeypatch, shown):
    module = importlib.import_module("cutaway.book.show")
    before = planted("def f(x):\n    return x + 1\n")
    after = planted("def f(x):\n    return x + 2\n")
    root = str(Path(before.__file__).parent / "x" / "y")
    monkeypatch.setattr(module.cutaway, "__file__", root)
    for first, second in zip(shown(before.f), shown(after.f), strict=True):
        assert first != second
