"""Empties the database after a transactional test, as Django's flush does, at a tenth of its price.

Flush has every permission and content type written again, and PostgreSQL's TRUNCATE makes all files of a table anew.
Here what migrations wrote for good stays, and only a table that has grown large is truncated.
"""

from collections.abc import Iterator

from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected

from billing import ledger_triggers
from catalog.models import CatalogVersion
from tasks.models import ClaimTurn, ServiceState

KEPT = {"django_migrations", "django_content_type", "auth_permission", "auth_group", "auth_group_permissions"}
FIXED = (CatalogVersion, ServiceState, ClaimTurn)
"""Tables of one row that a migration makes."""
LARGE = 256 * 1024  # bytes
TRIES = 5
SIZES = (
    "SELECT relname, pg_relation_size(oid) FROM pg_class "
    "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND pg_relation_size(oid) > 0"
)


def empty() -> None:
    """Delete all rows but those that migrations made. Whoever is still at work is waited for, also where each of the
    two holds what the other wants."""
    for _ in range(TRIES - 1):
        try:
            return _empty()
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
    _empty()


def _empty() -> None:
    """In one transaction; the ledger is guarded again afterwards."""
    with connection.schema_editor() as editor:
        ledger_triggers.suspend(editor)
        for statement in statements():
            editor.execute(statement)
        for model in FIXED:
            model.objects.create(id=1)
        ledger_triggers.resume(editor)


def statements() -> Iterator[str]:
    """What empties the tables in any order: foreign keys are checked at the end of the transaction."""
    sizes = written()
    if large := [quoted(table) for table, size in sizes.items() if size > LARGE]:
        yield f"TRUNCATE {', '.join(large)} CASCADE"
    yield from (f"DELETE FROM {quoted(table)}" for table, size in sizes.items() if size <= LARGE)


def written() -> dict[str, int]:
    """Bytes of the tables that may have rows; on SQLite all, and no bytes."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(SIZES)
            sizes = dict(cursor.fetchall())
        else:
            sizes = dict.fromkeys(connection.introspection.table_names(cursor), 0)
    return {table: size for table, size in sizes.items() if table not in KEPT}


def quoted(table: str) -> str:
    return str(connection.ops.quote_name(table))
