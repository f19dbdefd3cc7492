"""The section's own variants equal those of the libraries it names, and its
graders accept answers written in other ways."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.book.judge import Judge, WrongAnswerError
from cutaway.decoder.lens import logit_lens
from cutaway.layers import rms_norm, swiglu

SECTION = Path(__file__).resolve().parents[2] / "book/flow/vector_math.ipynb"
NORM, SWIGLU, NEAREST, LENS = section_exercises("flow/vector_math")


def source(cell_id: str) -> str:
    """Return the source of one cell of the section."""
    cells = json.loads(SECTION.read_text(encoding="utf-8"))["cells"]
    [cell] = [cell for cell in cells if cell["id"] == cell_id]
    return "".join(cell["source"])


def test_the_clamped_gate_is_that_of_gpt_oss():
    modeling = pytest.importorskip(
        "transformers.models.gpt_oss.modeling_gpt_oss"
    )
    names = {"np": np}
    exec(source("swiglu-clamped").split("\n\n\nprint")[0], names)
    rng = np.random.default_rng(0)
    gate, up = rng.normal(0, 8, (2, 3, 50))
    settings = SimpleNamespace(limit=7.0, alpha=1.702)
    mixed = torch.from_numpy(np.stack([gate, up], axis=-1).reshape(3, 100))
    theirs = modeling.GptOssExperts._apply_gate(settings, mixed)
    ours = names["clamped_glu"](gate, up)
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-12)
    assert np.abs(gate).max() > 7
    assert np.abs(up).max() > 7


GEMMA = {
    "gemma.modeling_gemma.GemmaRMSNorm": 1,
    "gemma2.modeling_gemma2.Gemma2RMSNorm": 1,
    "gemma3.modeling_gemma3.Gemma3RMSNorm": 1,
    "gemma3n.modeling_gemma3n.Gemma3nRMSNorm": 0,
    "gemma4.modeling_gemma4.Gemma4RMSNorm": 0,
}


@pytest.mark.parametrize(("name", "added"), GEMMA.items(), ids=list(GEMMA))
def test_gemma_1_to_3_store_the_factor_less_one_and_later_ones_whole(
    name, added
):
    module, _, kind = name.rpartition(".")
    modeling = pytest.importorskip(f"transformers.models.{module}")
    norm = getattr(modeling, kind)(8, eps=1e-6)
    rng = np.random.default_rng(0)
    x, stored = rng.normal(0, 3, (3, 8)), rng.normal(0.5, 0.5, 8)
    with torch.no_grad():
        norm.weight.copy_(torch.from_numpy(stored))
        theirs = norm(torch.from_numpy(x)).numpy()
    ours = rms_norm(x, added + stored, 1e-6, impl="numpy")
    np.testing.assert_allclose(theirs, ours, rtol=1e-5)


def norm_by_length(x, g, eps):
    x = x.astype(np.float64)
    square = (x**2).sum(axis=-1, keepdims=True) / x.shape[-1]
    return x * (square + eps) ** -0.5 * g


def norm_row_by_row(x, g, eps):
    wide = x.astype(np.promote_types(x.dtype, np.float32))
    rows = [r / np.sqrt(r @ r / r.size + eps) for r in wide.reshape(-1, g.size)]
    return (np.array(rows).reshape(x.shape) * g).astype(wide.dtype)


def swiglu_by_tanh(h, w_gate, w_up, w_down):
    gate = np.einsum("td,fd->tf", h, w_gate)
    switch = 0.5 * (1 + np.tanh(gate / 2))
    return np.einsum("tf,df->td", gate * switch * (h @ w_up.T), w_down)


def nearest_of_units(table, token_id, k):
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    score = unit @ unit[token_id]
    score[token_id] = -np.inf
    return np.argsort(score)[::-1][:k].tolist()


def nearest_by_sort(table, token_id, k):
    query = table[token_id]

    def angle(i):
        row = table[i]
        return -float(row @ query) / float(row @ row) ** 0.5

    return sorted(set(range(len(table))) - {token_id}, key=angle)[:k]


def lens_by_torch(stream, g, eps, unembed, token_id):
    x, g, w = (torch.from_numpy(a) for a in (stream, g, unembed))
    x = torch.nn.functional.rms_norm(x, g.shape, g, eps)
    return (x @ w.T).softmax(-1)[:, token_id].numpy()


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (NORM, norm_by_length),
        (NORM, norm_row_by_row),
        (SWIGLU, swiglu_by_tanh),
        (NEAREST, nearest_of_units),
        (NEAREST, nearest_by_sort),
        (LENS, lens_by_torch),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


def in_float64(reference):
    """The reference in float64, its result in the type of the input."""

    def answer(first, *rest):
        wide = [
            a.astype(np.float64) if isinstance(a, np.ndarray) else a
            for a in (first, *rest)
        ]
        return reference(*wide).astype(first.dtype)

    return answer


@pytest.mark.parametrize(
    ("exercise", "answer", "seed"),
    [
        (SWIGLU, in_float64(SWIGLU.reference), 141),  # a sum that cancels
        (SWIGLU, swiglu_by_tanh, 48),
        (LENS, in_float64(LENS.reference), 3394),  # logits of hundreds
    ],
)
def test_an_answer_more_exact_than_the_reference_passes(exercise, answer, seed):
    exercise.grade(Judge(exercise, answer, np.random.default_rng(seed)))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (np.array, "expected a list of ids"),
        (lambda ids: [float(i) for i in ids], "expected a list of ids"),
        (lambda ids: [i == 1 for i in ids], "expected a list of ids"),
        (lambda ids: [*ids, 0], "ids, expected"),
        (lambda ids: ids[::-1], r"index \[0\]: got id"),
    ],
)
def test_a_list_of_ids_is_compared_by_kind_length_and_place(change, says):
    def answer(*args):
        return change(NEAREST.reference(*args))

    judge = Judge(NEAREST, answer, np.random.default_rng(0))
    with pytest.raises(WrongAnswerError, match=says):
        NEAREST.grade(judge)


def test_a_list_of_numpy_integers_passes():
    def answer(*args):
        return list(np.array(NEAREST.reference(*args), np.int64))

    assert verdict(NEAREST, answer).status == "correct"


def test_the_references_equal_the_package():
    rng = np.random.default_rng(1)
    x, g = rng.normal(0, 3, (3, 8)), rng.normal(1, 0.5, 8)
    np.testing.assert_allclose(
        NORM.reference(x, g, 1e-5), rms_norm(x, g, 1e-5, impl="numpy")
    )
    arrays = [rng.normal(0, 1, s) for s in ((3, 8), (5, 8), (5, 8), (8, 5))]
    np.testing.assert_allclose(
        SWIGLU.reference(*arrays), swiglu(*arrays, impl="numpy")
    )


def test_the_lens_of_the_exercise_is_that_of_the_package(tiny_lens):
    stream, decoder, ids = tiny_lens
    z = logit_lens(decoder, ids, last_only=True)[:, 0]
    weights = np.exp(z - z.max(axis=-1, keepdims=True))
    expected = (weights / weights.sum(axis=-1, keepdims=True))[:, 2]
    params, eps = decoder.params, decoder.config.norm_eps
    got = LENS.reference(stream, params.final_norm, eps, params.unembed, 2)
    np.testing.assert_allclose(got, expected, rtol=1e-10)


@pytest.fixture
def tiny_lens():
    """A stream of a tiny model, the model, and what it read."""
    from cutaway.core import ModelConfig
    from cutaway.decoder import Decoder, Params

    config = ModelConfig(
        num_layers=3,
        hidden_size=8,
        num_heads=2,
        num_kv_heads=1,
        head_dim=4,
        ffn_size=8,
        vocab_size=5,
        rope_theta=1e4,
        norm_eps=1e-5,
        max_seq_len=16,
    )
    params = Params.random(config, 0, impl="numpy", dtype="float64")
    decoder = Decoder(config, params, impl="numpy")
    stream, ids = [], [1, 4, 2]
    decoder.forward(
        ids,
        decoder.new_cache(3),
        observe=lambda stage, layer, array: (
            stream.append(array[-1]) if stage in ("embed", "resid") else None
        ),
    )
    return np.stack(stream), decoder, ids
