"""Lists as one parameter, and values that come back as they went, on both databases."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.models import Account
from common import sql
from common.database import writes
from tools.children import wait_until

NOON = datetime(2026, 11, 21, 12, 0, 0, 123_456, UTC)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
NUMBER = st.integers(-(2**63), 2**63 - 1)


def unpacked(columns: str, *items: dict) -> list[tuple]:
    names = ", ".join(f"r.{column.split()[0]}" for column in columns.split(","))
    return sql.fetch(f"SELECT {names} FROM {sql.rows(columns)}", [sql.pack(items)])


def test_rows_come_back_in_order_with_their_types(db):
    items = [{"id": "a", "n": 2**62, "x": 0.5}, {"id": 'it\'s 100% "b"', "n": -1, "x": 1e-7}]
    assert unpacked("id text, n bigint, x real", *items) == [("a", 2**62, 0.5), ('it\'s 100% "b"', -1, 1e-7)]


def test_no_rows_are_no_rows(db):
    assert unpacked("id text") == []


def test_records_have_their_columns_by_name_each_time(db):
    for number in (1, 2):
        (row,) = sql.records("SELECT %s AS one, 'b' AS other", [number])
        assert (int(row.one), row.other) == (number, "b")
    assert sql.records(f"UPDATE accounts_account SET name = name WHERE id {sql.among('bigint')}", [sql.ids([])]) == []


def test_an_in_list_holds_its_parameters(db):
    for values in ([], [7], [7, 8]):
        found = sql.fetch(
            f"SELECT r.n FROM {sql.rows('n bigint')} WHERE r.n IN ({sql.places(values)})",
            [sql.pack({"n": n} for n in (7, 8, 9)), *values],
        )
        assert [n for (n,) in found] == values


def test_an_in_list_spells_out_its_words(db):
    for words in (["a"], ["a", "b", "c", "d", "e"]):
        statement = f"SELECT r.t FROM {sql.rows('t text')} WHERE r.t IN ({sql.words(words)})"
        assert sql.column(statement, [sql.pack({"t": t} for t in "abcdef")]) == words


def test_an_absent_and_a_null_value_are_null(db):
    assert unpacked("id text, n bigint", {"id": None}, {"n": 3}) == [(None, None), (None, 3)]


def test_truth_is_usable_in_conditions(db):
    found = sql.fetch(
        f"SELECT r.n FROM {sql.rows('n bigint, ok bool')} WHERE r.ok",
        [sql.pack([{"n": 1, "ok": True}, {"n": 2, "ok": False}, {"n": 3, "ok": None}])],
    )
    assert found == [(1,)]


def test_a_statement_takes_thousands_of_rows(db):
    items = [{"n": number} for number in range(5_000)]
    assert len(unpacked("n bigint", *items)) == 5_000


def test_items_are_written_together_packed_or_not(db):
    columns, reading = "id text, n bigint, said json", ["SELECT r.id, r.n, r.said FROM {rows}"]
    whole = {"id": 'a "quoted" {id}', "n": 1, "said": sql.document({"is": ["a", None]})}
    plain = {"id": whole["id"], "said": {"is": ["a", None]}}
    for item in (whole, sql.packed(whole), sql.extended(sql.packed(plain, documents=["said"]), {"n": 1})):
        ((found_id, number, said),) = writes.write_together(columns, [item], reading)
        assert (found_id, number, sql.as_document(said)) == (whole["id"], 1, {"is": ["a", None]})


def test_several_lists_keep_their_places(db):
    statement = f"SELECT r.n FROM {sql.rows('n bigint')} UNION ALL SELECT r.m FROM {sql.rows('m bigint')}"
    assert sql.fetch(statement, [sql.pack([{"n": 1}]), sql.pack([{"m": 2}])]) == [(1,), (2,)]


class TestRoundTrips(TestCase):
    """Hypothesis needs a database per example, which this class gives."""

    @hypothesis_settings(max_examples=30)
    @given(TEXT, NUMBER)
    def test_any_text_and_number_come_back(self, text, number):
        assert unpacked("t text, n bigint", {"t": text, "n": number}) == [(text, number)]

    @hypothesis_settings(max_examples=30)
    @given(st.dictionaries(TEXT, st.none() | st.booleans() | NUMBER | TEXT, max_size=5))
    def test_any_document_comes_back(self, document):
        ((found,),) = unpacked("d json", {"d": sql.document(document)})
        assert sql.as_document(found) == document


def test_an_absent_document_is_null(db):
    assert unpacked("d json", {"d": sql.document(None)}) == [(None,)]


def test_a_document_travels_as_a_parameter(db):
    cast = "::jsonb" if sql.is_postgresql() else ""
    ((found,),) = sql.fetch(f"SELECT %s{cast}", [sql.document_parameter({"a": [1, "%s"]})])
    assert sql.as_document(found) == {"a": [1, "%s"]}


def test_moments_compare_with_stored_ones(account):
    Account.objects.filter(pk=account.pk).update(created_at=NOON)
    statement = "SELECT count(*) FROM accounts_account WHERE created_at > %s"
    counts = [sql.fetch(statement, [sql.moment(NOON + timedelta(seconds=s))])[0][0] for s in (-1, 1)]
    assert counts == [1, 0]


def test_moments_of_other_zones_are_the_same_moment(db):
    east = NOON.astimezone(timezone(timedelta(hours=9)))
    assert sql.as_moment(sql.moment(east)).replace(microsecond=0) == NOON.replace(microsecond=0)


def test_only_moments_have_a_form_of_their_own(db):
    with pytest.raises(TypeError):
        sql.pack([{"x": object()}])


def test_a_moment_without_a_zone_is_utc():
    assert sql.as_moment("2026-11-21 12:00:00.123") == NOON.replace(microsecond=123_000)
    assert sql.as_moment(NOON) is NOON


def test_later_is_so_many_seconds_by_the_databases_clock(db):
    statement = f"SELECT r.s, {sql.now()}, {sql.later('r.s')} FROM {sql.rows('s real')}"
    asked = [{"s": seconds} for seconds in (-86_400, -0.5, 0, 0.00001, 0.04, 90, 86_400 * 3650)]
    for seconds, now, then in sql.fetch(statement, [sql.pack(asked)]):
        assert abs((sql.as_moment(then) - sql.as_moment(now)).total_seconds() - seconds) < 0.002, seconds


def test_the_databases_clock_is_ours(db):
    before = datetime.now(UTC) - timedelta(milliseconds=1)  # SQLite cuts a moment to milliseconds
    ((now,),) = sql.fetch(f"SELECT {sql.now()}")
    assert before <= sql.as_moment(now) <= datetime.now(UTC)


def test_the_clock_moves_within_a_transaction(db):
    with transaction.atomic():
        first = sql.fetch(f"SELECT {sql.now()}")[0][0]
        wait_until(lambda: sql.fetch(f"SELECT {sql.now()}")[0][0] > first)


def test_run_tells_how_many_rows_it_touched(account, other_account):
    assert sql.run("UPDATE accounts_account SET max_queued = 7") == 2


def test_a_statement_without_rows_gives_none(db):
    assert sql.fetch("UPDATE tasks_claimturn SET last_key = 0") == []


def test_rows_come_by_the_names_of_their_columns(db):
    statement = f"SELECT r.n AS number, r.t AS text FROM {sql.rows('n bigint, t text')}"
    assert [(row.text, row.number) for row in sql.records(statement, [sql.pack([{"n": 1, "t": "a"}])])] == [("a", 1)]
    assert sql.records("UPDATE tasks_claimturn SET last_key = 0") == []


def test_a_list_of_ids_is_a_condition(account, other_account):
    statement = f"SELECT count(*) FROM accounts_account WHERE id {sql.among('bigint')}"
    for ids in ([], [account.pk], [account.pk, other_account.pk, 0]):
        assert sql.fetch(statement, [sql.ids(ids)]) == [(len([i for i in ids if i]),)]


def test_seconds_are_added_to_a_moment_and_counted_between_two(account):
    for seconds in (-0.5, 0, 90, 86_400):
        later = sql.after("created_at", str(seconds))
        ((found,),) = sql.fetch(f"SELECT {sql.seconds_between('created_at', later)} FROM accounts_account")
        assert abs(float(found) - seconds) < 0.002, seconds


def test_rows_of_a_group_are_one_list_of_objects(db):
    listed = sql.objects({"id": "r.n", "doubled": "r.n * 2"})
    ((found,),) = sql.fetch(f"SELECT {listed} FROM {sql.rows('n bigint')}", [sql.pack([{"n": 1}, {"n": 2}])])
    assert sql.as_document(found) == [{"id": 1, "doubled": 2}, {"id": 2, "doubled": 4}]


def test_the_greater_of_two(db):
    assert sql.fetch(f"SELECT {sql.greatest('1', '2')}, {sql.greatest('2', '1')}") == [(2, 2)]
