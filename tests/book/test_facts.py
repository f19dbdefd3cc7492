"""The facts registry: schema, safe evaluation, verdicts, the ledger."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pybtex.database import parse_file

from cutaway.book import facts
from cutaway.book.expression import evaluate
from cutaway.core import CutawayError
from cutaway.roofline import HARDWARE

BOOK = Path(__file__).parents[2] / "book"
REGISTRY = BOOK / "facts.toml"

GOOD = {
    "text": '"A claim."',
    "value": "12.5",
    "source": '"someone2020"',
    "where": '"Table 1"',
}


def write(folder, fields=None, key="some-fact", **changes):
    table = {**GOOD, **(fields or {}), **changes}
    lines = [f"{name} = {value}" for name, value in table.items() if value]
    path = folder / "facts.toml"
    path.write_text("\n".join([f"[{key}]", *lines]) + "\n", encoding="utf-8")
    return path


def one(folder, **changes):
    (fact,) = facts.load(write(folder, **changes))
    return fact


# --- the real registry ---------------------------------------------------


@pytest.mark.model
def test_every_fact_of_the_book_is_reproduced_or_explained():
    ledger = facts.ledger_table(REGISTRY)
    assert len(ledger.verdicts) >= 30
    outcomes = {verdict.outcome for verdict in ledger.verdicts}
    assert "reproduced" in outcomes


def test_every_source_of_the_registry_is_in_the_bibliography():
    keys = set(parse_file(str(BOOK / "references.bib")).entries)
    used = {fact.source for fact in facts.load(REGISTRY)}
    assert used
    assert used <= keys


def test_bibliography_entries_are_complete_and_linkable():
    entries = parse_file(str(BOOK / "references.bib")).entries
    assert len(entries) >= 20
    for key, entry in entries.items():
        assert re.fullmatch(r"[a-z][a-z0-9-]*", key), key
        assert entry.persons.get("author"), key
        assert {"title", "year"} <= set(entry.fields), key
        eprint = entry.fields.get("eprint")
        if eprint is not None:
            assert re.fullmatch(r"\d{4}\.\d{4,5}", eprint), key
            # A paper may appear after its preprint, never before.
            assert int(entry.fields["year"]) >= 2000 + int(eprint[:2]), key


def test_the_hardware_table_and_the_registry_say_the_same():
    by_id = {fact.id: fact for fact in facts.load(REGISTRY)}
    shared = {
        "a100-bandwidth": HARDWARE["a100-sxm-80gb"].bandwidth_bytes_per_s,
        "h100-bandwidth": HARDWARE["h100-sxm"].bandwidth_bytes_per_s,
        "h200-bandwidth": HARDWARE["h200-sxm"].bandwidth_bytes_per_s,
        "a100-peak": HARDWARE["a100-sxm-80gb"].peak("bfloat16"),
        "h100-peak": HARDWARE["h100-sxm"].peak("bfloat16"),
        "b200-peak": HARDWARE["b200-hgx"].peak("bfloat16"),
    }
    for key, value in shared.items():
        assert by_id[key].value == pytest.approx(value / 1e12), key
    assert by_id["h100-memory"].value == (
        HARDWARE["h100-sxm"].memory_bytes / 1e9
    )


# --- schema --------------------------------------------------------------


def test_a_complete_entry_is_read(tmp_path):
    fact = one(
        tmp_path,
        unit='"ms"',
        compute='"cutaway.core:25 / 2"',
        tolerance="{relative = 0.01}",
    )
    assert fact.id == "some-fact"
    assert (fact.value, fact.unit, fact.relative) == (12.5, "ms", 0.01)
    assert (fact.source, fact.where) == ("someone2020", "Table 1")


@pytest.mark.parametrize("name", ["text", "value", "source", "where"])
def test_a_missing_field_is_named_with_its_entry(tmp_path, name):
    with pytest.raises(facts.FactsError) as caught:
        one(tmp_path, **{name: None})
    assert caught.value.name == f"some-fact.{name}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", "3"),
        ("text", '" "'),
        ("text", '"two\\nlines"'),
        ("value", "true"),
        ("value", "nan"),
        ("value", "inf"),
        ("value", "[]"),
        ("value", "[1, 'x']"),
        ("value", '""'),
        ("value", "2020-01-01"),
        ("unit", "1"),
        ("source", '"Someone (2020)"'),
        ("where", "[]"),
        ("compute", "1"),
        ("tolerance", "0.1"),
        ("tolerance", "{relative = -1}"),
        ("tolerance", "{relative = 0}"),
        ("tolerance", "{percent = 1}"),
        ("tolerance", "{relative = 0.1, absolute = 1}"),
        ("why", '""'),
        ("colour", '"red"'),
    ],
)
def test_a_malformed_field_is_named_with_its_entry(tmp_path, name, value):
    extra = {} if name == "compute" else {"compute": '"cutaway.core:1"'}
    with pytest.raises(facts.FactsError) as caught:
        one(tmp_path, **{**extra, name: value})
    assert caught.value.name == f"some-fact.{name}"
    assert caught.value.expected


def test_a_tolerance_needs_a_computation(tmp_path):
    with pytest.raises(facts.FactsError, match="no compute"):
        one(tmp_path, tolerance="{relative = 0.1}")


@pytest.mark.parametrize("key", ["Fact", "a_b", '"a b"', "-a", '"x.y"'])
def test_a_malformed_key_is_refused(tmp_path, key):
    with pytest.raises(facts.FactsError, match="hyphens"):
        one(tmp_path, key=key)


def test_two_entries_with_one_key_are_refused(tmp_path):
    path = write(tmp_path)
    path.write_text(path.read_text() * 2)
    with pytest.raises(facts.FactsError, match=r"facts\.toml"):
        facts.load(path)


def test_a_value_outside_any_entry_is_refused(tmp_path):
    path = tmp_path / "facts.toml"
    path.write_text("loose = 1\n")
    with pytest.raises(facts.FactsError, match="loose"):
        facts.load(path)


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(facts.FactsError, match="nowhere"):
        facts.load(tmp_path / "nowhere.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[x\n")
    with pytest.raises(facts.FactsError, match="broken"):
        facts.load(broken)


# --- evaluation ----------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("cutaway.core:2 + 3 * 4 - 10 / 4", 11.5),
        ("cutaway.core:7 // 2 + 7 % 4", 6),
        ("cutaway.core:-(2 ** 10)", -1024),
        ("cutaway.roofline:CONFIGS['llama-2-7b'].num_layers", 32),
        (
            "cutaway.roofline:kv_bytes_per_token("
            "CONFIGS['llama-2-7b'], bytes_per_element=1)",
            262_144,
        ),
        ("cutaway.core:(1, 2)[1]", 2),
        ("cutaway.core:[1, 2]", (1, 2)),
    ],
)
def test_expressions_evaluate(spec, value):
    assert evaluate(spec) == value


@pytest.mark.parametrize(
    "spec",
    [
        "cutaway.core:__import__('os')",
        "cutaway.core:len('x')",
        "cutaway.core:print(1)",
        "cutaway.core:merge.__globals__",
        "cutaway.core:ModelConfig.__init__",
        "cutaway.core.checks:math",
        "cutaway.core.checks:math.pi",
        "cutaway.roofline.measure:os.system('true')",
        "cutaway.core:'a' + 'b'",
        "cutaway.core:'a' * 10",
        "cutaway.core:9 ** 9 ** 9",
        "cutaway.core:[x for x in (1, 2)]",
        "cutaway.core:(lambda: 1)()",
        "cutaway.core:1 if 1 else 2",
        "cutaway.core:1 < 2",
        "cutaway.core:f'{1}'",
        "cutaway.core:merge(*(1, 2))",
        "cutaway.core:merge(**1)",
        "cutaway.core:1; 2",
        "cutaway.core:",
        "cutaway.core:nothing_here",
        "cutaway.nothing_here:1",
        "os:getcwd()",
        "cutawayx:1",
        "cutaway.core 1",
    ],
)
def test_everything_else_is_refused(spec):
    with pytest.raises(CutawayError) as caught:
        evaluate(spec)
    assert caught.value.name == "compute"


# --- verdicts ------------------------------------------------------------


def outcome(folder, **changes):
    return facts.verify(one(folder, **changes)).outcome


def test_an_exact_value_is_reproduced(tmp_path):
    assert outcome(tmp_path, compute='"cutaway.core:25 / 2"') == "reproduced"


def test_binary_rounding_is_no_difference(tmp_path):
    assert (
        outcome(tmp_path, value="0.3", compute='"cutaway.core:0.1 + 0.2"')
        == "reproduced"
    )


def test_a_value_that_rounds_to_the_published_one_is_reproduced(tmp_path):
    assert (
        outcome(
            tmp_path,
            compute='"cutaway.core:12.54"',
            tolerance="{absolute = 0.05}",
        )
        == "reproduced"
    )


def test_a_close_value_says_how_close_rounded_up(tmp_path):
    assert (
        outcome(
            tmp_path,
            value="300",
            compute='"cutaway.core:301"',
            tolerance="{relative = 0.01}",
        )
        == "within 0.34 %"
    )


def test_a_fact_without_computation_is_quoted(tmp_path):
    verdict = facts.verify(one(tmp_path))
    assert (verdict.outcome, verdict.computed) == ("quoted only", None)


@pytest.mark.parametrize(
    "tolerance", [None, "{absolute = 0.4}", "{relative = 0.01}"]
)
def test_a_wrong_value_fails_unless_explained(tmp_path, tolerance):
    changes = {"compute": '"cutaway.core:13"', "tolerance": tolerance}
    with pytest.raises(facts.FactsError) as caught:
        outcome(tmp_path, **changes)
    assert caught.value.name == "some-fact.value"
    assert "13" in caught.value.got
    assert (
        outcome(tmp_path, why='"The paper counts otherwise."', **changes)
        == "not reproduced"
    )


def test_an_explanation_of_no_difference_fails(tmp_path):
    why = '"It differs."'
    with pytest.raises(facts.FactsError, match=r"some-fact\.why"):
        outcome(tmp_path, compute='"cutaway.core:25 / 2"', why=why)
    with pytest.raises(facts.FactsError, match=r"some-fact\.why"):
        outcome(tmp_path, why=why)


def test_lists_and_texts_are_compared_whole(tmp_path):
    ids = {"value": "[1, 2, 3]"}
    assert (
        outcome(tmp_path, compute='"cutaway.core:(1, 2, 3)"', **ids)
        == "reproduced"
    )
    for wrong in ("(1, 2)", "(1, 2, 4)"):
        with pytest.raises(facts.FactsError, match="value"):
            outcome(tmp_path, compute=f'"cutaway.core:{wrong}"', **ids)
    text = {"value": '"GGUF"'}
    assert (
        outcome(tmp_path, compute="\"cutaway.core:'GGUF'\"", **text)
        == "reproduced"
    )
    with pytest.raises(facts.FactsError, match="value"):
        outcome(tmp_path, compute="\"cutaway.core:'GGML'\"", **text)


@pytest.mark.parametrize(
    "compute", ["1 / 0", "CONFIGS['nobody']", "CONFIGS", "'12.5'", "(12.5, 1)"]
)
def test_a_computation_that_fails_names_its_entry(tmp_path, compute):
    with pytest.raises(facts.FactsError, match=r"some-fact\.compute"):
        outcome(tmp_path, compute=f'"cutaway.roofline:{compute}"')


# --- the ledger ----------------------------------------------------------


def ledger_file(folder):
    path = folder / "facts.toml"
    path.write_text(
        """
