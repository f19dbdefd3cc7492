"""The progress file: atomic, tolerant, off where outputs are stored."""

from __future__ import annotations

import json
import multiprocessing
import os

import pytest

from cutaway.book import grade, progress
from cutaway.book.progress import Entry, ProgressError, load, record

RIGHT = grade.find("flow/end_to_end:3").reference


def wrong(*_):
    return -1


@pytest.fixture
def path(tmp_path, monkeypatch):
    for name in ("CI", "CUTAWAY_PROGRESS"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "deep" / "progress.json"
    monkeypatch.setenv("CUTAWAY_PROGRESS_FILE", str(file))
    return file


@pytest.mark.parametrize(
    "environ", [{"CI": "true"}, {"CI": "1"}, {"CUTAWAY_PROGRESS": "off"}]
)
def test_progress_is_off_in_ci_and_on_request(environ):
    full = {**environ, "CUTAWAY_PROGRESS_FILE": "/somewhere"}
    assert progress.progress_file(full) is None


def test_progress_lies_in_the_users_data_folder_by_default():
    found = progress.progress_file({})
    assert found is not None
    assert found.name == "progress.json"
    assert "cutaway" in found.parts


def test_a_file_that_does_not_exist_is_empty(path):
    assert load(path) == {}


def test_tries_are_counted_and_solved_stays_solved(path):
    for solved in (False, True, False):
        assert record(path, "a/b:1", solved) == ""
    record(path, "a/b:2", False)
    assert load(path) == {
        "a/b:1": Entry(tries=3, solved=True),
        "a/b:2": Entry(tries=1, solved=False),
    }


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "7", '{"version": 2, "exercises": {}}',
     '{"version": 1, "exercises": {"x": 3}}', '{"version": 1}', "\x00\x01"],
)  # fmt: skip
def test_a_broken_file_is_refused_then_set_aside(path, content):
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ProgressError, match="unreadable"):
        load(path)
    notice = record(path, "a/b:1", True)
    assert "Progress starts anew" in notice
    assert path.with_suffix(".broken").read_text("utf-8") == content
    assert load(path) == {"a/b:1": Entry(1, True)}


def test_an_interrupted_write_leaves_the_old_file(path, monkeypatch):
    record(path, "a/b:1", True)
    before = path.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        record(path, "a/b:2", True)
    monkeypatch.undo()
    assert path.read_bytes() == before
    left = sorted(p.name for p in path.parent.iterdir())
    assert [name for name in left if not name.endswith(".lock")] == [path.name]


def test_a_folder_that_cannot_be_made_is_a_notice(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    notice = record(blocker / "progress.json", "a/b:1", True)
    assert notice.startswith("Progress was not saved")


def many(path, exercise_id):
    for _ in range(20):
        record(path, exercise_id, False)


def test_two_processes_lose_no_try(path):
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=many, args=(path, f"a/b:{number}"))
        for number in (1, 2)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert load(path) == {
        "a/b:1": Entry(20, False),
        "a/b:2": Entry(20, False),
    }


def test_check_prints_the_same_whatever_was_solved_before(path, capsys):
    printed = []
    for answer in (wrong, RIGHT, wrong, RIGHT, ..., None):
        grade.check("flow/end_to_end:3", answer)
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[2]
    assert printed[1] == printed[3]
    assert printed[4] == printed[5] == "flow/end_to_end:3  not answered yet\n"
    assert load(path) == {"flow/end_to_end:3": Entry(4, True)}


def test_nothing_is_written_when_progress_is_off(path, monkeypatch, capsys):
    monkeypatch.setenv("CI", "true")
    grade.check("flow/end_to_end:3", RIGHT)
    grade.status()
    assert "not recorded here" in capsys.readouterr().out
    assert not path.parent.exists()


def test_status_survives_a_broken_file_and_says_so(path, capsys):
    path.parent.mkdir()
    path.write_text("{")
    grade.status("flow/end_to_end")
    out = capsys.readouterr().out
    assert "unreadable" in out
    assert "0 of 4 solved" in out
    assert path.read_text() == "{"


def test_the_file_is_plain_json(path):
    record(path, "a/b:1", True)
    content = json.loads(path.read_text("utf-8"))
    entry = {"tries": 1, "solved": True}
    assert content == {"version": 1, "exercises": {"a/b:1": entry}}
    assert os.path.getsize(path) < 200
