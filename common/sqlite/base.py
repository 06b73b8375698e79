"""Django's SQLite with two differences: connections are kept for the next who asks, and those who write take turns.

To open one costs as much as a hundred small statements, and closing the last one moves its whole log into the database.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from common import private_files
from common.sqlite.connections import FileConnection, FileCursor, kept

BESIDE = ("", "-wal", "-shm", "-journal")


def make_private(database: str) -> None:
    """Let nobody but its owner read the file and those beside it, which SQLite makes like it. One that is there is not
    opened: closing it would drop SQLite's own locks of this process."""
    if database.startswith((":memory:", "file:")):
        return
    with suppress(OSError):  # the connection says what is wrong
        os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, private_files.FILE))
    for suffix in BESIDE:
        private_files.tighten(Path(f"{database}{suffix}"))


class DatabaseWrapper(base.DatabaseWrapper):
    """As with PostgreSQL's pool, to close means to hand back."""

    connection: FileConnection

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "factory": FileConnection}

    def get_new_connection(self, conn_params: dict[str, Any]) -> FileConnection:
        found: FileConnection | None = kept.take(conn_params["database"])
        if found is None:
            make_private(conn_params["database"])
        return found or super().get_new_connection(conn_params)

    def create_cursor(self, name: str | None = None) -> FileCursor:
        return self.connection.cursor(factory=FileCursor)

    def _close(self) -> None:
        connection = self.connection
        if connection.file and not connection.in_transaction and not self.errors_occurred:
            kept.give(str(self.settings_dict["NAME"]), connection)
        else:
            super()._close()  # type: ignore[misc]
