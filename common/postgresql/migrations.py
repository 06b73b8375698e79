"""Operations of migrations that concern PostgreSQL alone."""

from collections.abc import Callable
from typing import Any

from django.db import migrations
from django.db.backends.ddl_references import Columns, Statement

STORAGE = "ALTER TABLE {table} SET ({options})"
RESET = "ALTER TABLE {table} RESET ({names})"


class OnPostgreSQL(migrations.RunSQL):
    """Statements that other databases pass over."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_backwards(app_label, schema_editor, from_state, to_state)


def stored(table: str, **options: float) -> OnPostgreSQL:
    """Set storage parameters of a table."""
    listed = ", ".join(f"{name} = {value}" for name, value in options.items())
    return OnPostgreSQL(
        STORAGE.format(table=table, options=listed), RESET.format(table=table, names=", ".join(options))
    )


def tidied_early(table: str) -> OnPostgreSQL:
    """Vacuum and analyse once a fiftieth has changed and not a fifth: of ten million rows that is two million."""
    names = ("autovacuum_vacuum_scale_factor", "autovacuum_vacuum_insert_scale_factor")
    return stored(table, **dict.fromkeys(names, 0.02), autovacuum_analyze_scale_factor=0.02)


class Omission(migrations.RunPython):
    """Omits what Django would make for columns of a table that the same migration creates.

    Django makes indexes and foreign keys of new tables at the end of the migration; until then their statements wait in
    the schema editor, from which this operation takes them. A column without such a statement is an error.
    """

    def __init__(self, table: str, columns: tuple[str, ...], kind: Callable[[str], bool]) -> None:
        self.table, self.columns, self.kind = table, columns, kind
        super().__init__(self.omit, migrations.RunPython.noop)

    def omit(self, apps: Any, editor: Any) -> None:
        if editor.connection.vendor == "postgresql":
            for column in self.columns:
                found = [each for each in editor.deferred_sql if self.concerns(each, column)]
                if not found:
                    raise ValueError(f"Django makes nothing of this kind for {self.table}.{column}")
                editor.deferred_sql = [each for each in editor.deferred_sql if each not in found]

    def concerns(self, statement: Statement, column: str) -> bool:
        columns = statement.parts.get("columns") or statement.parts.get("column")
        return (
            isinstance(columns, Columns) and columns.references_column(self.table, column) and self.kind(str(statement))
        )


def without_pattern_index(table: str, *columns: str) -> Omission:
    """Omit the second index that Django makes of a text column for LIKE, where nobody asks with LIKE."""
    return Omission(table, columns, lambda statement: "_pattern_ops" in statement)


def unchecked(table: str, *columns: str) -> Omission:
    """Omit the foreign key of columns whose parents are never deleted. For each new row the server looks its parent up
    and locks it, at the commit, while others wait for what the transaction has locked."""
    return Omission(table, columns, lambda statement: "FOREIGN KEY" in statement)
