"""Django's SQLite with two differences: connections are kept for the next who asks, and those who write take turns.

To open one costs as much as a hundred small statements, and closing the last one moves its whole log into the database.
"""

from typing import Any

from django.db.backends.sqlite3 import base

from common.sqlite.connections import FileConnection, FileCursor, kept


class DatabaseWrapper(base.DatabaseWrapper):
    """As with PostgreSQL's pool, to close means to hand back."""

    connection: FileConnection

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "factory": FileConnection}

    def get_new_connection(self, conn_params: dict[str, Any]) -> FileConnection:
        found: FileConnection | None = kept.take(conn_params["database"])
        return found or super().get_new_connection(conn_params)

    def create_cursor(self, name: str | None = None) -> FileCursor:
        return self.connection.cursor(factory=FileCursor)

    def _close(self) -> None:
        connection = self.connection
        if connection.file and not connection.in_transaction and not self.errors_occurred:
            kept.give(str(self.settings_dict["NAME"]), connection)
        else:
            super()._close()  # type: ignore[misc]
