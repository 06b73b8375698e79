"""The server's loop in each web process: gunicorn's ASGI worker with connections of our own."""

import asyncio
import os
from asyncio import selector_events

from gunicorn.asgi.lifespan import LifespanManager
from gunicorn.workers.gasgi import ASGIWorker

from common.process import descriptors
from common.process.scheduling import OneCore
from front.server import places
from front.server.connection import HttpConnection

# What asyncio asks a socket for is allocated first: 256 KiB of its own, by two calls of the system for each request.
RECEIVE_BYTES = 64 * 1024
selector_events._SelectorTransport.max_size = RECEIVE_BYTES  # type: ignore[attr-defined]

BEAT_SECONDS = 1.0
MOVING_SECONDS = 0.02
"""Of each beat: when the kernel may move the process to another core."""


class WebWorker(ASGIWorker):  # type: ignore[misc]
    """Starts, beats and stops as gunicorn's does."""

    async def _serve(self) -> None:
        self.lifespan = LifespanManager(self.asgi, self.log, self.state)
        await self.lifespan.startup()
        self.places = places.Places(self.loop, self._limits())
        for listener in self.sockets:
            self.servers.append(await self.loop.create_server(lambda: HttpConnection(self), sock=listener.sock))
            self.log.info("listening on %s", listener)
        core = OneCore()
        while self.alive and self.ppid == os.getppid():
            self.notify()
            core.release()
            await asyncio.sleep(MOVING_SECONDS)
            core.gather()
            await asyncio.sleep(BEAT_SECONDS - MOVING_SECONDS)
        await self._shutdown()

    def _limits(self) -> places.ConnectionLimits:
        wanted = self.worker_connections
        room = descriptors.reserve(wanted)
        if room < wanted:
            self.log.warning("MAX_CONNECTIONS is %d, but the limit of open files (ulimit -n) allows %d", wanted, room)
        return places.ConnectionLimits(
            room=room,
            head_seconds=places.HEAD_SECONDS,
            idle_seconds=self.cfg.keepalive,
            stall_seconds=places.STALL_SECONDS,
        )
