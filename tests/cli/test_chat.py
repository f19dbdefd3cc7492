"""``cutaway chat``: history, commands, pipes, and a person at a terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time

import pytest

from cutaway import LLM, SamplingParams
from cutaway.cli.chat import Conversation
from oracles.tiny_model import write_tiny_model

GREEDY = SamplingParams(temperature=0, max_tokens=6)


@pytest.fixture(scope="module")
def llm(tiny_path) -> LLM:
    return LLM(tiny_path, impl="numpy")


@pytest.fixture
def chat(run, tiny_path):
    def chat(stdin: str | bytes, *args: object):
        model = ["--model", tiny_path, "--impl", "numpy", "--max-tokens", 6]
        return run("chat", *model, *args, stdin=stdin)

    return chat


def answer_of(llm: LLM, *said: str, system: str | None = None) -> str:
    """The answer to the last of what user and model said in turn."""
    messages = [] if system is None else [{"role": "system", "content": system}]
    for place, text in enumerate(said):
        role = ("user", "assistant")[place % 2]
        messages.append({"role": role, "content": text})
    return llm.chat(messages, GREEDY)[0].outputs[0].text


def test_each_line_of_a_pipe_is_a_message_and_history_is_kept(
    chat, llm
) -> None:
    first = answer_of(llm, "hi")
    second = answer_of(llm, "hi", first, "more")
    assert second != answer_of(llm, "more")
    ended = chat("hi\n\n   \nmore\n")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"{first}\n{second}\n"


def test_reset_forgets_and_quit_ends(chat, llm) -> None:
    ended = chat("hi\n/reset\nmore\n/quit\nnever\n")
    assert ended.out == f"{answer_of(llm, 'hi')}\n{answer_of(llm, 'more')}\n"
    assert ended.code == 0


def test_last_line_needs_no_line_break(chat, llm) -> None:
    assert chat("hi").out == f"{answer_of(llm, 'hi')}\n"


def test_empty_pipe_says_nothing(chat) -> None:
    ended = chat("")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_system_message_leads_and_outlives_a_reset(chat, llm) -> None:
    expected = answer_of(llm, "hi", system="be")
    assert expected != answer_of(llm, "hi")
    ended = chat("hi\n/reset\nhi\n", "--system", "be")
    assert ended.out == f"{expected}\n{expected}\n"


def test_full_context_in_a_pipe_is_one_line_and_exit_2(chat, llm) -> None:
    ended = chat("hi\n" + "y" * 200 + "\nhi\n")
    assert ended.code == 2
    assert ended.out == f"{answer_of(llm, 'hi')}\n"
    assert ended.err.startswith("cutaway: messages + max_tokens: got ")
    assert ended.err.count("\n") == 1


def test_line_that_is_no_utf8_is_refused_by_name(chat) -> None:
    ended = chat(b"a\xff\n")
    assert ended.code == 2
    assert ended.err.startswith("cutaway: messages")
    assert "U+DCFF" in ended.err


def test_conversation_that_fails_or_stops_holds_what_was_seen(llm) -> None:
    conversation = Conversation(llm, GREEDY)
    with pytest.raises(ValueError, match="max_seq_len"):
        list(conversation.answer("y" * 300))
    assert conversation.messages == []

    pieces = conversation.answer("hi")
    seen = ""
    while not seen:
        seen += next(pieces)
    pieces.close()
    assert conversation.messages == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": seen},
    ]
    conversation.reset()
    assert conversation.messages == []


class Terminal:
    """A chat at a pseudo-terminal, with a person's patience."""

    def __init__(self, model) -> None:
        import pty

        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cutaway", "chat", "--impl", "numpy",
             "--model", str(model), "--max-tokens", "89950"],
            stdin=slave, stdout=slave, stderr=slave,
            env={**os.environ, "TERM": "dumb"}, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.shown = b""

    def wait_for(self, text: bytes, timeout_s: float = 60) -> bool:
        """Read until the text is shown after what was waited for before."""
        end = time.monotonic() + timeout_s
        while text not in self.shown:
            left_s = end - time.monotonic()
            if (
                left_s <= 0
                or not select.select([self.master], [], [], left_s)[0]
            ):
                return False
            self.shown += os.read(self.master, 4096)
        self.shown = self.shown.partition(text)[2]
        return True

    def type(self, text: bytes) -> None:
        os.write(self.master, text)

    def interrupt_until(self, text: bytes) -> bool:
        """Press Ctrl-C; again if it came before readline was listening."""
        for _ in range(20):
            os.kill(self.process.pid, signal.SIGINT)
            if self.wait_for(text, timeout_s=3):
                return True
        return False

    def finish(self) -> int:
        try:
            return self.process.wait(timeout=30)
        finally:
            self.process.kill()
            os.close(self.master)


@pytest.fixture
def terminal(tmp_path):
    if sys.platform == "win32":
        pytest.skip("Windows has no pseudo-terminals in the standard library")
    model = write_tiny_model(tmp_path / "endless.gguf", context=90_000)
    terminal = Terminal(model)
    yield terminal
    if terminal.process.poll() is None:
        terminal.process.kill()
        terminal.finish()


def test_ctrl_c_stops_the_answer_only_and_ctrl_d_leaves(terminal) -> None:
    assert terminal.wait_for(b"/quit or Ctrl-D leaves")
    assert terminal.wait_for(b"> ")
    terminal.type(b"hello\n")
    assert terminal.wait_for(b"hello")
    time.sleep(0.5)  # the answer is being written
    assert terminal.interrupt_until(b"[stopped]")
    assert terminal.wait_for(b"> ")
    # At the prompt it gives a hint, and is not the end.
    assert terminal.interrupt_until(b"/quit or Ctrl-D leaves")
    assert terminal.wait_for(b"> ")
    terminal.type(b"/nonsense\n")
    assert terminal.wait_for(b"/quit or Ctrl-D leaves")
    assert terminal.wait_for(b"> ")
    terminal.type(b"\x04")
    assert terminal.finish() == 0


def test_error_at_a_terminal_leaves_the_talk_going(terminal) -> None:
    assert terminal.wait_for(b"> ")
    terminal.type(b"y" * 60 + b"\n")  # with max_tokens beyond the context
    assert terminal.wait_for(b"cutaway: messages + max_tokens: got ")
    assert terminal.wait_for(b"> ")
    terminal.type(b"/quit\n")
    assert terminal.finish() == 0
