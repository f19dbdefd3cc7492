"""A site is built anew after a change in anything that forms its pages."""

from __future__ import annotations

import re

from sitetools import inputs

ROOT = inputs.TOOLS.parent
IMPORT = r"^ *(?:from|import) (bookcheck[\w.]*)"


def test_what_the_extensions_import_is_part_of_the_layout():
    named = {
        module
        for file in inputs.EXTENSIONS.rglob("*.py")
        for module in re.findall(IMPORT, file.read_text("utf-8"), re.M)
    }
    assert named
    files = {inputs.TOOLS / f"{name.replace('.', '/')}.py" for name in named}
    assert set(inputs.IMPORTED) == files
    for file in files:  # and these import nothing else of the folder
        assert not re.findall(IMPORT, file.read_text("utf-8"), re.M)


def test_a_change_in_an_imported_check_changes_the_fingerprint(
    tmp_path, monkeypatch
):
    copied = tmp_path / "glossary.py"
    copied.write_text(inputs.IMPORTED[0].read_text("utf-8"), "utf-8")
    monkeypatch.setattr(inputs, "IMPORTED", (copied,))
    before = inputs.fingerprint(ROOT)
    assert inputs.fingerprint(ROOT) == before
    with copied.open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    after = inputs.fingerprint(ROOT)
    assert after["layout"] != before["layout"]
    assert after["settings"] == before["settings"]
