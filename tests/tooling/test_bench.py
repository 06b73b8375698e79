"""The benchmark's own arithmetic, and that its document knows its rows. No load is made here."""

import json
import re
import threading
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bench import charts, client, plans, report, results, rows, runner, table
from bench.anchors import databases, script
from bench.charts import Bars
from bench.model import OURS, BenchRow, Goal, Incorrect, LoadPlan, Missing, RowResult, Sample
from bench.verdicts import judge, spread
from tools.children import wait_until
from tools.stack import ROOT

PEER = "peer"
TWICE = Goal(figure="rate", against=PEER, at_least=2)


def a_round(**rates: float) -> dict[str, Sample]:
    return {name: Sample(figures={"rate": rate}) for name, rate in rates.items()}


def a_row(*goals: Goal, contest=None, anchor: str | None = None) -> BenchRow:
    return BenchRow(name="row", what="a row", goals=goals, quick_seconds=1, contest=contest, anchor=anchor)


def word(goal: Goal, *rounds: dict[str, Sample], anchor: str | None = None) -> str:
    return judge(a_row(goal, anchor=anchor), goal, RowResult(name="row", rounds=rounds)).word


def test_a_goal_is_judged_by_the_median_of_the_ratios_of_the_rounds():
    # The ratio of the medians is 1; the rounds say 3, 2.5 and 0.5.
    found = judge(
        a_row(TWICE),
        TWICE,
        RowResult(name="row", rounds=(a_round(ours=30, peer=10), a_round(ours=35, peer=14), a_round(ours=6, peer=12))),
    )
    assert (found.value, found.least, found.most, found.word) == (2.5, 0.5, 3.0, "pass")
    assert (found.figure, found.reference) == (30, 12)


@pytest.mark.parametrize(
    ("goal", "rounds", "expected"),
    [
        (TWICE, [a_round(ours=19, peer=10)], "miss"),
        (TWICE, [a_round(ours=20, peer=10)], "pass"),
        (TWICE, [a_round(ours=60, peer=10), a_round(ours=60, peer=21)], "unsure"),
        (TWICE, [a_round(ours=60, peer=10), a_round(ours=60, peer=20)], "pass"),
        (Goal(figure="rate", at_most=5, unit="ms"), [a_round(ours=5)], "pass"),
        (Goal(figure="rate", at_most=0, unit="scans"), [a_round(ours=1)], "miss"),
        (Goal(figure="rate", against=OURS, at_most=1), [a_round(ours=4), a_round(ours=400)], "pass"),
        (TWICE, [a_round(ours=60)], "skipped: peer rate"),
    ],
)
def test_verdicts(goal, rounds, expected):
    assert word(goal, *rounds) == expected


def test_a_row_with_an_anchor_is_unsure_where_the_anchor_moves():
    moved = (a_round(ours=1, anchor=10), a_round(ours=1, anchor=30))
    assert word(Goal(figure="rate", at_least=1), *moved, anchor="anchor") == "unsure"
    assert spread([]) == 1.0


def run(**contenders) -> tuple[BenchRow, RowResult]:
    @contextmanager
    def contest(bench):
        yield contenders

    row = a_row(TWICE, contest=contest)
    return row, runner.run(row, SimpleNamespace(rounds=2), lambda line: None)


def raises(error: Exception):
    def contender():
        raise error

    return contender


def test_each_round_runs_every_contender_in_turn():
    order = []

    def contender(name):
        return lambda: order.append(name) or Sample(figures={"rate": 1})

    run(anchor=contender("anchor"), ours=contender("ours"), peer=contender("peer"))
    assert order == ["anchor", "ours", "peer"] * 2


def test_a_missing_peer_is_skipped_by_name_and_the_rest_runs():
    row, result = run(peer=raises(Missing("pgqueuer")), ours=lambda: Sample(figures={"rate": 1}))
    assert [list(one) for one in result.rounds] == [["ours"], ["ours"]]
    assert judge(row, TWICE, result).word == "skipped: pgqueuer"


def test_what_is_incorrect_fails_its_row_and_no_other():
    row, result = run(ours=raises(Incorrect("1 answers were no 2xx")))
    assert judge(row, TWICE, result).word == "failed: 1 answers were no 2xx"
    assert run(ours=raises(ZeroDivisionError()))[1].failed.startswith("ZeroDivisionError")


def test_rows_that_wait_run_beside_each_other_in_a_quick_run_and_no_others_do():
    rows_ = [replace(a_row(TWICE), name=name, waits=name in "bcf") for name in "abcdef"]

    def named(*, is_quick: bool) -> list[str]:
        return ["".join(row.name for row in group) for group in runner.groups(rows_, is_quick=is_quick)]

    assert named(is_quick=True) == ["a", "bc", "d", "e", "f"]
    assert named(is_quick=False) == list("abcdef")


