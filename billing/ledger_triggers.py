"""The guards that keep the ledger and its seals append-only, on both databases; installed by migrations.

No statement that changes or removes rows passes them, REPLACE, upserts, MERGE and TRUNCATE included. SQLite fires no
delete trigger for a row that REPLACE removes, so there an insert of a key that exists is refused. On PostgreSQL the
triggers fire also for sessions that replay a replica's changes. What is left is to drop or disable the guards, or the
table: `defects` tells of the former. SQLite drops a table's triggers when a migration rebuilds the table: such a
migration must install them again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from common import sql

REFUSAL = "the ledger is append-only"
FUNCTION = "billing_refuse_ledger_change"
BODY = f" BEGIN RAISE EXCEPTION '{REFUSAL}'; END "
ALWAYS = "A"  # of pg_trigger.tgenabled
# What PostgreSQL stores of a trigger's kind: per row 1, before 2, delete 8, update 16, truncate 32.
KINDS = {"update": ("ROW", 19), "delete": ("ROW", 11), "truncate": ("STATEMENT", 34)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A table whose rows stay as they are; `keys` are its unique columns but the id."""

    table: str
    prefix: str
    keys: tuple[str, ...]

    def on_sqlite(self) -> dict[str, str]:
        """The triggers by name, as SQLite stores them."""
        same = " AND ".join(f"{key} = NEW.{key}" for key in self.keys)
        told = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        taken = f"EXISTS (SELECT 1 FROM {self.table} WHERE id = NEW.id OR ({same}))"
        events = {
            "no_update": f"BEFORE UPDATE ON {self.table}",
            "no_delete": f"BEFORE DELETE ON {self.table}",
            "no_replace": f"BEFORE INSERT ON {self.table} WHEN {taken}",
            # Before an insert an id that the database will choose reads as -1: no row may have that.
            "ids_count_up": f"AFTER INSERT ON {self.table} WHEN NEW.id < 1",
        }
        names = {f"{self.prefix}_{name}": event for name, event in events.items()}
        return {name: f"CREATE TRIGGER {name} {event} {told}" for name, event in names.items()}

    def on_postgresql(self) -> dict[str, tuple[str, int]]:
        """The triggers by name: the statement that makes each, and its kind."""
        return {
            f"{self.prefix}_no_{verb}": (
                f"CREATE TRIGGER {self.prefix}_no_{verb} BEFORE {verb.upper()} ON {self.table} "
                f"FOR EACH {level} EXECUTE FUNCTION {FUNCTION}()",
                kind,
            )
            for verb, (level, kind) in KINDS.items()
        }


ENTRIES = Guarded(table="billing_ledgerentry", prefix="ledger", keys=("reference", "kind", "book"))
SEALS = Guarded(table="billing_ledgerseal", prefix="seals", keys=("number",))
BOTH = (ENTRIES, SEALS)


def install(editor: BaseDatabaseSchemaEditor, *tables: Guarded) -> None:
    """Make the guards of these tables, of all where none is named; those that are there are made anew."""
    remove(editor, *tables)
    if editor.connection.vendor == "postgresql":
        editor.execute(
            f"CREATE OR REPLACE FUNCTION {FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $${BODY}$$", params=None
        )
    for guarded in tables or BOTH:
        if editor.connection.vendor == "postgresql":
            for statement, _ in guarded.on_postgresql().values():
                editor.execute(statement)
            editor.execute(_enabling(guarded))
        else:
            for statement in guarded.on_sqlite().values():
                editor.execute(statement)


def remove(editor: BaseDatabaseSchemaEditor, *tables: Guarded) -> None:
    for guarded in tables or BOTH:
        if editor.connection.vendor == "postgresql":
            for name in guarded.on_postgresql():
                editor.execute(f"DROP TRIGGER IF EXISTS {name} ON {guarded.table}")
        else:
            for name in guarded.on_sqlite():
                editor.execute(f"DROP TRIGGER IF EXISTS {name}")


def suspend(editor: BaseDatabaseSchemaEditor) -> None:
    """Let rows be deleted, until `resume` in the same transaction. Only for tests, which do this often."""
    for guarded in BOTH:
        if editor.connection.vendor == "postgresql":
            editor.execute(f"ALTER TABLE {guarded.table} DISABLE TRIGGER USER")
        else:
            editor.execute(f"DROP TRIGGER IF EXISTS {guarded.prefix}_no_delete")


def resume(editor: BaseDatabaseSchemaEditor) -> None:
    for guarded in BOTH:
        if editor.connection.vendor == "postgresql":
            editor.execute(_enabling(guarded))
        else:
            editor.execute(guarded.on_sqlite()[f"{guarded.prefix}_no_delete"])


def _enabling(guarded: Guarded) -> str:
    each = ", ".join(f"ENABLE ALWAYS TRIGGER {name}" for name in guarded.on_postgresql())
    return f"ALTER TABLE {guarded.table} {each}"


def defects() -> Iterator[tuple[str, str]]:
    """(guard, what is wrong with it) for each that is missing, disabled or not as it was installed."""
    for guarded in BOTH:
        yield from _of_postgresql(guarded) if sql.is_postgresql() else _of_sqlite(guarded)


def _of_sqlite(guarded: Guarded) -> Iterator[tuple[str, str]]:
    stored = dict(
        sql.fetch("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [guarded.table])
    )
    for name, statement in guarded.on_sqlite().items():
        if name not in stored:
            yield name, f"is missing on {guarded.table}"
        elif stored[name] != statement:
            yield name, f"is not as it was installed on {guarded.table}"
    yield from _replacers(guarded.table)


def _replacers(table: str) -> Iterable[tuple[str, str]]:
    """Unique indexes that were added: REPLACE removes the rows that collide in them, and no guard hears of it."""
    names = sql.column("""SELECT name FROM pragma_index_list(%s) WHERE "unique" AND origin = 'c'""", [table])
    return [(name, f"is a unique index by which REPLACE removes rows of {table}") for name in names]


STORED = """
SELECT t.tgname, t.tgenabled::text AS enabled, t.tgtype AS kind, p.proname AS function, p.prosrc AS body,
    t.tgqual IS NULL AND t.tgattr::text = '' AND t.tgnargs = 0 AND p.pronamespace = c.relnamespace AS is_plain
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
WHERE t.tgrelid = %s::regclass AND NOT t.tgisinternal
"""


def _of_postgresql(guarded: Guarded) -> Iterator[tuple[str, str]]:
    stored = {row.tgname: row for row in sql.records(STORED, [guarded.table])}
    for name, (_, kind) in guarded.on_postgresql().items():
        row = stored.get(name)
        if row is None:
            yield name, f"is missing on {guarded.table}"
        elif row.enabled != ALWAYS:
            yield name, f"is disabled on {guarded.table}, or not enabled for all sessions"
        elif (row.kind, row.function, row.body, row.is_plain) != (kind, FUNCTION, BODY, True):
            yield name, f"is not as it was installed on {guarded.table}"
    yield from _rules(guarded.table)
    yield from _heirs(guarded.table)


def _rules(table: str) -> Iterable[tuple[str, str]]:
    """Rules rewrite statements before any trigger sees them; the ledger has none."""
    names = sql.column("SELECT rulename FROM pg_rules WHERE schemaname = current_schema() AND tablename = %s", [table])
    return [(name, f"is a rule that rewrites statements on {table}") for name in names]


def _heirs(table: str) -> Iterable[tuple[str, str]]:
    """Tables that inherit from it: their rows count as its own, and triggers are not inherited."""
    names = sql.column("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [table])
    return [(name, f"is a table whose rows count as rows of {table}, without its guards") for name in names]
