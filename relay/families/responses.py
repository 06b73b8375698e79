"""`responses`: POST /v1/responses, OpenAI's newer dialect.

Each event has its type in its data, so the `event:` line may be missing. A stream ends with `response.completed`,
`response.incomplete` or `response.failed`, which tells the usage. SDKs hand a failed response to their caller as they
do the others: it passes and ends the call as a failure, but for one that is the first event, for then nothing has
begun. An event of the type `error`
is not raised by them either; so the frame that ends a cut stream has the `error` on which they do raise. Facts: openai
3.54 (`types/responses`, `_streaming.py`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from adapters.base import text
from common.errors import ApiError
from common.token_usage import TokenUsage
from relay.families import endpoints, fields, openai_counts, pictures, refusals, tool_counts
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily, written_bytes
from relay.families.frames import joined_response, response_frames
from relay.families.requests import responses as requests
from relay.families.watching import FrameReader, texts

LAST_TYPES = ("response.completed", "response.incomplete", "response.failed")
FAILURES = frozenset({"failed", "cancelled"})
OWN = re.compile(rb'"type"\s*:\s*"response\.')
LAST = re.compile(rb'"type"\s*:\s*"response\.(?:completed|incomplete|failed)"')
ITEM_DONE = re.compile(rb'"type"\s*:\s*"response\.output_item\.done"')
DONE = re.compile(rb'"type"\s*:\s*"response\.[a-z_.]+\.done"')
IN_FRAMES = texts("delta")
HIDDEN = "encrypted_content"
SHOWN = frozenset({"text", "refusal", "arguments", "input", "code"})
TEXTS = SHOWN | {HIDDEN}


class ResponsesFamily(CommonFamily):
    """OpenAI's responses (base.Family)."""

    name: ClassVar[str] = "responses"
    platform = "openai"
    error_path = "/v1/responses"
    error_event = "error"
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    member = "output"
    texts = TEXTS

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def with_limit(self, raw: bytes, limit: int) -> bytes:
        return requests.with_limit(raw, limit)

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.openai_url(endpoint, "/responses")

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        run = tool_counts.of_items(fields.mapping(document).get("output"), asked)
        return openai_counts.of_answer(document, asked, run)

    def is_answer(self, document: Any, asked: AskedCall) -> bool:
        """One that has failed is one only where it tells what it used."""
        has_failed = text(fields.mapping(document).get("status")) in FAILURES
        return super().is_answer(document, asked) and not (has_failed and self.usage(document, asked) is None)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        return _delivered(fields.mapping(document).get("output"))

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return response_frames.of_answer(fields.mapping(document))

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        return joined_response.of_events(events)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        path = ("response", "model")
        return ResponsesReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=path)

    def error_document(self, error: ApiError) -> dict[str, Any]:
        """Flat as the dialect's own error events are, too: whoever knows those reads it."""
        said = super().error_document(error)
        flat = {name: fields.mapping(said.get("error")).get(name) for name in ("code", "message", "param")}
        return {"type": "error", **flat, **said}


class ResponsesReader(FrameReader):
    """The events of one response."""

    __slots__ = ("_of_item", "_of_part")
    own = OWN

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._of_item = self._of_part = 0

    def _texts_in(self, frame: bytes) -> int:
        """Of what is done only what no delta has brought."""
        come = super()._texts_in(frame)
        if DONE.search(frame):
            event = self._parsed(frame)
            return self._undelivered(event, str(event.get("type")))
        self._of_item += come
        self._of_part += come
        return come

    def _undelivered(self, event: Mapping[str, Any], kind: str) -> int:
        if kind == "response.output_item.done":
            come = max(0, written_bytes(event.get("item"), SHOWN) - self._of_item)
            self._of_item = self._of_part = 0
            return come
        come = max(0, written_bytes(event, SHOWN) - self._of_part)
        self._of_item += come
        self._of_part = 0 if kind.endswith("part.done") else self._of_part + come
        return come

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        return document.get("object") == "response" and not document.get("type")

    def _watch(self, frame: bytes) -> bool:
        if b'"response.' in frame:
            if ITEM_DONE.search(frame):
                self._take_item(fields.mapping(self._parsed(frame).get("item")))
            if LAST.search(frame) and self._parsed(frame).get("type") in LAST_TYPES:
                self._take_last(self._parsed(frame))
                self.is_over = self.can_end = True
        return True

    def _take_item(self, item: Mapping[str, Any]) -> None:
        self._count_tools(tool_counts.both(self._tools, tool_counts.of_items([item], self._asked)))
        hidden = item.get(HIDDEN)
        self._deliver(len(hidden) if isinstance(hidden, str) else 0, int(_is_picture(item)))

    def _take_last(self, event: Mapping[str, Any]) -> None:
        """What was done may stand here for the first time."""
        response = fields.mapping(event.get("response"))
        for told in (fields.mapping(response.get("usage")), fields.mapping(event.get("usage"))):
            if self._learn(told, openai_counts.told):
                self._tools = tool_counts.most(self._tools, tool_counts.requests_told(told, self._asked))
                break
        self._count_tools(tool_counts.most(self._tools, tool_counts.of_items(response.get("output"), self._asked)))
        whole = _delivered(response.get("output"))
        self.delivered = Delivered(
            output_bytes=max(self.delivered.output_bytes, whole.output_bytes),
            pictures=max(self.delivered.pictures, whole.pictures),
        )
        is_empty = self.usage is None and not (self.delivered.output_bytes or self.delivered.pictures)
        is_failure = event.get("type") == "response.failed" or text(response.get("status")) in FAILURES
        self.has_failed = is_failure or is_empty

    def _error_in(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if document.get("type") == "response.failed" and not self._is_begun:
            return {"error": fields.mapping(document.get("response")).get("error") or {}}
        return super()._error_in(document)


def _delivered(output: Any) -> Delivered:
    return Delivered(output_bytes=written_bytes(output, TEXTS), pictures=sum(map(_is_picture, fields.mappings(output))))


def _is_picture(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "image_generation_call" and pictures.is_base64(item.get("result"))
