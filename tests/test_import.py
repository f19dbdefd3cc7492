"""Importing is instant, and loads nothing heavy before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "numba", "triton", "transformers", "matplotlib")


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout


def loaded_after(statement: str) -> list[str]:
    code = f"{statement}\nimport sys\nprint(*[m for m in {HEAVY} if m in sys.modules])"
    return run(code).split()


def test_import_takes_under_0_3_s_and_loads_nothing_heavy() -> None:
    # Processor time, start of Python included: whoever else is busy on the
    # machine does not count.
    code = "import cutaway, time; print(time.process_time())"
    assert min(float(run(code)) for _ in range(5)) < 0.3
    assert loaded_after("import cutaway") == []


@pytest.mark.parametrize(
    "area",
    [
        "core",
        "roofline",
        "tokenizer",
        "weights",
        "layers",
        "sampling",
        "attention",
        "kvcache",
        "decoder",
        "inputs",
        "outputs",
        "llm",
        "cli",
    ],
)
def test_no_area_of_the_engine_loads_anything_heavy(area: str) -> None:
    assert loaded_after(f"import cutaway.{area}") == []


def test_public_names_come_on_first_use() -> None:
    assert loaded_after("from cutaway import LLM, SamplingParams") == []
    shown = run("import cutaway; print(dir(cutaway))")
    assert "LLM" in shown
    assert "SamplingParams" in shown


def test_torch_is_seen_when_it_is_loaded() -> None:
    assert "torch" in loaded_after("import torch")


def test_unknown_name_is_an_attribute_error() -> None:
    import cutaway

    with pytest.raises(AttributeError, match="no attribute 'LMM'"):
        _ = cutaway.LMM
