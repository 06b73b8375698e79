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
from relay.families import bounds, counts, endpoints, fields, refusals, refused_fields
from relay.families.base import AskedCall, CallPath, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily
from relay.families.refused_fields import COSTS
from relay.families.watching import FrameReader, texts

COUNT_TOKENS = "/v1/messages/count_tokens"
TOLD = re.compile(rb'"usage"\s*:\s*\{')
STOP = re.compile(rb'"type"\s*:\s*"message_stop"')
TEXTS = ("text", "thinking", "partial_json")
IN_FRAMES = texts(*TEXTS)
# Run by the client itself, beside those that it defines.
CLIENT_TOOLS = ("bash_", "text_editor_", "computer_", "memory_")
# Other models, tools of other servers, and what somebody else has in his account.
PRICED_APART = ("mcp_servers", "container", "fallbacks", "fallback_credit_token", "billing_policy", "thread")
USUAL_REGIONS = ("global", "not_available")


class MessagesFamily(CommonFamily):
    """Anthropic's messages (base.Family)."""

    name: ClassVar[str] = "messages"
    platform = "anthropic"
    error_path = "/v1/messages"
    error_event = "error"
    words = refusals.ANTHROPIC
    passed_on = (*ANTHROPIC_VERSION, "anthropic-beta")
    query = ("beta",)
    file_roots = ("messages", "system")
    texts = frozenset(TEXTS)
    objects = frozenset({"input"})

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        if fields.query(path.query, self.query).get("beta") not in (None, "true"):
            raise fields.refusal("beta", "must be true")
        is_free = path.path == COUNT_TOKENS
        bound = self.input_bound(document, raw)
        return AskedCall(
            model=fields.model(document),
            is_stream=not is_free and fields.flag(document, "stream"),
            input_bound=bound,
            input_estimate=bounds.likely(bound),
            output_limit=fields.count(document, "max_tokens"),
            is_free=is_free,
        )

    def refused(self, document: Mapping[str, Any], path: CallPath) -> list[RefusedField]:
        return [
            *refused_fields.given(document, PRICED_APART, COSTS),
            *refused_fields.beyond(document, "service_tier", refused_fields.TIERS),
            *refused_fields.beyond(document, "speed", ("standard",)),
            *refused_fields.beyond(document, "inference_geo", USUAL_REGIONS),
            *refused_fields.tools(document.get("tools"), _is_clients),
            *refused_fields.everywhere(document, "messages", ("file_id",)),
        ]

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


def _is_clients(kind: Any) -> bool:
    return kind in (None, "custom") or (isinstance(kind, str) and kind.startswith(CLIENT_TOOLS))
