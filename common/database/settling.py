"""Which ids are settled: ids are drawn before their transactions commit, so a lower one may appear after a higher one,
or never."""

from common import sql

# Whoever draws an id locks the sequence first and keeps the lock until the transaction ends, after the commit is
# visible. Transaction ids would not do: one may be drawn after the row's id, and snapshots wait for every writer of
# the server.
DRAWING = """
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND relation = pg_get_serial_sequence(%s, 'id')::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND mode = 'RowExclusiveLock'
"""
OTHERS = " AND pid <> pg_backend_pid()"


def drawing(table: str, *, others_only: bool = False) -> frozenset[str]:
    """The open transactions that have drawn an id of this table, or only those of other sessions. Once those that are
    open after an id was seen have ended, all ids up to it are settled for the statements after that. SQLite has none:
    its writers take turns."""
    return frozenset(sql.column(DRAWING + OTHERS * others_only, [table])) if sql.is_postgresql() else frozenset()
