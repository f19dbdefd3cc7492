"""``--cache`` of generate and chat."""

from __future__ import annotations

import pytest

from cutaway.kvcache import CACHES

COMMANDS = [("generate", "hello"), ("chat",)]


@pytest.mark.parametrize("command", COMMANDS, ids=["generate", "chat"])
def test_contiguous_is_the_default(run, tiny_path, command):
    options = ("--model", tiny_path, "--impl", "numpy", "--max-tokens", 5)
    plain = run(*command, *options, stdin="hello\n")
    named = run(*command, *options, "--cache", "contiguous", stdin="hello\n")
    assert (plain.code, plain.err) == (0, "")
    assert plain.out == named.out


@pytest.mark.parametrize("command", COMMANDS, ids=["generate", "chat"])
def test_an_unknown_cache_is_one_line_with_the_known_ones(
    run, tiny_path, command
):
    ended = run(*command, "--model", tiny_path, "--cache", "ring", stdin="x\n")
    assert (ended.code, ended.out) == (2, "")
    listed = ", ".join(map(repr, CACHES))
    assert ended.err.startswith(
        f"cutaway: cache: got 'ring', expected one of {listed}"
    )
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("command", ["generate", "chat"])
def test_help_lists_the_caches(run, command):
    shown = " ".join(run(command, "--help").out.replace("│", " ").split())
    assert "--cache" in shown
    for name in CACHES:
        assert name in shown


@pytest.mark.parametrize("name", sorted(CACHES))
def test_every_cache_generates(run, tiny_path, name):
    ended = run(
        *("generate", "hello", "--model", tiny_path, "--impl", "numpy"),
        *("--max-tokens", 5, "--cache", name),
    )
    assert ended.code == 0, ended.err
    assert ended.out.strip()
