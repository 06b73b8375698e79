"""`messages`: POST /v1/messages and /v1/messages/count_tokens, Anthropic's dialect.

Cache reads and writes are not part of `input_tokens`, unless a total shows that they are. A stream reports the input in
`message_start`, with only a placeholder for the output, and both in `message_delta`, with growing counts. It always
ends with `message_stop`. Source: anthropic 2.12 (`types`, `types/beta`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from adapters.relay.adapter import ANTHROPIC_VERSION
from common.token_usage import TokenUsage
from relay.families import endpoints, fields, refusals
from relay.families.answers import messages as answers
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily
from relay.families.frames import joined_message, message_frames
from relay.families.requests import messages as requests
from relay.families.streams.messages import MessagesReader

COUNT_TOKENS = "/v1/messages/count_tokens"


class MessagesFamily(CommonFamily):
    """Anthropic's messages (base.Family)."""

    name: ClassVar[str] = "messages"
    platform = "anthropic"
    error_path = "/v1/messages"
    error_event = "error"
    words = refusals.ANTHROPIC
    passed_on = (*ANTHROPIC_VERSION, "anthropic-beta")
    member = "content"
    counted = "input_tokens"

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def with_limit(self, document: Mapping[str, Any], raw: bytes, limit: int) -> bytes:
        return requests.with_limit(raw, limit)

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.host_url(endpoint, path.path) + ("?beta=true" if path.query else "")

    def headers(self, endpoint: Endpoint, client: Mapping[str, str]) -> dict[str, str]:
        return {**ANTHROPIC_VERSION, **super().headers(endpoint, client)}

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        return answers.usage(document, asked)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        return answers.delivered(document)

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return message_frames.make_frames(fields.mapping(document))

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        return joined_message.join_events(events)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return MessagesReader(asked, upstream_model, words=self.words, name_path=("message", *self.name_path))
