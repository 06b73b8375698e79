"""`responses`: POST /v1/responses, OpenAI's newer dialect.

Each event has its type in its data, so the `event:` line may be missing. A stream ends with `response.completed`,
`response.incomplete` or `response.failed`, which reports the usage. SDKs return a failed response like any other: it is
passed on and ends the call as a failure, unless it is the first event, before which nothing has begun. SDKs do not
raise events of type `error` either, so the frame that ends a cut stream has the `error` that they do raise. Source:
openai 3.54 (`types/responses`, `_streaming.py`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from common.errors import ApiError
from common.token_usage import TokenUsage
from relay.families import endpoints, fields, refusals
from relay.families.answers import responses as answers
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily
from relay.families.frames import joined_response, response_frames
from relay.families.requests import responses as requests
from relay.families.streams.responses import ResponsesReader


class ResponsesFamily(CommonFamily):
    """OpenAI's responses (base.Family)."""

    name: ClassVar[str] = "responses"
    platform = "openai"
    error_path = "/v1/responses"
    error_event = "error"
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    member = "output"

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def with_limit(self, document: Mapping[str, Any], raw: bytes, limit: int) -> bytes:
        return requests.with_limit(raw, limit)

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.openai_url(endpoint, "/responses")

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        return answers.usage(document, asked)

    def is_answer(self, document: Any, asked: AskedCall) -> bool:
        """Tells whether this is an answer; a failed response is one only if it reports what it used."""
        has_failed = answers.has_failed(document)
        return super().is_answer(document, asked) and not (has_failed and self.usage(document, asked) is None)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        return answers.delivered(document)

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return response_frames.make_frames(fields.mapping(document))

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        return joined_response.join_events(events)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return ResponsesReader(asked, upstream_model, words=self.words, name_path=("response", *self.name_path))

    def error_document(self, error: ApiError) -> dict[str, Any]:
        """Builds a flat error like the dialect's own error events, for clients that read those."""
        said = super().error_document(error)
        flat = {name: fields.mapping(said.get("error")).get(name) for name in ("code", "message", "param")}
        return {"type": "error", **flat, **said}
