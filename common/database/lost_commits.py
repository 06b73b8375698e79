"""Transactions that failed at their commit: whether they may have taken place all the same."""

from django.db import connection

CONNECTION_FAULTS = ("08", "57P")  # SQLSTATEs of connections that end; any other is the server's own no


def is_doubtful(error: Exception) -> bool:
    """Of one of `database_retry.AWAY`. Where it is, the database can be asked: on a new connection, behind the locks
    that the old one held."""
    state = getattr(error.__cause__, "sqlstate", None)
    return not state or state.startswith(CONNECTION_FAULTS)


def ask_anew() -> None:
    """What this thread asks next goes over a new connection."""
    connection.close()
