"""Receives whole answers and finds their usage; large ones are kept in a file.

The bytes stay unchanged except for the model's name. Base64 pictures are never parsed, except in the events of a stream
that came instead of a whole answer.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from adapters.base import ErrorKind, UpstreamError
from adapters.kit import error_kinds
from common.concurrency import threads
from common.token_usage import TokenUsage
from relay.calls.demands import INLINE_BYTES
from relay.calls.kept_answers import MEMORY_BYTES, KeptAnswer
from relay.calls.wanted_answers import WantedAnswer
from relay.families.base import Delivered
from relay.families.fields import mappings
from relay.wire import json_documents
from relay.wire.upstream import UpstreamReply

ERROR_BYTES = 64 * 1024
TOO_DEEP = "the answer is nested too deeply"


class WholeAnswer(KeptAnswer):
    """A whole answer and what it reports of its cost."""

    def __init__(self, payer: Hashable) -> None:
        super().__init__(payer)
        self.usage: TokenUsage | None = None
        self.delivered = Delivered()
        self.has_failed = False

    async def examine(self, reply: UpstreamReply, wanted: WantedAnswer) -> None:
        """Finds the usage. Raises UpstreamError if the answer is not a success, whatever its status."""
        if self.size > INLINE_BYTES:
            await threads.compute(self._examine, reply.status, reply.headers, wanted)
        else:
            self._examine(reply.status, reply.headers, wanted)

    def _examine(self, status: int, headers: Mapping[str, str], wanted: WantedAnswer) -> None:
        document, family, asked = self.document(), wanted.family, wanted.asked
        usage = family.usage(document, asked)
        is_error = usage is None and isinstance(document, dict) and bool(document.get("error"))
        if is_error or not family.is_answer(document, asked):
            raise family.refusal(status, headers, self.read(ERROR_BYTES))
        self.usage = usage
        self.has_failed = usage is None and family.has_failed(document)
        self.delivered = self._delivered(family.delivered(document, asked))
        if isinstance(document, list) and not asked.is_stream:  # Google's stream as one array
            self._put_together(mappings(error_kinds.parsed(self.read())), wanted)
        if wanted.upstream_model != asked.model:
            self.replace(family.shown(self.read(), asked, wanted.upstream_model))

    def _delivered(self, found: Delivered) -> Delivered:
        """Measures what arrived, with all its sound: the parsed document has only the beginnings of long strings."""
        is_cut = bool(found.sound_bytes) and self.size > MEMORY_BYTES
        return replace(found, sound_bytes=self.size) if is_cut else found

    def frames(self, wanted: WantedAnswer) -> list[bytes]:
        """Returns the answer as frames of a stream. May block for long. Raises UpstreamError."""
        try:
            return wanted.family.frames(error_kinds.parsed(self.read()), wanted.asked, wanted.path)
        except RecursionError as error:
            raise UpstreamError(ErrorKind.AMBIGUOUS, TOO_DEEP, code="size") from error

    async def join(self, reply: UpstreamReply, wanted: WantedAnswer) -> None:
        """Replaces the events, one on each line, by the answer that they form. Raises UpstreamError if they form
        none."""
        if self.size > INLINE_BYTES:
            await threads.compute(self._join, reply.status, reply.headers, wanted)
        else:
            self._join(reply.status, reply.headers, wanted)

    def _join(self, status: int, headers: Mapping[str, str], wanted: WantedAnswer) -> None:
        events = (error_kinds.parsed(line) for line in self.lines())
        document = self._put_together((event for event in events if isinstance(event, dict)), wanted)
        if not wanted.family.is_answer(document, wanted.asked):
            raise wanted.family.refusal(status, headers, self.read(ERROR_BYTES))

    def _put_together(self, events: Iterable[Mapping[str, Any]], wanted: WantedAnswer) -> Any:
        """Returns the joined answer of these events."""
        document = wanted.family.joined(events)
        try:
            self.replace(json_documents.encode(document))
        except RecursionError as error:
            raise UpstreamError(ErrorKind.AMBIGUOUS, TOO_DEEP, code="size") from error
        return document


async def read_answer(reply: UpstreamReply, wanted: WantedAnswer) -> WholeAnswer:
    """Reads the whole answer. Raises UpstreamError if it is not a success of the dialect."""
    with collecting(wanted.payer) as answer:
        while piece := await reply.read():
            await answer.take(piece)
        await answer.examine(reply, wanted)
    return answer


async def read_frame(said: bytes, reply: UpstreamReply, wanted: WantedAnswer) -> WholeAnswer:
    """Reads a whole answer out of one stream frame. Raises UpstreamError as `received` does."""
    with collecting(wanted.payer) as answer:
        await answer.take(said)
        await answer.examine(reply, wanted)
    return answer


@contextmanager
def collecting(payer: Hashable) -> Iterator[WholeAnswer]:
    """Yields an empty answer to fill; closes it if that fails."""
    answer = WholeAnswer(payer)
    try:
        yield answer
    except BaseException:
        answer.close()
        raise
