"""Reads the events of a response's stream."""

import re
from collections.abc import Mapping
from typing import Any

from relay.families import openai_counts, tool_counts
from relay.families.answers import responses as answers
from relay.families.answers.written import written_bytes
from relay.families.fields import mapping
from relay.families.streams import frame_errors
from relay.families.streams.output import texts
from relay.families.streams.reader import FrameReader
from relay.families.streams.seen_frames import SeenFrame

LAST_TYPES = ("response.completed", "response.incomplete", "response.failed")
OWN = re.compile(rb'"type"\s*:\s*"response\.')
LAST = re.compile(rb'"type"\s*:\s*"response\.(?:completed|incomplete|failed)"')
ITEM_DONE = re.compile(rb'"type"\s*:\s*"response\.output_item\.done"')
DONE = re.compile(rb'"type"\s*:\s*"response\.[a-z_.]+\.done"')


class ResponsesReader(FrameReader):
    """Reader of one response's events."""

    __slots__ = ("_of_item", "_of_part")
    own = OWN
    texts = texts("delta")

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._of_item = self._of_part = 0

    def _written_in(self, frame: SeenFrame) -> int:
        """Counts deltas, and of completed parts only what no delta has brought."""
        come = super()._written_in(frame)
        if DONE.search(frame.seen):
            return self._undelivered(frame.document, str(frame.document.get("type")))
        self._of_item += come
        self._of_part += come
        return come

    def _undelivered(self, event: Mapping[str, Any], kind: str) -> int:
        if kind == "response.output_item.done":
            come = max(0, written_bytes(event.get("item"), answers.SHOWN, answers.ASKED_OF_TOOLS) - self._of_item)
            self._of_item = self._of_part = 0
            return come
        come = max(0, written_bytes(event, answers.SHOWN) - self._of_part)
        self._of_item += come
        self._of_part = 0 if kind.endswith("part.done") else self._of_part + come
        return come

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        return document.get("object") == "response" and not document.get("type")

    def _watch(self, frame: SeenFrame) -> bool:
        seen = frame.seen
        if b'"response.' in seen:
            if ITEM_DONE.search(seen):
                self._take_item(mapping(frame.document.get("item")))
            if LAST.search(seen) and frame.document.get("type") in LAST_TYPES:
                self._take_last(frame.document)
                self.is_over = self.can_end = True
        return True

    def _take_item(self, item: Mapping[str, Any]) -> None:
        self._usage.count_more(tool_counts.count_items([item], self._asked))
        hidden = item.get(answers.HIDDEN)
        self._output.add(len(hidden) if isinstance(hidden, str) else 0, int(answers.is_picture(item)))

    def _take_last(self, event: Mapping[str, Any]) -> None:
        """Reads the last event, which may hold output that no earlier event had."""
        response = mapping(event.get("response"))
        for told in (mapping(response.get("usage")), mapping(event.get("usage"))):
            if self._usage.learn(told, openai_counts.read_tokens):
                self._usage.count_at_least(tool_counts.count_reported(told, self._asked))
                break
        self._usage.count_at_least(tool_counts.count_items(response.get("output"), self._asked))
        self._output.raise_to(answers.delivered(response))
        is_empty = self.usage is None and not (self._output.written_bytes or self._output.pictures)
        self.has_failed = event.get("type") == "response.failed" or answers.has_failed(response) or is_empty

    def _error_in(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Finds the error of a response that failed as its first event, before anything began."""
        if document.get("type") == "response.failed" and not self._is_begun:
            return {"error": mapping(document.get("response")).get("error") or {}}
        return frame_errors.find_error(document)
