"""The triggers that keep the ledger append-only, on both databases; installed by a migration.

SQLite drops a table's triggers when a migration rebuilds the table: such a migration must install them again.
"""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLE = "billing_ledgerentry"
POSTGRESQL = (
    "CREATE OR REPLACE FUNCTION billing_refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$",
    f"CREATE TRIGGER ledger_no_update BEFORE UPDATE ON {TABLE} FOR EACH ROW "
    "EXECUTE FUNCTION billing_refuse_ledger_change()",
    f"CREATE TRIGGER ledger_no_delete BEFORE DELETE ON {TABLE} FOR EACH ROW "
    "EXECUTE FUNCTION billing_refuse_ledger_change()",
)
SQLITE = tuple(
    f"CREATE TRIGGER IF NOT EXISTS ledger_no_{verb.lower()} BEFORE {verb} ON {TABLE} "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
    for verb in ("UPDATE", "DELETE")
)


def install(editor: BaseDatabaseSchemaEditor) -> None:
    for statement in POSTGRESQL if editor.connection.vendor == "postgresql" else SQLITE:
        editor.execute(statement)


def remove(editor: BaseDatabaseSchemaEditor) -> None:
    target = f" ON {TABLE}" if editor.connection.vendor == "postgresql" else ""
    for verb in ("update", "delete"):
        editor.execute(f"DROP TRIGGER IF EXISTS ledger_no_{verb}{target}")
