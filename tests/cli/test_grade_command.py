"""``cutaway grade`` shows progress and refuses unknown sections."""

from __future__ import annotations

import pytest

from cutaway import cli
from cutaway.book import progress


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("CUTAWAY_PROGRESS", raising=False)
    file = tmp_path / "progress.json"
    monkeypatch.setenv("CUTAWAY_PROGRESS_FILE", str(file))
    return file


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line; return exit code, output and error output."""

    def run_it(*words):
        monkeypatch.setattr("sys.argv", ["cutaway", "grade", *words])
        try:
            code = cli.main()
        except SystemExit as end:
            code = end.code
        return (code or 0, *capsys.readouterr())

    return run_it


def test_a_new_learner_sees_everything_open(path, run):
    code, out, _ = run()
    assert code == 0
    assert "flow/end_to_end  0 of 4 solved" in out
    assert not path.exists()


def test_solved_exercises_are_shown(path, run):
    progress.record(path, "flow/end_to_end:2", True)
    code, out, _ = run("flow/end_to_end")
    assert code == 0
    assert "flow/end_to_end  1 of 4 solved" in out
    assert "2  solved  1 try     The greedy loop" in out


def test_an_unknown_section_exits_2_and_names_the_known_ones(path, run):
    code, out, err = run("flow/nowhere")
    assert code == 2
    assert "got 'flow/nowhere', expected one of " in err
    assert "flow/end_to_end" in err
    assert out == ""


def test_too_many_words_exit_2(path, run):
    code, _, err = run("flow/end_to_end", "more")
    assert code == 2
    assert "unexpected" in err
