"""`chat`: POST /v1/chat/completions, OpenAI's oldest dialect, which most other vendors speak too.

A stream reports its usage only on request, in a chunk of its own, so the relay always asks. It ends with `data:
[DONE]`. Without `[DONE]` it ended well if every choice has a `finish_reason`, otherwise it was cut. An empty reason, or
the text "null", counts as none. A `[DONE]` within a tool's arguments also means a cut. Source: openai 3.54
(`types/chat`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from common.token_usage import TokenUsage
from relay.families import endpoints, fields, refusals
from relay.families.answers import chat as answers
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily
from relay.families.frames import chat_frames, joined_chat
from relay.families.requests import chat as requests
from relay.families.streams.chat import ChatReader

SAYING = ("message", "delta", "text")


class ChatFamily(CommonFamily):
    """OpenAI's chat completions (base.Family)."""

    name: ClassVar[str] = "chat"
    platform = "openai"
    error_path = "/v1/chat/completions"
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    member = "choices"

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def with_limit(self, document: Mapping[str, Any], raw: bytes, limit: int) -> bytes:
        return requests.with_limit(raw, limit)

    def with_stream_options(self, document: Mapping[str, Any], raw: bytes, asked: AskedCall, *, takes: bool) -> bytes:
        if not takes:
            return requests.without_options(raw)
        return requests.with_usage(raw, document) if asked.is_stream and not asked.shows_usage else raw

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.openai_url(endpoint, "/chat/completions")

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        return answers.usage(document, asked)

    def is_told(self, item: Mapping[str, Any]) -> bool:
        return any(item.get(name) is not None for name in SAYING)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        return answers.delivered(document)

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return chat_frames.make_frames(fields.mapping(document), asked)

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        return joined_chat.join_events(events)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return ChatReader(asked, upstream_model, words=self.words, name_path=self.name_path)