[first]
text = "A <b>claim</b> & more."
value = 8030261248
unit = "parameters"
source = "someone2020"
where = "Table 1"
compute = "cutaway.roofline:num_params(CONFIGS['llama-3.1-8b'])"

[second]
text = "A wrong one."
value = 2
source = "other2021"
where = "section 2"
compute = "cutaway.core:3"
why = "A misprint."

[third]
text = "Quoted."
value = 0.123456
source = "other2021"
where = "section 3"
"""
    )
    return path


def test_the_ledger_lists_every_fact_with_its_verdict(tmp_path):
    rows = facts.ledger_table(ledger_file(tmp_path)).rows()
    assert rows[0][1:4] == (
        "8,030,261,248 parameters",
        "8,030,261,248",
        "reproduced",
    )
    assert rows[1][1:4] == ("2", "3", "not reproduced: A misprint.")
    assert rows[2][1:5] == (
        "0.12346",
        "–",
        "quoted only",
        "other2021, section 3",
    )


def test_the_ledger_is_an_accessible_table_that_links_its_sources(tmp_path):
    page = BeautifulSoup(
        facts.ledger_table(ledger_file(tmp_path)).html(), "html.parser"
    )
    assert page.caption.text
    assert len(page.select("thead th[scope=col]")) == 5
    rows = page.select("tbody tr")
    assert [row["id"] for row in rows] == [
        "fact-first",
        "fact-second",
        "fact-third",
    ]
    for row in rows:
        assert row.th["scope"] == "row"
        assert len(row.find_all("td")) == 4
    assert rows[0].th.text == "A <b>claim</b> & more."
    assert rows[0].a["href"] == "references.html#someone2020"
    # What scrolls sideways on a phone must be reachable by keyboard.
    region = page.div
    assert region["tabindex"] == "0"
    assert region["aria-label"]


def test_each_heading_of_the_registry_has_its_own_table(tmp_path, capsys):
    path = ledger_file(tmp_path)
    text = path.read_text(encoding="utf-8")
    text = text.replace("[second]", "# --- Others, & more ------\n\n[second]")
    path.write_text("# --- Ours ---\n" + text, encoding="utf-8")
    whole = facts.ledger_table(path)
    first, second = whole.by_group()
    assert [item.fact.id for item in first.verdicts] == ["first"]
    assert [item.fact.id for item in second.verdicts] == ["second", "third"]
    pages = [BeautifulSoup(t.html(), "html.parser") for t in (first, second)]
    assert [page.caption.text for page in pages] == ["Ours", "Others, & more"]
    # Two regions of one page must not have the same name.
    assert len({page.div["aria-label"] for page in pages}) == 2
    facts.show_ledger(path)
    shown = capsys.readouterr().out.splitlines()
    assert shown == whole.text().splitlines()


def test_without_headings_there_is_one_table(tmp_path):
    (only,) = facts.ledger_table(ledger_file(tmp_path)).by_group()
    assert len(only.verdicts) == 3


def test_a_group_is_a_heading_and_no_field(tmp_path):
    with pytest.raises(facts.FactsError, match=r"some-fact\.group"):
        facts.load(write(tmp_path, group='"Mine"'))


def test_every_fact_of_the_book_stands_under_a_heading():
    assert all(fact.group for fact in facts.load(REGISTRY))


def test_the_ledger_is_the_same_every_time(tmp_path):
    path = ledger_file(tmp_path)
    first, second = (facts.ledger_table(path).html() for _ in range(2))
    assert first == second


def test_show_ledger_prints_outside_a_notebook(tmp_path, capsys):
    facts.show_ledger(ledger_file(tmp_path))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "reproduced" in lines[0]


def test_a_wrong_fact_cannot_be_shown(tmp_path):
    path = write(tmp_path, compute='"cutaway.core:13"')
    with pytest.raises(facts.FactsError, match=r"some-fact\.value"):
        facts.show_ledger(path)
