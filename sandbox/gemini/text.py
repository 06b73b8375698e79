"""Formats Gemini's text answers: whole, and as a stream of events or of the elements of one JSON array."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from sandbox.gemini.errors import STATUSES, error_for
from sandbox.steering import Word
from sandbox.text.answers import Finish, TextAnswer
from sandbox.text.frames import event, indented
from sandbox.text.orders import TextOrder
from sandbox.wire import Response

REASONS = {
    Finish.STOP: "STOP",
    Finish.LENGTH: "MAX_TOKENS",
    Finish.TOOL: "STOP",
    Finish.FILTER: "SAFETY",
}
FAULTS = {"rate-limited": 429, "overloaded": 503, "moderated": 400}
OVERLOADED = "The model is overloaded. Please try again later."
Shown = dict[str, Any]


class GeminiText:
    """Formats answers; `is_sse` as in the query."""

    def __init__(self, *, is_sse: bool) -> None:
        self._is_sse = is_sse

    def headers(self) -> Mapping[str, str]:
        return {"server-timing": "gfet4t7; dur=1"}

    def whole(self, order: TextOrder, answer: TextAnswer) -> bytes:
        parts = [*thought_parts(answer), call_part(answer) or {"text": answer.text}]
        return indented(chunk(order, answer, parts, names_of(order), is_last=True)).encode()

    def frames(self, order: TextOrder, answer: TextAnswer) -> list[bytes]:
        """Yields a piece for each word, and a last one with the finish reason; each has the usage so far."""
        names = names_of(order)
        pieces = [*thought_parts(answer), *({"text": word} for word in answer.words)]
        last = call_part(answer) or {"text": ""}
        chunks = [
            *(chunk(order, answer, [part], names, out=index + 1) for index, part in enumerate(pieces)),
            chunk(order, answer, [last], names, is_last=True),
        ]
        return self.framed(chunks)

    def framed(self, chunks: list[Shown]) -> list[bytes]:
        """Returns events with this vendor's line ends, or an array."""
        if self._is_sse:
            return [event(one, line_end="\r\n") for one in chunks]
        middle = [f",\r\n{indented(one)}".encode() for one in chunks[1:]]
        return [f"[{indented(chunks[0])}".encode(), *middle, b"]"]

    def error_for(self, word: Word) -> Response:
        return error_for(word)

    def error_frame(self, word: Word, order: TextOrder) -> bytes:
        """Returns an event, or the last element of the array."""
        status = int(word.number or 500) if word.name == "status" else FAULTS.get(word.name, 500)
        message = OVERLOADED if status == 503 else f"Status {status}, as asked."
        fault = {"error": {"code": status, "message": message, "status": STATUSES.get(status, "UNKNOWN")}}
        if self._is_sse:
            return event(fault, line_end="\r\n")
        opening = "[" if word.stage == "first" else ",\r\n"
        return f"{opening}{indented(fault)}]".encode()


def names_of(order: TextOrder) -> Shown:
    """Returns the fields that end every piece of one answer."""
    return {"modelVersion": order.model, "responseId": secrets.token_urlsafe(16)}


def chunk(
    order: TextOrder, answer: TextAnswer, parts: list[Shown], names: Shown, *, out: int = 0, is_last: bool = False
) -> Shown:
    """Returns one piece of all candidates. The last one has the whole usage, others the `out` tokens so far."""
    finish = {"finishReason": REASONS[answer.finish]} if is_last else {}
    content = {"content": {"parts": parts, "role": "model"}}
    candidates = [{**content, **finish, "index": index} for index in range(order.choices)]
    usage = {"usageMetadata": usage_of(answer, out * order.choices, is_last=is_last)} if answer.used else {}
    return {"candidates": candidates, **usage, **names}


def usage_of(answer: TextAnswer, out: int, *, is_last: bool) -> Shown:
    """Returns the field `usageMetadata`; thoughts are not among `candidatesTokenCount`."""
    used = answer.used
    if used is None:
        return {}
    shown = used.output - used.thoughts if is_last else min(out, used.output - used.thoughts)
    counts = {"promptTokenCount": used.input, "candidatesTokenCount": shown}
    thoughts = {"thoughtsTokenCount": used.thoughts} if used.thoughts else {}
    cached = {"cachedContentTokenCount": used.cached} if used.cached else {}
    details = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": used.input}]}
    return {**counts, "totalTokenCount": used.input + shown + used.thoughts, **details, **thoughts, **cached}


def thought_parts(answer: TextAnswer) -> list[Shown]:
    """Returns a thought if there are any."""
    return [{"text": "A thought.", "thought": True}] if answer.thoughts else []


def call_part(answer: TextAnswer) -> Shown | None:
    """Returns the function call if the answer is one."""
    if answer.call is None:
        return None
    return {"functionCall": {"name": answer.call.name, "args": json.loads(answer.call.arguments)}}
