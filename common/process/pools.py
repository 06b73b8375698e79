"""Closes the connections that are kept before the interpreter ends.

Newer Pythons cannot join the threads of PostgreSQL's pools later. SQLite's last connection tidies its log away.
"""

import atexit

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from common.sqlite.connections import kept


def close_at_exit() -> None:
    """Once a process, from the settings, because every kind of process has them."""
    atexit.register(_close)


def _close() -> None:
    for connection in connections.all(initialized_only=True):
        connection.close()
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
    kept.close()
