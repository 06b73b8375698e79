"""`messages`: POST /v1/messages and /v1/messages/count_tokens, Anthropic's dialect.

Its usage counts tokens from and to the cache beside `input_tokens`, unless a total shows that they are in it. A stream
tells the input in `message_start`, where the output is no more than a placeholder, and both in `message_delta`, with
counts that only grow. It ends with `message_stop`, always. Facts: anthropic 2.12 (`types`, `types/beta`).
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from adapters.relay.adapter import ANTHROPIC_VERSION
from common.token_usage import TokenUsage
from relay.families import counts, endpoints, fields, openai_counts, refusals, tool_counts
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily, written_bytes
from relay.families.frames import message_frames
from relay.families.requests import messages as requests
from relay.families.watching import FrameReader, texts
from relay.wire import sse

COUNT_TOKENS = "/v1/messages/count_tokens"
# What gateways before other models say in the words of OpenAI.
INPUT, OUTPUT = ("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")
OUTPUTS = (*OUTPUT, "total_tokens", "output_tokens_details", "completion_tokens_details")
TOLD = re.compile(rb'"usage"\s*:\s*\{')
EVENTS = frozenset(
    {
        b"message_start",
        b"content_block_start",
        b"content_block_delta",
        b"content_block_stop",
        b"message_delta",
        b"message_stop",
        b"ping",
    }
)
OWN = re.compile(rb'"type"\s*:\s*"(?:' + b"|".join(sorted(EVENTS)) + rb')"')
EVENT = re.compile(rb"event: ?(\w+)\r?\n")
STOP = re.compile(rb'"type"\s*:\s*"message_stop"')
TEXTS = ("text", "thinking", "partial_json", "signature")
IN_FRAMES = texts(*TEXTS)


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

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        told = fields.mapping(fields.mapping(document).get("usage"))
        run = tool_counts.of_blocks(fields.mapping(document).get("content"), asked)
        return tool_counts.put_in(_usage(told), tool_counts.most(run, tool_counts.requests_told(told, asked)))

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        blocks = fields.mapping(document).get("content")
        written = super().delivered(blocks, asked).output_bytes
        return Delivered(output_bytes=written + sum(map(_hidden, fields.mappings(blocks))))

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return message_frames.of_answer(fields.mapping(document))

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        path = ("message", "model")
        return MessagesReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=path)


class MessagesReader(FrameReader):
    """The events of one message."""

    __slots__ = ()
    own = OWN

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        return document.get("type") == "message"

    def _carries(self, document: Mapping[str, Any]) -> bool:
        return document.get("type") != "ping"

    def _framed(self, frame: bytes, seen: bytes) -> bytes:
        """With its `event:` line, without which no event is one to Anthropic's SDK."""
        named = EVENT.match(frame)
        if named and named[1] in EVENTS:
            return frame
        said = (sse.data(frame) or b"").replace(b"\n", b"")
        return b"event: %s\ndata: %s\n\n" % (str(self._parsed(seen).get("type")).encode(errors="replace"), said)

    def _watch(self, frame: bytes) -> bool:
        if TOLD.search(frame):
            self._take_usage(self._parsed(frame))
        if b"content_block_start" in frame:
            self._take_block(fields.mapping(self._parsed(frame).get("content_block")))
        if b"message_stop" in frame and STOP.search(frame) and self._parsed(frame).get("type") == "message_stop":
            self.is_over = self.can_end = True
        return True

    def _take_usage(self, event: Mapping[str, Any]) -> None:
        told = fields.mapping(event.get("usage") or fields.mapping(event.get("message")).get("usage"))
        if event.get("type") == "message_start":
            told = {name: count for name, count in told.items() if name not in OUTPUTS}
        if self._learn(told, _usage):
            self._count_tools(tool_counts.most(self._tools, tool_counts.requests_told(told, self._asked)))

    def _take_block(self, block: Mapping[str, Any]) -> None:
        """Of one that is told at once: what it asks of a tool, or what nobody is to read."""
        self._count_tools(tool_counts.both(self._tools, tool_counts.of_blocks([block], self._asked)))
        self._deliver(_hidden(block) + written_bytes(block.get("input"), is_written=True))


def _usage(told: Mapping[str, Any]) -> TokenUsage | None:
    if counts.count(told, INPUT[0]) is None and counts.count(told, OUTPUT[0]) is None:
        return openai_counts.told(told)
    compacted = [item for item in fields.mappings(told.get("iterations")) if item.get("type") == "compaction"]
    counted = [told, *compacted]  # what a compaction uses is not in the sums
    written = [_written(one) for one in counted]
    return counts.believed(
        counts.ToldCounts(
            input=_sum(counted, INPUT),
            output=_sum(counted, OUTPUT),
            total=counts.count(told, "total_tokens"),
            cached=_sum(counted, ("cache_read_input_tokens",)),
            written=sum(minutes for minutes, _ in written),
            written_1h=sum(hour for _, hour in written),
            thoughts=counts.count(told, "output_tokens_details", "thinking_tokens") or 0,
            is_cache_beside=True,
        )
    )


def _written(told: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens written to the cache for minutes and for an hour. What their total has beyond the two is for an hour where
    any is, else for minutes."""
    total = counts.count(told, "cache_creation_input_tokens") or 0
    minutes = counts.count(told, "cache_creation", "ephemeral_5m_input_tokens") or 0
    hour = counts.count(told, "cache_creation", "ephemeral_1h_input_tokens") or 0
    rest = max(0, total - minutes - hour)
    return (minutes, hour + rest) if hour else (minutes + rest, 0)


def _sum(counted: list[Mapping[str, Any]], names: tuple[str, ...]) -> int:
    return sum(counts.part((one,), *names) for one in counted)


def _hidden(block: Mapping[str, Any]) -> int:
    """The bytes of thoughts that come encrypted."""
    data = block.get("data")
    return len(data) if block.get("type") == "redacted_thinking" and isinstance(data, str) else 0
