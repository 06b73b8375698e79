"""`messages`: POST /v1/messages and /v1/messages/count_tokens, Anthropic's dialect.

Its usage counts tokens from and to the cache beside `input_tokens`. A stream tells it in `message_start` and, with
counts that are cumulative and override those, in `message_delta`. It ends with `message_stop`, always. Facts: anthropic
2.12 (`types`, `types/beta`).
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from adapters.relay.adapter import ANTHROPIC_VERSION
from common.token_usage import TokenUsage
from relay.families import counts, endpoints, fields, refusals
from relay.families.base import AskedCall, CallPath, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily
from relay.families.requests import messages as requests
from relay.families.watching import FrameReader, texts

COUNT_TOKENS = "/v1/messages/count_tokens"
TOLD = re.compile(rb'"usage"\s*:\s*\{')
STOP = re.compile(rb'"type"\s*:\s*"message_stop"')
TEXTS = ("text", "thinking", "partial_json")
IN_FRAMES = texts(*TEXTS)


class MessagesFamily(CommonFamily):
    """Anthropic's messages (base.Family)."""

    name: ClassVar[str] = "messages"
    platform = "anthropic"
    error_path = "/v1/messages"
    error_event = "error"
    words = refusals.ANTHROPIC
    passed_on = (*ANTHROPIC_VERSION, "anthropic-beta")
    texts = frozenset(TEXTS)
    objects = frozenset({"input"})

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def refused(self, document: Mapping[str, Any], path: CallPath) -> list[RefusedField]:
        return requests.refused(document, path)

    def with_limit(self, raw: bytes, limit: int) -> bytes:
        return requests.with_limit(raw, limit)

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.host_url(endpoint, path.path) + ("?beta=true" if path.query else "")

    def headers(self, endpoint: Endpoint, client: Mapping[str, str]) -> dict[str, str]:
        return {**ANTHROPIC_VERSION, **super().headers(endpoint, client)}

    def usage(self, document: Any) -> TokenUsage | None:
        return counts.believed(_usage, fields.mapping(document).get("usage"))

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        path = ("message", "model")
        return MessagesReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=path)


class MessagesReader(FrameReader):
    """The events of one message."""

    __slots__ = ("_told",)

    def _watch(self, frame: bytes) -> bool:
        if TOLD.search(frame):
            self._learn(self._parsed(frame))
        if b"message_stop" in frame and STOP.search(frame) and self._parsed(frame).get("type") == "message_stop":
            self.is_over = self.can_end = True
        return True

    def _learn(self, event: Mapping[str, Any]) -> None:
        """What a later event tells overrides; a zero does not, for some gateways only fill the field with it."""
        told = fields.mapping(event.get("usage") or fields.mapping(event.get("message")).get("usage"))
        known = getattr(self, "_told", {})
        merged = {**known, **{name: value for name, value in told.items() if value or name not in known}}
        if usage := counts.believed(_usage, merged):
            self.usage, self._told = usage, merged


def _usage(told: Mapping[str, Any]) -> TokenUsage:
    compacted = [item for item in fields.mappings(told.get("iterations")) if item.get("type") == "compaction"]
    read, written, fresh, given = 0, 0, 0, 0
    for counted in (told, *compacted):  # what a compaction uses is not in the sums
        read += counts.count(counted, "cache_read_input_tokens")
        written += counts.count(counted, "cache_creation_input_tokens")
        fresh += counts.count(counted, "input_tokens")
        given += counts.count(counted, "output_tokens")
    return TokenUsage(
        input_tokens=fresh + read + written,
        cached_tokens=read,
        cache_write_tokens=written,
        output_tokens=given,
        reasoning_tokens=counts.count(told, "output_tokens_details", "thinking_tokens"),
    )
