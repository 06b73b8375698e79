"""Whole answers: taken in, examined for their usage, and sent on; a large one lies in a file meanwhile.

The bytes stay as they are, but for the model's name. Pictures in base64 are never parsed, and a slow client costs no
memory: what answers occupy counts as what the bodies of requests do (`common/http/spool.py`).
"""

import asyncio
import mmap
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import Any

from adapters.base import ErrorKind, UpstreamError
from adapters.kit import error_kinds
from common.concurrency import threads
from common.http.asgi import Headers, Send
from common.http.spool import Room
from common.token_usage import TokenUsage
from relay.calls.demands import INLINE_BYTES
from relay.calls.wanted_answers import WantedAnswer
from relay.families.base import Delivered
from relay.wire import long_strings
from relay.wire.upstream import UpstreamReply

LARGEST_BYTES = 64 * 1024 * 1024
MEMORY_BYTES = 1024 * 1024
ERROR_BYTES = 64 * 1024
PIECE_BYTES = 256 * 1024
ROOM_SECONDS = 0.05


class WholeAnswer:
    """A whole answer in memory or in a file, and what it says of its cost. Whoever has it closes it."""

    def __init__(self, payer: Hashable) -> None:
        self._file: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115
        self._room = Room(payer)
        self.size = 0
        self.usage: TokenUsage | None = None
        self.delivered = Delivered()
        self.has_failed = False

    def close(self) -> None:
        self._file.close()
        self._room.release()

    async def take(self, piece: bytes) -> None:
        """One piece more. Where there is no room for it now, it waits, and with it the upstream."""
        self.size += len(piece)
        if self.size > LARGEST_BYTES:
            raise UpstreamError(ErrorKind.AMBIGUOUS, f"the answer is larger than {LARGEST_BYTES} bytes", code="size")
        while not self._room.insist(len(piece)):
            await asyncio.sleep(ROOM_SECONDS)
        self._file.write(piece)

    async def examine(self, reply: UpstreamReply, wanted: WantedAnswer) -> None:
        """Raises UpstreamError for what is no success, whatever its status says."""
        if self.size > INLINE_BYTES:
            await threads.compute(self._examine, reply.status, reply.headers, wanted)
        else:
            self._examine(reply.status, reply.headers, wanted)

    def _examine(self, status: int, headers: Mapping[str, str], wanted: WantedAnswer) -> None:
        document, family, asked = self._document(), wanted.family, wanted.asked
        usage = family.usage(document, asked)
        is_error = usage is None and isinstance(document, dict) and bool(document.get("error"))
        if is_error or not family.is_answer(document, asked):
            self._file.seek(0)
            raise family.refusal(status, headers, self._file.read(ERROR_BYTES))
        self.usage = usage
        self.has_failed = usage is None and family.has_failed(document)
        self.delivered = family.delivered(document, asked)
        if wanted.upstream_model != wanted.asked.model:
            self._rename(wanted)

    def _document(self) -> Any:
        """The parsed answer, without its pictures; None for what is no JSON."""
        self._file.seek(0)
        if self.size <= MEMORY_BYTES:
            return error_kinds.parsed(self._file.read())
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return error_kinds.parsed(long_strings.without(mapped))

    def _rename(self, wanted: WantedAnswer) -> None:
        self._file.seek(0)
        shown = wanted.family.shown(self._file.read(), wanted.asked, wanted.upstream_model)
        self._file.seek(0)
        self._file.truncate()
        self._file.write(shown)
        self.size = len(shown)

    def frames(self, wanted: WantedAnswer) -> list[bytes]:
        """The answer as the frames of a stream. It may block for long. Raises UpstreamError."""
        self._file.seek(0)
        try:
            return wanted.family.frames(error_kinds.parsed(self._file.read()), wanted.asked, wanted.path)
        except RecursionError as error:
            raise UpstreamError(ErrorKind.AMBIGUOUS, "the answer is too deep", code="size") from error

    async def send(self, send: Send, headers: Headers) -> None:
        """A slow client holds no thread."""
        own = ((b"content-type", b"application/json"), (b"content-length", str(self.size).encode()))
        await send({"type": "http.response.start", "status": 200, "headers": [*own, *headers]})
        self._file.seek(0)
        is_on_disk, left = self.size > MEMORY_BYTES, self.size
        while left > PIECE_BYTES:
            piece = await threads.compute(self._file.read, PIECE_BYTES) if is_on_disk else self._file.read(PIECE_BYTES)
            left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": self._file.read()})


async def received(reply: UpstreamReply, wanted: WantedAnswer) -> WholeAnswer:
    """The whole answer. Raises UpstreamError where it is none, or no success."""
    with begun(wanted.payer) as answer:
        while piece := await reply.read():
            await answer.take(piece)
        await answer.examine(reply, wanted)
    return answer


async def in_frame(said: bytes, reply: UpstreamReply, wanted: WantedAnswer) -> WholeAnswer:
    """The whole answer that one frame of a stream has said. Raises UpstreamError as `received` does."""
    with begun(wanted.payer) as answer:
        await answer.take(said)
        await answer.examine(reply, wanted)
    return answer


@contextmanager
def begun(payer: Hashable) -> Iterator[WholeAnswer]:
    """An answer that is taken in; closed where that fails."""
    answer = WholeAnswer(payer)
    try:
        yield answer
    except BaseException:
        answer.close()
        raise
