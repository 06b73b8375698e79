"""Reads the body of a request up to a limit: a small one into memory, a larger one into a file.

A slow upload costs no thread and little memory.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from common.asgi import Receive, Scope, header
from common.errors import InvalidRequest, RequestTooLarge

MEMORY_BYTES = 256 * 1024
UPLOAD_SECONDS = 600.0
# What is read of a request that is refused already, for nothing: never more of one than its answer is worth.
DRAIN_BYTES = 1024 * 1024
DRAIN_SECONDS = 2.0


class Incomplete(InvalidRequest):
    """The client left, or stopped sending for good, before its body was whole."""

    default_message = "The request body did not arrive whole."


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A whole body, positioned at its start."""

    file: SpooledTemporaryFile[bytes]
    size: int

    def close(self) -> None:
        self.file.close()


def empty() -> Body:
    return Body(file=SpooledTemporaryFile(), size=0)


async def read(scope: Scope, receive: Receive, *, limit: int) -> Body:
    """The whole body. Raises RequestTooLarge by Content-Length or while reading; Incomplete, also after ten minutes."""
    announced = header(scope["headers"], b"content-length")
    if announced.isdigit() and int(announced) > limit:
        raise too_large(limit)
    file: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            size = await _fill(file, receive, limit)
    except TimeoutError as error:
        file.close()
        raise Incomplete from error
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return Body(file=file, size=size)


async def _fill(file: SpooledTemporaryFile[bytes], receive: Receive, limit: int) -> int:
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Incomplete
        chunk, more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size > limit:
            raise too_large(limit)
        file.write(chunk)
    return size


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
