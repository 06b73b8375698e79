"""No statement that the databases offer changes or removes a ledger entry or a seal, and missing guards are told."""

import pytest
from django.db import DatabaseError, connection, transaction

from billing import ledger, ledger_triggers, seals
from common import sql
from tasks import ledger_check

pytestmark = pytest.mark.django_db(transaction=True)
COLUMNS = "id, reference, kind, book, account_id, amount_micros, reason, at"
NEW = "(id, reference, kind, book, amount_micros, reason, at) SELECT id, reference, kind, book, 7, 'x', at FROM {t}"
SAME_KEY = (
    "(reference, kind, book, amount_micros, reason, at) SELECT reference, kind, book, 7, 'x', at FROM {t} "
    "WHERE book <> 'customer'"
)
ON_BOTH = [
    "UPDATE {t} SET amount_micros = 1",
    "UPDATE {t} SET id = id + 100",
    "DELETE FROM {t}",
    "INSERT INTO {t} " + NEW + " WHERE book <> 'customer' ON CONFLICT (id) DO UPDATE SET amount_micros = 7",
    "INSERT INTO {t} " + SAME_KEY + " ON CONFLICT (reference, kind, book) DO UPDATE SET amount_micros = 7",
]
ON_SQLITE = [
    "REPLACE INTO {t} " + NEW + " WHERE book <> 'customer'",
    "REPLACE INTO {t} " + SAME_KEY,
    "INSERT OR REPLACE INTO {t} " + SAME_KEY,
    "UPDATE OR REPLACE {t} SET id = 1",
    "UPDATE OR IGNORE {t} SET amount_micros = 1",
    "UPDATE OR FAIL {t} SET amount_micros = 1",
    "INSERT INTO {t} (id, reference, kind, book, amount_micros, reason, at) "
    "VALUES (-1, 'n', 'charge', 'revenue', 5, '', '')",
]
ON_POSTGRESQL = [
    "TRUNCATE {t}",
    "TRUNCATE {t} RESTART IDENTITY CASCADE",
    "TRUNCATE accounts_account CASCADE",
    "WITH gone AS (DELETE FROM {t} RETURNING *) SELECT count(*) FROM gone",
    "SET LOCAL session_replication_role = replica; DELETE FROM {t}",
    "SET LOCAL session_replication_role = replica; UPDATE {t} SET amount_micros = 1",
]
MERGES = [
    "MERGE INTO {t} e USING (SELECT 1) one ON true WHEN MATCHED THEN DELETE",
    "MERGE INTO {t} e USING (SELECT 1) one ON true WHEN MATCHED THEN UPDATE SET amount_micros = 1",
]


def statements() -> list[str]:
    if connection.vendor == "sqlite":
        return ON_BOTH + ON_SQLITE
    has_merge = int(sql.value("SHOW server_version_num")) >= 150_000
    return ON_BOTH + ON_POSTGRESQL + (MERGES if has_merge else [])


def stored(table: str) -> list[tuple[object, ...]]:
    return sql.fetch(f"SELECT * FROM {table} ORDER BY id")


def test_no_statement_changes_or_removes_an_entry(account):
    before = stored("billing_ledgerentry")
    assert len(before) == 2
    for statement in statements():
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            sql.run(statement.format(t="billing_ledgerentry"))
        assert stored("billing_ledgerentry") == before, statement


OF_SEALS = [
    "UPDATE billing_ledgerseal SET entries = 1",
    "DELETE FROM billing_ledgerseal",
    "INSERT INTO billing_ledgerseal (number, last_entry_id, entries, sha256, at) "
    "SELECT number, 9, 9, 'x', at FROM billing_ledgerseal WHERE true ON CONFLICT (number) DO UPDATE SET entries = 9",
]
OF_SEALS_THERE = {
    "sqlite": ["REPLACE INTO billing_ledgerseal SELECT * FROM billing_ledgerseal"],
    "postgresql": ["TRUNCATE billing_ledgerseal"],
}


def test_no_statement_changes_or_removes_a_seal(account):
    seals.seal()
    before = stored("billing_ledgerseal")
    for statement in OF_SEALS + OF_SEALS_THERE[connection.vendor]:
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            sql.run(statement)
        assert stored("billing_ledgerseal") == before, statement


def test_a_booking_is_still_told_from_one_that_is_there(account):
    ledger.credit(account.pk, 5, reference="wire-1", reason="")
    with pytest.raises(ValueError, match="booked already"):
        ledger.credit(account.pk, 5, reference="wire-1", reason="")


@pytest.fixture
def restored():
    """The guards are made anew afterwards."""
    yield
    with connection.schema_editor() as editor:
        ledger_triggers.install(editor)


def broken() -> set[tuple[str, str]]:
    return {(breach.subject, breach.rule) for breach in ledger_check.check().breaches}


def test_the_guards_are_in_place(db):
    assert list(ledger_triggers.defects()) == []


@pytest.mark.parametrize("guarded", ledger_triggers.BOTH, ids=lambda guarded: guarded.prefix)
def test_each_guard_that_is_dropped_is_told(guarded, restored):
    on = f" ON {guarded.table}" if connection.vendor == "postgresql" else ""
    names = guarded.on_postgresql() if on else guarded.on_sqlite()
    for name in names:
        sql.run(f"DROP TRIGGER {name}{on}")
        assert broken() == {(name, ledger_check.GUARDED)}
        with connection.schema_editor() as editor:
            ledger_triggers.install(editor, guarded)


def test_a_guard_that_does_something_else_is_told(restored):
    if connection.vendor == "sqlite":
        sql.run("DROP TRIGGER ledger_no_delete")
        sql.run(
            "CREATE TRIGGER ledger_no_delete BEFORE DELETE ON billing_ledgerentry WHEN OLD.id < 0 BEGIN SELECT 1; END"
        )
        assert broken() == {("ledger_no_delete", ledger_check.GUARDED)}
        return
    sql.run("ALTER TABLE billing_ledgerentry DISABLE TRIGGER ledger_no_delete")
    assert broken() == {("ledger_no_delete", ledger_check.GUARDED)}
    sql.run("ALTER TABLE billing_ledgerentry ENABLE TRIGGER ledger_no_delete")  # not for replicas
    assert broken() == {("ledger_no_delete", ledger_check.GUARDED)}
    body = "CREATE OR REPLACE FUNCTION billing_refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS "
    sql.run(body + "'BEGIN RETURN COALESCE(NEW, OLD); END'")
    assert len(broken()) == 6


def test_a_rule_that_rewrites_statements_is_told(restored):
    if connection.vendor == "sqlite":
        return
    sql.run("CREATE RULE lost AS ON INSERT TO billing_ledgerentry DO INSTEAD NOTHING")
    try:
        assert broken() == {("lost", ledger_check.GUARDED)}
    finally:
        sql.run("DROP RULE lost ON billing_ledgerentry")


def test_a_table_of_entries_without_guards_is_told(restored):
    if connection.vendor == "sqlite":
        return
    sql.run("CREATE TABLE lost () INHERITS (billing_ledgerentry)")
    try:
        assert broken() == {("lost", ledger_check.GUARDED)}
    finally:
        sql.run("DROP TABLE lost")


def test_a_unique_index_by_which_entries_can_be_replaced_is_told(restored):
    if connection.vendor == "postgresql":
        return
    sql.run("CREATE UNIQUE INDEX lost ON billing_ledgerentry (reason) WHERE id IN (1, 900)")
    try:
        assert broken() == {("lost", ledger_check.GUARDED)}
    finally:
        sql.run("DROP INDEX lost")
