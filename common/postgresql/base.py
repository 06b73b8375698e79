"""Django's PostgreSQL with two differences: no statement is compiled, and whether a connection of the pool still lives
is found out without asking.

To ask the server before each request costs a round trip. What a server does when it ends, restarts or cuts a session is
to close the connection, and the system here knows it at once. Only a network that broke in silence needs the question.
"""

import select
import time
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from django.db.backends.postgresql import base, features, operations
from psycopg_pool import ConnectionPool

from common.database.query_deadline import Statement, watchdog
from common.postgresql import doors

ASKED_AFTER_SECONDS = 10.0
MOST_PARAMETERS = 65_535  # of a statement whose parameters the server binds
ANSWERED_WITHIN_SECONDS = 2.0


class PooledConnection(psycopg.Connection[Any]):
    """It remembers when it was handed back, by time.monotonic."""

    used_at = 0.0


def is_alive(connection: PooledConnection) -> bool:
    """What has something to read without having been asked has been told of its end. An answer is not waited for long:
    none comes where the network is away."""
    told = select.poll()
    told.register(connection.fileno(), select.POLLIN)
    if time.monotonic() - connection.used_at < ASKED_AFTER_SECONDS and not told.poll(0):
        return True
    question = Statement(connection, time.monotonic() + ANSWERED_WITHIN_SECONDS)
    watchdog.watch(question)
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    finally:
        watchdog.leave(question)
    return True


class BoundFeatures(features.DatabaseFeatures):
    max_query_params = MOST_PARAMETERS


class BoundOperations(operations.DatabaseOperations):
    def bulk_batch_size(self, fields: Sequence[Any], objs: Sequence[Any]) -> int:
        """Of the ORM's long lists, which it writes and deletes in parts."""
        return max(1, min(len(objs), MOST_PARAMETERS // max(1, len(fields))))


class PooledWrapper(base.DatabaseWrapper):
    """It never hands out a connection that is known to be dead, and only to whom the doors let in."""

    features_class = BoundFeatures
    ops_class = BoundOperations

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._leave_door: Callable[[], None] = doors.nothing

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self._leave_door = doors.enter()
        try:
            return self._living_connection(conn_params)
        except BaseException:
            self._leave()
            raise

    def _living_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        while isinstance(connection, PooledConnection) and not is_alive(connection):
            connection.close()
            self.pool.putconn(connection)
            connection = super().get_new_connection(conn_params)
        return connection

    def _configure_connection(self, connection: PooledConnection) -> bool:
        """Without the compiler: where a table was never analysed, the planner takes a statement of a millisecond for a
        long one, and to compile it takes most of a second."""
        super()._configure_connection(connection)  # type: ignore[misc]
        connection.execute("SET jit = off")
        return True

    def _close(self) -> None:
        if isinstance(self.connection, PooledConnection):
            self.connection.used_at = time.monotonic()
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._leave()

    def _leave(self) -> None:
        leave, self._leave_door = self._leave_door, doors.nothing
        leave()


DatabaseWrapper = PooledWrapper
"""The name that Django looks for."""
