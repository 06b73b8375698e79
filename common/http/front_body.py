"""Reads the body of a request up to a limit: a small one into memory, a larger one into a file, once a key has opened.

A slow upload costs no thread and little memory.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from common.concurrency import threads
from common.errors import InvalidRequest, RequestTooLarge, ServiceUnavailable
from common.http import unfolding
from common.http.asgi import Receive, Scope, header
from common.http.spool import Room, SpoolFull

UNASKED_BYTES = 64 * 1024
MEMORY_BYTES = 256 * 1024
UPLOAD_SECONDS = 600.0
# What is read of a request that is refused already, for nothing: never more of one than its answer is worth.
DRAIN_BYTES = 1024 * 1024
DRAIN_SECONDS = 2.0


class Incomplete(InvalidRequest):
    """The client left, or stopped sending for good, before its body was whole."""

    default_message = "The request body did not arrive whole."


class Unopened(Exception):
    """Nobody may send more than 64 KiB here; the rest was not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A whole body, positioned at its start, and its place in the spool."""

    file: SpooledTemporaryFile[bytes]
    size: int
    place: Room | None = None

    async def unfold(self) -> None:
        """Wait for room for what it is while it is read, in memory; a small one needs none. Where that fails, the body
        is closed. Raises SpoolFull."""
        if self.place and self.size > UNASKED_BYTES:
            try:
                await self.place.unfold(await threads.compute(unfolding.most_bytes, self.file))
            except BaseException:
                self.close()
                raise
            self.file.seek(0)

    def fold(self, count: int) -> None:
        """It has been read, and so many bytes of it stay in memory until it is closed."""
        if self.place:
            self.place.fold(count)

    def close(self) -> None:
        self.file.close()
        if self.place:
            self.place.release()


def empty() -> Body:
    return Body(file=SpooledTemporaryFile(), size=0)


class UnreadFile(SpooledTemporaryFile[bytes]):
    """Stands for a body that was not read, as nobody might send it when it came. Whoever may by now has to send it
    once more: reading it raises ServiceUnavailable."""

    def read(self, *_: int) -> bytes:
        raise ServiceUnavailable("The request was not read: its key, or the API, was opened just now. Send it again.")


def unread() -> Body:
    """The body of a request that raised Unopened."""
    return Body(file=UnreadFile(), size=UNASKED_BYTES + 1)


OpenedFor = Callable[[], Awaitable[Hashable | None]]


async def read(scope: Scope, receive: Receive, *, limit: int, payer: Hashable, opened_for: OpenedFor) -> Body:
    """The whole body, counted for the payer. Over 64 KiB `opened_for` is asked first, and its answer is the payer.
    A GET or HEAD whose head announces none has none (RFC 9112, 6.3).

    Raises RequestTooLarge by Content-Length or while reading; Incomplete, also after ten minutes; Unopened; SpoolFull.
    """
    announced = header(scope["headers"], b"content-length")
    if not announced and scope["method"] in ("GET", "HEAD") and not header(scope["headers"], b"transfer-encoding"):
        return empty()
    expected = int(announced) if announced.isdigit() else 0
    if expected > limit:
        raise too_large(limit)
    intake = Intake(receive, limit=limit, place=Room(payer), opened_for=opened_for)
    try:
        return await intake.fill(expected)
    except TimeoutError as error:
        intake.close()
        raise Incomplete from error
    except BaseException:
        intake.close()
        raise


class Intake:
    """A body on its way in."""

    def __init__(self, receive: Receive, *, limit: int, place: Room, opened_for: OpenedFor) -> None:
        self._receive = receive
        self._limit = limit
        self._place = place
        self._opened_for = opened_for
        self._is_opened = False
        self._file: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115
        self._size = 0

    async def fill(self, expected: int) -> Body:
        if expected > UNASKED_BYTES:  # before the client is told to go on
            await self._ask()
            self._place.expect(expected)
        if await self._more():  # the server waits 30 s for the first piece, which mostly is the whole body
            async with asyncio.timeout(UPLOAD_SECONDS):
                while await self._more():
                    pass
        self._file.seek(0)
        return Body(file=self._file, size=self._size, place=self._place)

    async def _more(self) -> bool:
        """Take in the next piece; whether others follow."""
        message = await self._receive()
        if message["type"] != "http.request":
            raise Incomplete
        chunk = message.get("body", b"")
        self._size += len(chunk)
        if self._size > self._limit:
            raise too_large(self._limit)
        if self._size > UNASKED_BYTES and not self._is_opened:
            await self._ask()
        try:
            self._place.add(len(chunk))
        except SpoolFull:
            if self._is_opened:
                raise
            await self._ask()  # strangers have filled their part; whoever has a key has one of their own
            self._place.add(len(chunk))
        self._file.write(chunk)
        return bool(message.get("more_body", False))

    async def _ask(self) -> None:
        payer = await self._opened_for()
        if payer is None:
            raise Unopened
        self._is_opened = True
        self._place.move(payer)

    def close(self) -> None:
        self._file.close()
        self._place.release()


async def drain(receive: Receive) -> None:
    """Read on for nothing, up to 1 MiB or 2 s: a client that is almost done then reads the answer it got."""
    left = DRAIN_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def too_large(limit: int) -> RequestTooLarge:
    return RequestTooLarge(f"The request body is larger than {limit} bytes.")
