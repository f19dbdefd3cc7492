"""``cutaway generate``: the same text as the package, errors in one line."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cutaway import LLM, SamplingParams


@pytest.fixture
def generate(run, tiny_path):
    def generate(*args: object, stdin: str | bytes = "", model=tiny_path):
        return run(
            "generate", *args, "--model", model, "--impl", "numpy", stdin=stdin
        )

    return generate


@pytest.fixture(scope="module")
def llm(tiny_path) -> LLM:
    return LLM(tiny_path, impl="numpy")


def text_of(llm: LLM, prompt: str, **settings) -> str:
    settings = {"temperature": 0, "max_tokens": 64, **settings}
    return llm.generate(prompt, SamplingParams(**settings))[0].outputs[0].text


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_prints_what_the_package_returns(generate, llm, stream) -> None:
    ended = generate("hello", "--max-tokens", 12, stream)
    expected = text_of(llm, "hello", max_tokens=12)
    assert (ended.code, ended.out, ended.err) == (0, expected + "\n", "")


def test_defaults_are_greedy_and_64_tokens(generate, llm) -> None:
    assert generate("hello").out == text_of(llm, "hello") + "\n"


def test_options_reach_the_sampler(generate, llm) -> None:
    settings = {
        "max_tokens": 20,
        "temperature": 1.5,
        "top_k": 40,
        "top_p": 0.9,
        "min_p": 0.01,
        "repetition_penalty": 1.2,
        "frequency_penalty": 0.3,
        "presence_penalty": -0.2,
        "seed": 7,
    }
    flags = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in settings.items()
    ]
    assert (
        generate("hello", *flags).out
        == text_of(llm, "hello", **settings) + "\n"
    )
    for name, other in [("seed", 8), ("top_k", 1), ("temperature", 0)]:
        changed = text_of(llm, "hello", **{**settings, name: other})
        assert changed != text_of(llm, "hello", **settings), name


@pytest.mark.parametrize(
    ("data", "prompt"),
    [
        ("the cat\n", "the cat"),
        ("the cat", "the cat"),
        ("the cat\r\n", "the cat"),
        ("two\nlines\n\n", "two\nlines\n"),
        ("ü 🙂\n", "ü 🙂"),
    ],
)
def test_dash_reads_the_prompt_without_its_last_line_break(
    generate, llm, data, prompt
) -> None:
    ended = generate("-", "--max-tokens=8", stdin=data)
    assert ended.out == text_of(llm, prompt, max_tokens=8) + "\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["x", "--temperature=-1"],
            "temperature: got -1.0, expected a number >= 0",
        ),
        (["x", "--top-p=0"], "top_p: got 0.0, expected a number in (0, 1]"),
        (["x", "--min-p=1"], "min_p: got 1.0, expected a number in [0, 1)"),
        (["x", "--top-k=0"], "top_k: got 0, expected None or an integer >= 1"),
        (
            ["x", "--max-tokens=0"],
            "max_tokens: got 0, expected an integer >= 1",
        ),
        (["x", "--seed=-1"], "seed: got -1, expected None or an integer >= 0"),
        ([""], "prompt: got no token, expected at least one token"),
        (["-"], "prompt: got no token, expected at least one token"),
        (
            ["x", "--max-tokens=200"],
            "prompt + max_tokens: got 1 + 200 = 201 tokens, expected at most "
            "max_seq_len = 200",
        ),
    ],
)
def test_bad_input_is_one_line_on_stderr_and_exit_2(
    generate, args, message
) -> None:
    ended = generate(*args)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"cutaway: {message}\n"


def test_unknown_model_lists_the_known_ones(generate, tmp_path) -> None:
    for model in ("gpt-9", tmp_path / "none.gguf"):
        ended = generate("x", model=model)
        assert ended.code == 2
        assert ended.err.startswith("cutaway: model: got ")
        assert "smollm2-135m-instruct" in ended.err
        assert ended.err.count("\n") == 1


def test_stdin_that_is_no_utf8_is_refused(generate) -> None:
    ended = generate("-", stdin=b"ab\xff")
    assert ended.code == 2
    expected = "got byte 0xff at offset 2, expected UTF-8 text"
    assert ended.err == f"cutaway: standard input: {expected}\n"


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_stats_go_to_stderr_and_leave_stdout_alone(
    generate, llm, stream
) -> None:
    ended = generate("hello", "--max-tokens=5", "--stats", stream)
    assert ended.out == text_of(llm, "hello", max_tokens=5) + "\n"
    prompt_tokens = len(llm.tokenizer.encode("hello"))
    assert ended.err.startswith(
        f"prompt {prompt_tokens} tokens, first token after "
    )
    assert ended.err.endswith(" tokens/s\n")


def command(tiny_path, *args: str) -> list[str]:
    model = ["--model", str(tiny_path), "--impl", "numpy"]
    return [sys.executable, "-m", "cutaway", "generate", *args, *model]


def test_closed_pipe_ends_it_quietly(tiny_path) -> None:
    process = subprocess.Popen(
        command(tiny_path, "hello", "--max-tokens", "190"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()  # the reader leaves at once
    _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode == 1


def test_terminal_without_the_characters_shows_marks_instead(tiny_path) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        command(
            tiny_path,
            "ü",
            "--max-tokens",
            "60",
            "--temperature",
            "9",
            "--seed=1",
        ),
        capture_output=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"?" in done.stdout
    assert done.stdout.isascii()


def test_numpy_model_runs_without_torch(tiny_path) -> None:
    code = (
        "import sys; sys.argv = {!r}\n"
        "from cutaway.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'torch' not in sys.modules"
    ).format(command(tiny_path, "hello", "--max-tokens", "3")[2:])
    subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True
    )


@pytest.mark.model
def test_real_model_knows_the_capital(run) -> None:
    ended = run("generate", "The capital of France is", "--max-tokens", 2)
    assert (ended.code, ended.out) == (0, " Paris.\n")
