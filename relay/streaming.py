"""Passes a stream on, frame by frame, and ends its call in the books before its client gets the last one.

A client that reads slowly is waited for, and so is the upstream then: only some hundred KiB are held. While the
upstream is silent, the client hears a blank line now and then. A stream that breaks off ends with an error, never as
if nothing had happened.
"""

import asyncio
from collections.abc import Iterable

from adapters.base import ErrorKind, UpstreamError
from common.asgi import Headers, Send
from common.errors import ApiError
from relay import attempts, failover, times
from relay.attempts import BegunStream
from relay.ending import Finish
from relay.runs import CallRun

HEADERS: Headers = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
BEAT = b"\n"
OK = 200


class Relaying:
    """A begun stream on its way to its client."""

    def __init__(self, run: CallRun, stream: BegunStream, send: Send) -> None:
        self._run, self._stream, self._send = run, stream, send
        self._ends_at = asyncio.get_running_loop().time() + times.STREAM_SECONDS

    async def run(self) -> None:
        """Until its end, which is in the books then."""
        headers = [*HEADERS, *self._run.headers]
        await self._send({"type": "http.response.start", "status": OK, "headers": headers})
        try:
            last = await self._pass_on()
        except UpstreamError as error:
            await self.cut(failover.of_stream(error))
            return
        await self._run.end(Finish.DONE, OK)
        await self._send({"type": "http.response.body", "body": last})
        await self._stream.reply.finish()

    async def cut(self, error: ApiError) -> None:
        """It goes no further; its last frame says so."""
        self._stream.close()
        await self._run.end(Finish.CUT, OK)
        frame = self._run.demand.family.error_frame(error)
        await self._send({"type": "http.response.body", "body": frame})

    async def _pass_on(self) -> bytes:
        """Sends all but the last frame, which is returned. Raises UpstreamError where it breaks off."""
        stream, reader = self._stream, self._stream.reader
        shown, frames = stream.shown, list(stream.waiting)
        while True:
            last = self._taken(frames, shown)
            self._run.saw(reader)
            await self._tell(b"".join(shown))
            if reader.error is not None:
                raise reader.error
            if reader.is_over:
                return last
            if not (frames := await self._more()):
                if reader.can_end:
                    return b""
                raise UpstreamError(ErrorKind.AMBIGUOUS, "the stream has ended before its end", code="network")
            shown = []

    def _taken(self, frames: Iterable[bytes], shown: list[bytes]) -> bytes:
        """The last frame of a stream that is over; what the client gets before it is added to `shown`."""
        reader = self._stream.reader
        for frame in frames:
            if reader.is_over:
                break
            shown.append(reader.take(frame))
        return shown.pop() if reader.is_over and shown else b""

    async def _more(self) -> list[bytes]:
        """The next frames; none at the end. Raises UpstreamError, also where the time is over."""
        loop = asyncio.get_running_loop()
        given_up_at = min(self._ends_at, loop.time() + times.SILENCE_SECONDS)
        while loop.time() < given_up_at:
            try:
                async with asyncio.timeout(times.BEAT_SECONDS):
                    return await attempts.more(self._stream)
            except TimeoutError:
                await self._tell(BEAT)
        raise UpstreamError(ErrorKind.AMBIGUOUS, "the stream takes too long", code="time")

    async def _tell(self, shown: bytes) -> None:
        if shown:
            await self._send({"type": "http.response.body", "body": shown, "more_body": True})
