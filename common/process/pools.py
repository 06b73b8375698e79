"""Closes the connections that are kept, at the latest before the interpreter ends.

Newer Pythons cannot join the threads of PostgreSQL's pools later. SQLite's last connection tidies its log away.
"""

import atexit

from django.conf import settings
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from common.sqlite.connections import kept


def close_at_exit() -> None:
    """Once a process, from the settings, because every kind of process has them."""
    atexit.register(close)


def close() -> None:
    """Close what is kept; whoever asks next opens new ones.

    The web server's first process reads the settings as a module and never sets Django up: it has no connection."""
    for connection in connections.all(initialized_only=True) if settings.configured else ():
        connection.close()
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
    kept.close()
