"""Closes PostgreSQL's connection pools before the interpreter ends: newer Pythons cannot join their threads later."""

import atexit

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper


def close_at_exit() -> None:
    """Once a process, from the settings, because every kind of process has them."""
    atexit.register(_close)


def _close() -> None:
    for connection in connections.all(initialized_only=True):
        connection.close()
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
