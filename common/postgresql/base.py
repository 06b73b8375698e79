"""Django's PostgreSQL with three differences: no statement is compiled, those of a web process end in time, and whether
a connection of the pool still lives is found out without asking.

To ask the server before each request costs a round trip. A server that ends, restarts or cuts a session closes the
connection, and the system here knows it at once. Of a server that went away in silence the system learns within ten
seconds (`KEEPALIVES`).
"""

import select
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

import psycopg
from django.db.backends.postgresql import base, features, operations

from common.database import time_limits
from common.postgresql import doors

Result = TypeVar("Result")
MOST_PARAMETERS = 65_535  # of a statement whose parameters the server binds
KEEPALIVES: Mapping[str, int] = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Parameters of a connection: one whose server is not heard of for ten seconds is closed by the system here."""


class NoAnswer(psycopg.OperationalError):
    """The server has said nothing, so nobody knows what became of the statement."""


class TransactionEnded(psycopg.OperationalError):
    """The server has undone a transaction that was silent for too long, and has closed its connection."""

    sqlstate = psycopg.errors.IdleInTransactionSessionTimeout.sqlstate


class PooledConnection(psycopg.Connection[Any]):
    """A connection that gives up and closes where a statement has no answer after `answer_seconds`."""

    answer_seconds: float | None = None

    def wait(self, gen: Generator[Any, Any, Result], *arguments: Any, **options: Any) -> Result:
        steps = gen if self.answer_seconds is None else within(self.answer_seconds, gen)
        try:
            return super().wait(steps, *arguments, **options)
        except NoAnswer:
            self.close()
            raise
        except psycopg.errors.IdleInTransactionSessionTimeout as error:  # to psycopg it is no fault of a connection
            raise TransactionEnded(str(error)) from error


def within(seconds: float, steps: Generator[Any, Any, Result]) -> Generator[Any, Any, Result]:
    """The steps of psycopg's that wait for the server. Raises NoAnswer where they are not over after so long."""
    ends_at = time.monotonic() + seconds
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= ends_at:
                raise NoAnswer("the server has not answered in time")
            wanted = steps.send(ready)
    except StopIteration as end:
        result: Result = end.value
        return result


def is_alive(connection: PooledConnection) -> bool:
    """Whether nothing has come without having been asked for: that would be the news of its end."""
    told = select.poll()
    told.register(connection.fileno(), select.POLLIN)
    return not told.poll(0)


class BoundFeatures(features.DatabaseFeatures):
    max_query_params = MOST_PARAMETERS


class BoundOperations(operations.DatabaseOperations):
    def bulk_batch_size(self, fields: Sequence[Any], objs: Sequence[Any]) -> int:
        """Of the ORM's long lists, which it writes and deletes in parts."""
        return max(1, min(len(objs), MOST_PARAMETERS // max(1, len(fields))))


class PooledWrapper(base.DatabaseWrapper):
    """It never hands out a connection that is known to be dead, and where there are doors, only to whom they let in."""

    features_class = BoundFeatures
    ops_class = BoundOperations

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._leave_door: Callable[[], None] | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if doors.built:
            self._leave_door = doors.enter()
        try:
            connection = super().get_new_connection(conn_params)
            while isinstance(connection, PooledConnection) and not is_alive(connection):
                connection.close()
                self.pool.putconn(connection)
                connection = super().get_new_connection(conn_params)
        except BaseException:
            self._leave()
            raise
        return connection

    def _configure_connection(self, connection: PooledConnection) -> bool:
        """Without the compiler: where a table was never analysed, the planner takes a statement of a millisecond for a
        long one, and to compile it takes most of a second."""
        super()._configure_connection(connection)  # type: ignore[misc]
        connection.execute("SET jit = off")
        if limits := time_limits.of_process:
            connection.execute(
                f"SET statement_timeout = '{limits.statement} s'; SET lock_timeout = '{limits.lock} s'; "
                f"SET idle_in_transaction_session_timeout = '{limits.silence} s'"
            )
            connection.answer_seconds = limits.answer
        return True

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            if self._leave_door:
                self._leave()

    def _leave(self) -> None:
        leave, self._leave_door = self._leave_door, None
        if leave:
            leave()


DatabaseWrapper = PooledWrapper
"""The name that Django looks for."""
