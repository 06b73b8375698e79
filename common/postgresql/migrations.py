"""Operations of migrations that concern PostgreSQL alone."""

from typing import Any

from django.db import migrations

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


def without_pattern_index(name: str, table: str, column: str) -> OnPostgreSQL:
    """Drop the second index that Django makes of a text column for LIKE, where nobody asks with LIKE."""
    return OnPostgreSQL(
        f"DROP INDEX IF EXISTS {name}", f"CREATE INDEX {name} ON {table} ({column} varchar_pattern_ops)"
    )


def unchecked(name: str, table: str, column: str, parent: str) -> OnPostgreSQL:
    """Drop the foreign key of a column whose parents are never deleted. For each new row the server looks its parent up
    and locks it, at the commit, while others wait for what the transaction has locked."""
    return OnPostgreSQL(
        f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}",
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({column}) REFERENCES {parent} (id) "
        "DEFERRABLE INITIALLY DEFERRED",
    )


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
