"""``cutaway doctor``: an honest report, and a way out of every trouble."""

from __future__ import annotations

import json
import platform
import re
import tomllib
from pathlib import Path

import pytest

import cutaway
from cutaway.cli import doctor, machine
from cutaway.cli.machine import Finding
from cutaway.weights import FetchError

GOOD = [
    Finding(name, "ok", "there")
    for name in (
        "python",
        *machine.REQUIRED,
        "torch",
        "weights",
        *machine.OPTIONAL,
    )
]


@pytest.fixture
def found(monkeypatch):
    """Let the doctor see a machine of the test's making."""

    def found(findings: list[Finding]) -> None:
        monkeypatch.setattr(doctor, "look_around", lambda model: findings)

    return found


@pytest.fixture
def no_weights(monkeypatch, tmp_path):
    monkeypatch.delenv("CUTAWAY_MODELS", raising=False)
    monkeypatch.setenv("CUTAWAY_CACHE", str(tmp_path / "deep" / "cache"))
    return tmp_path


def test_healthy_machine_exits_0_and_everything_works(run, found) -> None:
    found([*GOOD, Finding("browser", "ok", "/usr/bin/chromium")])
    ended = run("doctor")
    assert (ended.code, ended.err) == (0, "")
    assert f"cutaway {cutaway.__version__}" in ended.out
    assert re.findall(r"  (yes|no) ", ended.out + " ").count("no") == 0
    data = json.loads(run("doctor", "--json").out)
    assert data["ok"] is True
    assert data["works"] == dict.fromkeys(doctor.NEEDS, True)


def test_missing_requirement_exits_1_with_what_to_do(run, found) -> None:
    torch = Finding(
        "torch", "missing", "cannot be imported", "pip install torch"
    )
    found([torch if old.name == "torch" else old for old in GOOD])
    ended = run("doctor")
    assert ended.code == 1
    assert "-> pip install torch" in ended.out
    assert "needs torch" in ended.out
    assert "required is missing" in ended.err
    as_json = run("doctor", "--json")
    data = json.loads(as_json.out)
    assert as_json.code == 1
    assert data["ok"] is False
    assert data["works"]["generate and chat"] is False


def test_absent_browser_is_no_failure_but_the_site_cannot_be_tested(
    run, found
) -> None:
    found(
        [*GOOD, Finding("browser", "absent", "none found", "install Chromium")]
    )
    ended = run("doctor", "--json")
    assert ended.code == 0
    works = json.loads(ended.out)["works"]
    assert [work for work, can in works.items() if not can] == ["test the site"]


def test_this_machine_is_examined_without_a_failure_of_the_doctor(run) -> None:
    ended = run("doctor", "--json")
    data = json.loads(ended.out)
    findings = {each["name"]: each for each in data["findings"]}
    assert ended.code == (0 if data["ok"] else 1)
    assert platform.python_version() in findings["python"]["value"]
    assert re.match(r"\d+ usable of \d+$", findings["cores"]["value"])
    assert re.match(r"[\d.]+ GB \([\d.]+ GiB\)$", findings["memory"]["value"])
    assert re.search(r"\d+ threads?", findings["torch"]["value"])
    for each in findings.values():
        assert bool(each["fix"]) == (each["status"] in ("missing", "absent"))


@pytest.mark.model
def test_real_weights_are_found_and_verified(run) -> None:
    data = json.loads(run("doctor", "--json").out)
    (weights,) = (
        each for each in data["findings"] if each["name"] == "weights"
    )
    assert weights["status"] == "ok"
    assert weights["value"].endswith("(98.4 MB, sha256 verified)")
    assert data["works"]["generate and chat"] is True


def test_weights_not_fetched_yet_are_missing_with_two_ways_out(
    run, no_weights
) -> None:
    ended = run("doctor")
    assert ended.code == 1
    assert "smollm2-135m-instruct is not here yet" in ended.out
    assert "cutaway doctor --fetch" in ended.out
    assert "CUTAWAY_MODELS" in ended.out
    assert list(no_weights.iterdir()) == []  # looking leaves no trace


def test_wrong_file_in_the_chosen_folder_is_told_and_not_trusted(
    no_weights, monkeypatch
) -> None:
    from cutaway.weights import MODELS

    source = MODELS["smollm2-135m-instruct"]
    (no_weights / source.file_name).write_bytes(b"GGUF but another")
    monkeypatch.setenv("CUTAWAY_MODELS", str(no_weights))
    found = machine.weights(source.name)
    assert found.status == "missing"
    assert source.file_sha256 in found.value
    assert "CUTAWAY_MODELS" in found.fix


def test_fetch_option_fetches_first_and_reports_failure_as_exit_2(
    run, monkeypatch
) -> None:
    asked = []

    def fetch(model, *, progress):
        asked.append((model, progress))
        raise FetchError("model", "no network", "a file in the cache")

    monkeypatch.setattr("cutaway.weights.fetch", fetch)
    ended = run("doctor", "--fetch")
    assert asked == [("smollm2-135m-instruct", True)]
    assert ended.code == 2
    assert ended.err == (
        "cutaway: model: got no network, expected a file in the cache\n"
    )


def test_package_that_is_not_installed_is_named_with_its_cure() -> None:
    required = machine.package("no-such-package-of-ours", required=True)
    optional = machine.package("no-such-package-of-ours", required=False)
    assert (required.status, optional.status) == ("missing", "absent")
    assert required.fix == "pip install no-such-package-of-ours"


def test_check_that_needs_a_missing_package_is_a_finding() -> None:
    def examine() -> Finding:
        import no_such_package_of_ours

        return no_such_package_of_ours.found

    found = machine._examined("cache", examine)
    assert found.status == "missing"
    assert "no_such_package_of_ours" in found.value


def test_too_little_memory_is_said(monkeypatch) -> None:
    monkeypatch.setattr("cutaway.roofline.physical_memory_bytes", lambda: 10**9)
    found = machine.memory()
    assert found.status == "absent"
    assert found.value == "1.0 GB (0.9 GiB)"


def test_browser_is_the_one_named_or_none(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("cutaway.cli.browser.PLACES", ())
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CUTAWAY_CHROMIUM", raising=False)
    assert machine.browser().status == "absent"
    monkeypatch.setenv("CUTAWAY_CHROMIUM", str(tmp_path / "none"))
    assert "expected a file" in machine.browser().value
    (tmp_path / "chrome").touch()
    monkeypatch.setenv("CUTAWAY_CHROMIUM", str(tmp_path / "chrome"))
    assert machine.browser() == Finding(
        "browser", "ok", str(tmp_path / "chrome")
    )


def test_required_packages_are_those_of_the_project_file() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    declared = {
        re.match(r"[\w-]+", line).group()
        for line in tomllib.loads(text)["project"]["dependencies"]
    }
    drawn_by = {"typer", "rich"}
    assert {*machine.REQUIRED, "torch"} == declared - drawn_by