def test_rows_side_by_side_give_their_results_in_order_and_speak_one_after_the_other():
    both = threading.Barrier(2, timeout=60)  # each contender waits for the other

    def contender():
        both.wait()
        return Sample(figures={"rate": 1})

    @contextmanager
    def contest(bench):
        yield {"ours": contender}

    rows_, said = [replace(a_row(contest=contest), name=name) for name in "ab"], []
    found = runner.run_beside(rows_, SimpleNamespace(rounds=1), said.append)
    assert [(result.name, len(result.rounds)) for result in found] == [("a", 1), ("b", 1)]
    assert sorted(words.split(",")[0].strip() for words in said) == ["a", "b"]


def test_the_table_shows_figure_reference_ratio_goal_and_verdict():
    result = RowResult(name="row", rounds=(a_round(ours=3000, peer=1000), a_round(ours=4000, peer=1000)))
    line = table.text([(a_row(TWICE), result)]).splitlines()[1]
    assert re.split(r"\s{2,}", line) == ["row", "rate 3,500", "peer 1,000", "3.5 (3–4)", "≥ 2 ×", "pass"]


def test_results_are_merged_row_by_row(tmp_path):
    file = tmp_path / "before.json"
    first, second = RowResult(name="a", rounds=(a_round(ours=1),)), RowResult(name="b", skipped="wrk", missing={})
    results.merge(file, [first], {})
    results.merge(file, [second], {"wrk": "4"})
    assert list(results.read(file)) == ["a", "b"]
    assert results.read(file)["a"].rounds == first.rounds
    assert json.loads(file.read_text())["versions"]["wrk"] == "4"


def test_scripts_are_read_as_pgbench_reads_them():
    step = script.statements(script.STEP.read_text())
    assert len(step) == 10
    assert [s.keeps for s in step].count(True) == 1
    assert script.for_psycopg("VALUES (:key, CAST(:n AS text)::json)") == "VALUES (%(key)s, CAST(%(n)s AS text)::json)"


def test_the_bare_script_submits_on_sqlite(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "TASKS", 1_000)
    databases.on_sqlite(tmp_path / "anchor.sqlite3")
    file = tmp_path / "anchor.sqlite3"
    wait_until(lambda: script.bare_sqlite(file, accounts=1_000, seconds=0.05).figures["rate"], what="a submission")


def test_our_own_client_counts_what_is_no_2xx(monkeypatch):
    found = wait_until(lambda: answers_of(client.ceiling(2, 0.1)), what="an answer")
    assert found.answered
    assert not found.refused
    monkeypatch.setattr(client, "ANSWER", b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
    found = wait_until(lambda: answers_of(client.ceiling(2, 0.1)), what="a refusal")
    assert not found.answered


def answers_of(found):
    """None where a busy machine has come to no answer in so short a time."""
    return found if found.answered or found.refused else None


def test_requests_carry_a_key_in_turn_and_an_idempotency_key_of_their_own():
    plan = LoadPlan(
        url="http://h:1", method="POST", paths=("/a",), body="{}", authorizations=("one", "two"), is_unique=True
    )
    first, second = (client.request_of(plan, number, "p").decode() for number in (0, 1))
    assert "Authorization: one" in first
    assert "Authorization: two" in second
    assert "Idempotency-Key: p-0" in first
    assert first.endswith("Content-Length: 2\r\nIdempotency-Key: p-0\r\n\r\n{}")


LOGGED = """2026-01-01 LOG:  duration: 0.1 ms  plan:
\t{
\t  "Query Text": "SELECT 1 FROM t WHERE x = '[{\\"id\\":1}]'",
\t  "Plan": {"Node Type": "Limit", "Plans": [{"Node Type": "Seq Scan", "Relation Name": "tasks_task"},
\t    {"Node Type": "Seq Scan", "Relation Name": "tasks_servicestate"}]}
\t}
2026-01-01 LOG:  checkpoint starting
"""


def test_a_sequential_scan_of_a_big_table_is_found_in_a_log():
    (explained,) = plans.read(LOGGED)
    assert plans.scans(explained) == [plans.Scan(table="tasks_task", statement="SELECT 1 FROM t WHERE x = '[…]'")]


def test_a_chart_has_a_bar_for_each_state():
    drawn = charts.draw("a & b", [Bars(label="get < 1", shares={"before": 0.5, "after": 3.0})])
    assert drawn.count('height="11"') == 2
    assert "50%" in drawn
    assert "300%" in drawn
    assert "a &amp; b" in drawn


def test_the_document_names_every_row_and_the_scripts_it_names_exist():
    document = (ROOT / "docs" / "performance.md").read_text()
    for row in rows.every():
        assert f"- `{row.name}`: {row.what}." in document, "run python -m bench.report"
    assert set(re.findall(r"`bench/anchors/([a-z]+)\.sql`", document)) == {"step", "pipeline"}
    assert all((ROOT / "bench" / "anchors" / f"{name}.sql").exists() for name in ("step", "pipeline"))


def test_the_report_writes_only_between_its_markers():
    text = "a\n<!-- rows -->\nold\n<!-- end of rows -->\nb"
    assert report.replaced(text, "rows", "new") == "a\n<!-- rows -->\nnew\n<!-- end of rows -->\nb"
    with pytest.raises(ValueError, match="goals"):
        report.replaced(text, "goals", "new")
