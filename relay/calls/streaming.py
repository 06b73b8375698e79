"""Passes on a stream frame by frame, and ends its call in the books before the client gets the last frame.

A slow client slows down the upstream, so at most a few hundred KiB are held. While the upstream is silent the client
gets blank lines. If the client leaves, the stream is still read to its end. A stream that breaks off ends with an
error.
"""

import asyncio
from collections.abc import Iterable

from adapters.base import ErrorKind, UpstreamError
from common.errors import ApiError
from common.http.asgi import Headers
from relay.calls import begun_streams, failover, times
from relay.calls.begun_streams import BegunStream
from relay.calls.ending import Finish
from relay.calls.runs import CLIENT_LEFT, OK, CallRun
from relay.wire import json_arrays

HEADERS: Headers = (
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
EVENT_STREAM, JSON = b"text/event-stream", b"application/json"
BEAT = b"\n"


class Relaying:
    """A stream being passed on to its client."""

    def __init__(self, run: CallRun, stream: BegunStream) -> None:
        self._run, self._stream, self._send = run, stream, run.client.send
        self._is_array, self._has_elements = run.demand.asked.is_array, False
        self._seconds_left = times.STREAM_SECONDS

    async def run(self) -> None:
        """Passes on the whole stream; its end is booked on return."""
        content_type = JSON if self._is_array else EVENT_STREAM
        headers = [(b"content-type", content_type), *HEADERS, *self._run.headers]
        await self._send({"type": "http.response.start", "status": OK, "headers": headers})
        try:
            last = await self._pass_on()
        except UpstreamError as error:
            await self.cut(failover.explain_broken_stream(error))
            return
        self._run.is_complete = True
        await self._run.end(*self._run.finish)
        await self._say_last(last)
        await self._stream.reply.finish()

    async def cut(self, error: ApiError) -> None:
        """Ends the stream early, with an error as its last frame."""
        self._stream.close()
        has_left = self._run.client.has_left
        await self._run.end(Finish.LEFT if has_left else Finish.CUT, CLIENT_LEFT if has_left else OK)
        await self._say_last(self._run.demand.family.error_frame(self._run.with_client_model(error)))

    async def _pass_on(self) -> bytes:
        """Sends all frames but the last, which it returns. Raises UpstreamError if the stream breaks off."""
        stream, reader = self._stream, self._stream.reader
        shown, frames = stream.shown, list(stream.waiting)
        while True:
            last = self._taken(frames, shown)
            self._run.record_progress(reader)
            await self._tell(shown)
            if reader.error is not None:
                raise reader.error
            if reader.is_whole:  # too late, something was sent
                raise UpstreamError(ErrorKind.AMBIGUOUS, "a whole answer came in the middle of the stream")
            if reader.is_over:
                return last
            if not (frames := await self._more()):
                if reader.can_end:
                    return b""
                raise UpstreamError(ErrorKind.AMBIGUOUS, "the stream ended too early", code="network")
            shown = []

    def _taken(self, frames: Iterable[bytes], shown: list[bytes]) -> bytes:
        """Returns the last frame of a stream that is over; earlier ones for the client are added to `shown`."""
        reader = self._stream.reader
        for frame in frames:
            if reader.is_over:
                break
            shown.append(reader.take(frame))
        return shown.pop() if reader.is_over and shown else b""

    async def _more(self) -> list[bytes]:
        """Returns the next frames; none at the end. Raises UpstreamError, also after a timeout."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() < self._given_up_at(began):
            try:
                async with asyncio.timeout(times.BEAT_SECONDS):
                    frames = await begun_streams.next_frames(self._stream)
            except TimeoutError:
                if self._stream.reader.can_end:  # the upstream leaves its connection open after the last event
                    return []
                await self._tell([BEAT])
                continue
            self._seconds_left -= loop.time() - began
            return frames
        raise UpstreamError(ErrorKind.AMBIGUOUS, "the stream took too long", code="time")

    def _given_up_at(self, began: float) -> float:
        """Returns when a wait for the upstream that began at `began` ends."""
        given_up_at = began + min(self._seconds_left, times.SILENCE_SECONDS)
        left_at = self._run.client.left_at
        return given_up_at if left_at is None else min(given_up_at, left_at + times.ABANDONED_SECONDS)

    async def _tell(self, shown: Iterable[bytes]) -> None:
        if body := self._written(shown):
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
            # Set only now: nothing of what a stop of this process delayed has been sent.
            self._has_elements = self._has_elements or bool(body.strip())

    async def _say_last(self, frame: bytes) -> None:
        ends = json_arrays.END if self._is_array else b""
        await self._send({"type": "http.response.body", "body": self._written([frame]) + ends})

    def _written(self, frames: Iterable[bytes]) -> bytes:
        if self._is_array:
            return json_arrays.write_elements(frames, has_elements=self._has_elements)
        return b"".join(frames)
