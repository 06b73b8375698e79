"""Who relays a call: a web process's heartbeat is the lease of its open calls, by the database's clock."""

import os
import socket

from django.conf import settings

from common import sql

KEPT_SECONDS = 86_400


def register(process_id: str) -> None:
    """A row for this process; may be repeated."""
    sql.run(
        "INSERT INTO billing_webprocess (id, host, pid, started_at, heartbeat_at) "
        f"VALUES (%s, %s, %s, {sql.now()}, {sql.now()}) ON CONFLICT (id) DO NOTHING",
        [process_id, socket.gethostname()[:255], os.getpid()],
    )


def heartbeat(process_id: str) -> bool:
    """Renew the lease; False where this process was declared dead: no call is reserved for it any more."""
    statement = f"UPDATE billing_webprocess SET heartbeat_at = {sql.now()} WHERE id = %s AND stopped_at IS NULL"
    return bool(sql.run(statement, [process_id]))


def stop(process_id: str) -> None:
    """What calls it still has, others may end at once."""
    sql.run(
        f"UPDATE billing_webprocess SET stopped_at = {sql.now()} WHERE id = %s AND stopped_at IS NULL", [process_id]
    )


def declare_dead() -> None:
    """Those that fell silent are stopped, also where they wake up."""
    silent = sql.later(str(-settings.WORKER_LEASE))
    sql.run(
        f"UPDATE billing_webprocess SET stopped_at = {sql.now()} WHERE stopped_at IS NULL AND heartbeat_at < {silent}"
    )


def prune() -> None:
    """Rows of long ago go."""
    sql.run(f"DELETE FROM billing_webprocess WHERE stopped_at < {sql.later(str(-KEPT_SECONDS))}")
