"""Sells text in one protocol's format, whole or as a stream, and breaks it where the prompt asks for it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

from sandbox import steering
from sandbox.state import State
from sandbox.steering import FIRST, GARBAGE, LOSSES, STREAM, SUBMIT, Script, Word
from sandbox.streams import Broken
from sandbox.text.answers import TextAnswer, compose
from sandbox.text.frames import EVENT_STREAM
from sandbox.text.orders import TextOrder
from sandbox.wire import Cut, Request, Response

REFUSALS = ("moderated", "rate-limited", "overloaded", "status", "fail")
BREAKS = (*LOSSES, "held")
WHOLE_FAULTS = [(SUBMIT, (*LOSSES, "cut")), (STREAM, BREAKS)]
STREAM_FAULTS = [(SUBMIT, (*LOSSES, "cut", "error-first")), (FIRST, REFUSALS), (STREAM, (*REFUSALS, *BREAKS))]
SHORT = {"cut": Word(stage=STREAM, name="cut"), "error-first": Word(stage=FIRST, name="overloaded")}


class TextProtocol(Protocol):
    """How one protocol formats an answer."""

    def headers(self) -> Mapping[str, str]:
        """Returns headers of its answers beside the type."""

    def whole(self, order: TextOrder, answer: TextAnswer) -> bytes: ...

    def frames(self, order: TextOrder, answer: TextAnswer) -> list[bytes]: ...

    def error_for(self, word: Word) -> Response:
        """Returns the refusal for a steering word."""

    def error_frame(self, word: Word, order: TextOrder) -> bytes:
        """Returns the error for a steering word within a stream; `fail` is 500 there."""


class TextSales:
    """Sells to one protocol's callers."""

    def __init__(self, state: State) -> None:
        self._state = state

    def refusal(self, prompt: str) -> Word | None:
        """Returns the word that refuses this prompt now."""
        return self._state.turns.take(steering.read(prompt), SUBMIT, prompt, REFUSALS)

    def sell(
        self, request: Request, order: TextOrder, protocol: TextProtocol, *, content_type: str = EVENT_STREAM
    ) -> Response:
        """Answers a valid call; `content_type` is a stream's."""
        prompt = order.last.text
        script = steering.read(prompt)
        if word := self.refusal(prompt):
            return protocol.error_for(word)
        strike = self._strike(prompt, script, is_stream=order.is_stream)
        if strike is None or strike.stage != FIRST:
            self._state.audit.buy("text", prompt, request.headers.get("x-client-request-id"))
        is_filtered = self._state.turns.take(script, SUBMIT, prompt, ("moderated-output",)) is not None
        answer = compose(order, script, is_filtered=is_filtered)
        frames = protocol.frames(order, answer) if order.is_stream else halves(protocol.whole(order, answer))
        error_frame = protocol.error_frame(strike, order) if strike and strike.name in REFUSALS else None
        return Response(
            content_type=content_type if order.is_stream else "application/json",
            headers=protocol.headers(),
            pieces=self._sent(prompt, script, struck(frames, strike, error_frame)),
        )

    def _strike(self, prompt: str, script: Script, *, is_stream: bool) -> Word | None:
        turns = self._state.turns
        moments = STREAM_FAULTS if is_stream else WHOLE_FAULTS
        found = (turns.take(script, moment, prompt, names) for moment, names in moments)
        word = next(filter(None, found), None)
        return SHORT.get(word.name, word) if word else None

    async def _sent(self, prompt: str, script: Script, parts: Sequence[bytes | Word]) -> AsyncGenerator[bytes]:
        """Yields the pieces at their time. Raises Broken."""
        *most, last = parts
        try:
            await self._state.work(script)
            for part in most:
                if piece := await self._piece(part):
                    yield piece
                    await asyncio.sleep(script.seconds("silence"))
            piece = await self._piece(last)
        except (asyncio.CancelledError, GeneratorExit):
            self._state.audit.leave(prompt)
            raise
        if piece:
            yield piece

    async def _piece(self, part: bytes | Word) -> bytes:
        """Returns the bytes of a frame, or a word's effect on it. Raises Broken."""
        match part:
            case Word(name="reset"):
                raise Broken(Cut.RESET)
            case Word(name="hang"):
                await asyncio.Event().wait()
            case Word(name="held"):
                await self._state.released.wait()
            case Word(name="garbage"):
                return GARBAGE
            case bytes():
                return part
        return b""


def struck(frames: Sequence[bytes], word: Word | None, error_frame: bytes | None) -> list[bytes | Word]:
    """Returns the frames as a word spoils them, with the word among them if it affects the connection."""
    if word is None:
        return [*frames]
    middle = len(frames) // 2 if word.stage == STREAM else 0
    rest = frames[middle:] if word.name == "held" else []
    return [*frames[:middle], error_frame or word, *rest]


def halves(body: bytes) -> list[bytes]:
    """Returns a whole answer in two pieces."""
    middle = len(body) // 2
    return [body[:middle], body[middle:]]
