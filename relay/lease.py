"""Lease of this web process on its open calls: a row with a heartbeat, registered before the first reservation."""

import logging
import os
import secrets
import threading

from django.conf import settings

from billing import web_processes
from common.concurrency import threads
from common.database.database_retry import AWAY, reset_connections

logger = logging.getLogger(__name__)
AWAY_SECONDS = 1.0


class Lease:
    """Registration of this process. If others declare it dead after a silence, they end its calls; it then continues
    under another id, so that its new calls are not taken for those."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._id = ""
        self._over: threading.Event | None = None
        """Ends the heartbeat; None while this id is not registered."""

    @property
    def id(self) -> str:
        """Returns this process's id without a query."""
        with self._lock:
            if self._pid != os.getpid():  # a fork inherits no threads and no lease
                self._pid, self._id, self._over = os.getpid(), secrets.token_hex(16), None
            return self._id

    def hold(self) -> str:
        """Returns the id, registered and with a heartbeat. The first call queries the database and raises its
        errors."""
        process_id = self.id
        if self._over is None:
            web_processes.register(process_id)
            self._begin(process_id)
        return process_id

    def _begin(self, process_id: str) -> None:
        with self._lock:
            if self._over is None and self._id == process_id:
                self._over = threading.Event()
                arguments = (process_id, self._over)
                threading.Thread(target=self._beat, args=arguments, name="lease", daemon=True).start()

    def _beat(self, process_id: str, over: threading.Event) -> None:
        pause = quarter = float(settings.WORKER_LEASE) / 4
        while not over.wait(pause):
            try:
                is_ours = threads.returning_connection(web_processes.heartbeat, process_id)
            except AWAY as error:
                logger.warning("the database is away: %s", error)
                reset_connections()
                pause = min(AWAY_SECONDS, quarter)
                continue
            pause = quarter
            if not is_ours:
                self.lose(process_id)

    def lose(self, process_id: str) -> None:
        """Replaces the id after others have declared this process dead."""
        with self._lock:
            if self._id == process_id:
                logger.error("this process was silent for too long: other processes end its relayed calls")
                self._renew()

    def give_up(self) -> None:
        """Lets others end this process's remaining calls at once. Blocks; raises database errors."""
        process_id = self.forget()
        if process_id:
            threads.returning_connection(web_processes.stop, process_id)

    def forget(self) -> str:
        """Stops the heartbeat; returns the id that was registered, empty if none was."""
        with self._lock:
            registered = self._id if self._over is not None and self._pid == os.getpid() else ""
            self._renew()
            return registered

    def _renew(self) -> None:
        """Sets a new id; the caller holds the lock."""
        if self._over is not None:
            self._over.set()
        self._id, self._over = secrets.token_hex(16), None
