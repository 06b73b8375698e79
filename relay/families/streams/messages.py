"""Reads the events of a message stream."""

import re
from collections.abc import Mapping
from typing import Any

from relay.families import tool_counts
from relay.families.answers import messages as answers
from relay.families.answers.messages import OUTPUT
from relay.families.answers.written import written_bytes
from relay.families.fields import mapping
from relay.families.streams.output import texts
from relay.families.streams.reader import FrameReader
from relay.families.streams.seen_frames import SeenFrame

# The first event's output count is only a placeholder.
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


class MessagesReader(FrameReader):
    """Reader of one message's events."""

    __slots__ = ()
    own = OWN
    texts = texts(*answers.TEXTS)

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        return document.get("type") == "message"

    def _carries(self, document: Mapping[str, Any]) -> bool:
        return document.get("type") != "ping"

    def _framed(self, frame: SeenFrame) -> bytes:
        """Adds the `event:` line, without which Anthropic's SDK ignores the event."""
        named = EVENT.match(frame.raw)
        if named and named[1] in EVENTS:
            return frame.raw
        event = str(frame.document.get("type")).encode(errors="replace")
        return b"event: %s\ndata: %s\n\n" % (event, frame.on_one_line())

    def _watch(self, frame: SeenFrame) -> bool:
        seen = frame.seen
        if TOLD.search(seen):
            self._take_usage(frame.document)
        if b"content_block_start" in seen:
            self._take_block(mapping(frame.document.get("content_block")))
        if b"message_stop" in seen and STOP.search(seen) and frame.document.get("type") == "message_stop":
            self.is_over = self.can_end = True
        return True

    def _take_usage(self, event: Mapping[str, Any]) -> None:
        told = mapping(event.get("usage") or mapping(event.get("message")).get("usage"))
        if event.get("type") == "message_start":
            told = {name: count for name, count in told.items() if name not in OUTPUTS}
        if self._usage.learn(told, answers.read_tokens):
            self._usage.count_at_least(tool_counts.count_reported(told, self._asked))

    def _take_block(self, block: Mapping[str, Any]) -> None:
        """Counts a block sent whole: a tool's input, or hidden content."""
        self._usage.count_more(tool_counts.count_blocks([block], self._asked))
        self._output.add(answers.hidden_bytes(block) + written_bytes(block.get("input"), is_written=True))
