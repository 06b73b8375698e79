"""A lane of the worker: repeats one part of its work on a thread, after a pause or as soon as it is woken."""

import logging
import threading
from collections.abc import Callable

from django.db import connections

from common import sql, swallowed
from common.database.database_retry import AWAY, is_passing, release_connection, reset_connections
from common.postgresql import doors
from common.postgresql.doors import Kind

logger = logging.getLogger(__name__)
AWAY_SECONDS = 1.0
SAFETY_SECONDS = 5.0  # between two looks that no wake-up has asked for


def at_most(seconds: float, wait: float | None) -> float:
    """The wait, or so many seconds where it is longer or none is known."""
    return seconds if wait is None else min(wait, seconds)


class WorkerLane:
    """The step returns the seconds until the next one, unless `wake` comes first. A database that is away is waited
    for, and other errors are logged. It ends with the step that is under way when `end` was set and it was woken.
    Between two steps it holds no connection; `kind` says with whom it shares those that there are."""

    def __init__(self, step: Callable[[], float], end: threading.Event, *, kind: Kind = "lanes") -> None:
        self.end = end
        self.step = step
        self._kind = kind
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name=step.__qualname__, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Begin the step now, or once more where it is under way."""
        self._woken.set()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _repeat(self) -> None:
        doors.kind.set(self._kind)
        while True:
            self._woken.clear()
            if self.end.is_set():
                break
            pause = self._stepped()
            if sql.is_postgresql():  # SQLite's cost nobody anything
                release_connection()
            if pause:
                self._woken.wait(pause)
        connections.close_all()

    def _stepped(self) -> float:
        """The seconds until the next step."""
        try:
            return self.step()
        except AWAY as error:
            if is_passing(error):
                logger.warning("the database is away: %s", error)
            else:
                logger.exception("a step of the worker failed")
            reset_connections()
        except Exception:
            swallowed.note("worker.lane")
        return AWAY_SECONDS
