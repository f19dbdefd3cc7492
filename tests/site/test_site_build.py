"""Building the site: warnings fail, nothing stale stays, reuse is quick."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sitetools import SiteError, build, missing_pages, toc_entries

pytestmark = pytest.mark.tamper

ROOT = Path(__file__).resolve().parents[2]
NEW_PAGE = "# A new page\n\n" + "It has a few words of text. " * 6 + "\n"


@pytest.fixture
def book(small_book: Path, tmp_path: Path) -> Path:
    """A copy of the small book that has just been built."""
    root = tmp_path / "book"
    shutil.copytree(small_book, root)
    build(root)
    return root


def site_of(book: Path) -> Path:
    return book / "_build" / "html"


def append(file: Path, text: str) -> None:
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_second_build_without_a_change_writes_nothing(book):
    def times():
        return {f: f.stat().st_mtime_ns for f in site_of(book).rglob("*.*")}

    before = times()
    started = time.perf_counter()
    build(book)
    assert times() == before
    assert time.perf_counter() - started < 5


def test_changed_page_is_built_again(book):
    append(book / "book" / "words.md", "\nA sentence that was added.\n")
    build(book)
    page = site_of(book) / "book" / "words.html"
    assert "A sentence that was added." in page.read_text(encoding="utf-8")


def test_page_that_is_removed_disappears(book):
    (book / "book" / "extra.md").write_text(NEW_PAGE)
    toc = book / "_toc.yml"
    kept = toc.read_text()
    toc.write_text(f"{kept}      - file: book/extra\n")
    build(book)
    assert (site_of(book) / "book" / "extra.html").is_file()
    (book / "book" / "extra.md").unlink()
    toc.write_text(kept)
    build(book)
    named = [
        file.relative_to(site_of(book)).as_posix()
        for file in site_of(book).rglob("*.*")
        if "extra" in file.name
        or (file.suffix in (".html", ".js", ".xml") and b"extra" in read(file))
    ]
    assert [name for name in named if not name.startswith("_static")] == []


def read(file: Path) -> bytes:
    return file.read_bytes().replace(b"rextra", b"").replace(b"extrahead", b"")


WARNED = {
    "[lost](lost.md)": "'lost.md'",
    "{ref}`nowhere`": "undefined label: 'nowhere'",
    "{cite:p}`nobody2020`": "nobody2020",
    "[key](sources.md#missing2020)": "missing2020",
    "```{nonsense}\n```": "nonsense",
}


def test_every_warning_fails_the_build_and_does_so_again(book):
    append(book / "book" / "words.md", "\n" + "\n\n".join(WARNED) + "\n")
    for _ in range(2):
        with pytest.raises(SiteError, match="exit status") as failure:
            build(book)
        for said in WARNED.values():
            assert said in str(failure.value)


def test_page_of_the_toc_that_does_not_exist_fails_the_build(book):
    append(book / "_toc.yml", "      - file: book/gone\n")
    with pytest.raises(SiteError):
        build(book)


def test_page_without_words_fails_the_build(book):
    (book / "book" / "words.md").write_text("# Words\n\n{#symbols}\nFew.\n")
    with pytest.raises(SiteError):
        build(book)


def test_missing_and_empty_pages_are_named(book):
    site = site_of(book)
    (site / "book" / "words.html").unlink()
    (site / "book" / "sources.html").write_text("<article>few</article>")
    shutil.rmtree(site / "book" / "part")
    assert [line.split(":")[0] for line in missing_pages(book, site)] == [
        "book/part/section",
        "book/words",
        "book/sources",
    ]


def test_removed_html_is_built_again(book):
    page = site_of(book) / "book" / "words.html"
    page.unlink()
    build(book)
    assert page.is_file()


def test_toc_entries_start_with_the_root(small_book):
    assert toc_entries(small_book) == [
        "book/index",
        "book/part/section",
        "book/words",
        "book/sources",
    ]


def test_fork_publishes_under_its_own_name(book, monkeypatch):
    monkeypatch.setenv("CUTAWAY_REPOSITORY", "Someone/course")
    build(book)
    site = site_of(book)
    page = (site / "book" / "part" / "section.html").read_text()
    assert "github.com/Someone/course/blob/main/book/part/section" not in page
    assert "colab.research.google.com/github/Someone/course/blob/main/" in page
    assert "https://someone.github.io/course/book/part/section.html" in page
    assert "/course/_static/" in (site / "404.html").read_text()


def test_command_prints_the_path_of_the_first_page(small_book):
    command = [sys.executable, str(ROOT / "tools" / "build_site.py"), "build"]
    done = subprocess.run(
        [*command, "--root", str(small_book)],
        capture_output=True,
        text=True,
        check=True,
    )
    last = Path(done.stdout.splitlines()[-1])
    assert last == small_book / "_build" / "html" / "index.html"
    assert last.is_file()


def test_command_fails_where_there_is_no_book(tmp_path):
    command = [sys.executable, str(ROOT / "tools" / "build_site.py"), "build"]
    done = subprocess.run(
        [*command, "--root", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "got no _config.yml" in done.stderr
    assert "Traceback" not in done.stderr
