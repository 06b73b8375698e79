"""Cancels the work on a call because its client has left or this process stops."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from common.errors import UpstreamUnavailable
from relay.calls.clients import RelayClient
from relay.calls.runs import CallRun
from relay.calls.streaming import Relaying

STOPS = "The service is stopping."


class Guard:
    """Cancels the task that serves one call, at most once."""

    def __init__(self, client: RelayClient) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # an ASGI server runs applications in tasks
        self._task: asyncio.Task[Any] = task
        self.client = client
        self.run: CallRun | None = None
        self.relaying: Relaying | None = None
        self.is_stopping = False
        self._is_interrupted = False
        self._is_over = False

    def stop(self) -> None:
        """Cancels the call because this process stops. A call whose end is being committed goes on, so that its client
        gets the last frame."""
        if self.run is None or not self.run.has_ended:
            self.is_stopping = True
            self._interrupt()

    @contextmanager
    def cancel_on_disconnect(self, leaving: Coroutine[Any, Any, None]) -> Iterator[None]:
        """Cancels the block once the client has left, unless an upstream has taken the call, and absorbs that
        cancellation at the end. Raises UpstreamUnavailable if this process stops while the client is connected and has
        read nothing."""
        left = asyncio.ensure_future(leaving)
        left.add_done_callback(self._left)
        try:
            yield
        except asyncio.CancelledError:
            if not self._is_interrupted or self._task.cancelling() > 1:
                raise
            if self.is_stopping and not self.client.has_left and self.relaying is None:
                raise UpstreamUnavailable(STOPS) from None
        finally:
            self._is_over = True
            left.cancel()
            if self._is_interrupted:
                self._task.uncancel()

    def _left(self, left: "asyncio.Future[None]") -> None:
        if left.cancelled():
            return
        self.client.leave()
        if self.run is None or not (self.run.was_sent or self.run.has_ended):
            self._interrupt()

    def _interrupt(self) -> None:
        if not self._is_over and not self._is_interrupted:
            self._is_interrupted = True
            self._task.cancel()
