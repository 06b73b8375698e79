"""Reads the chunks of a chat completion's stream."""

import json
import re
from collections.abc import Mapping
from typing import Any

from adapters.kit import error_kinds
from relay.families import openai_counts, pictures, sounds, tool_counts
from relay.families.answers import chat as answers
from relay.families.fields import index_of, mapping, mappings
from relay.families.streams.output import texts
from relay.families.streams.reader import FrameReader
from relay.families.streams.seen_frames import SeenFrame
from relay.wire import sse

TOLD = re.compile(rb'"usage"\s*:\s*\{')
FINISHED = re.compile(rb'"finish_reason"\s*:\s*"(?!"|null")')
OWN = re.compile(rb'"choices"\s*:\s*\[')
CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*[^\]\s]')
OF_CHUNKS = frozenset({"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier"})
NO_DELTA = re.compile(rb'"delta"\s*:\s*null')
CALLS = re.compile(rb'"(?:tool_calls"\s*:\s*\[|function_call"\s*:)\s*\{')
SAID = re.compile(rb'"content"\s*:\s*"(?!")')
TWICE = re.compile(rb'"(?:reasoning|reasoning_details|thinking|thinking_blocks|message|text)"\s*:')


class ChatReader(FrameReader):
    """Reader of one answer's chunks."""

    __slots__ = ("_citing", "_is_in_call")
    own = OWN
    texts = texts(*answers.TEXTS)
    has_types = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._citing: set[Any] = set()
        self._is_in_call = False

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        choices = answers.choices(document)
        return any(mapping(choice.get("message")) and not choice.get("delta") for choice in choices)

    def _is_own(self, seen: bytes) -> bool:
        return OWN.search(seen) is not None or TOLD.search(seen) is not None

    def _is_idle(self, document: Mapping[str, Any]) -> bool:
        return OF_CHUNKS.issuperset(document) and not document.get("choices")

    def _carries(self, document: Mapping[str, Any]) -> bool:
        """Tells whether a chunk holds more than the speaker's role."""
        said = [
            value for delta in answers.messages(document, "delta") for name, value in delta.items() if name != "role"
        ]
        return bool(self.usage or self._choices.ended or any(said) or self._output.written_bytes)

    def _framed(self, frame: SeenFrame) -> bytes:
        """Completes a chunk's choices, and the delta of each."""
        if b'"delta"' in frame.seen and not NO_DELTA.search(frame.seen):
            return frame.raw
        chunk = mapping(error_kinds.parsed(sse.data(frame.raw) or b""))
        choices = mappings(chunk.get("choices"))
        if isinstance(chunk.get("choices"), list) and not choices:
            return frame.raw
        righted = [{**choice, "delta": mapping(choice.get("delta"))} for choice in choices]
        return sse.frame(json.dumps({**chunk, "choices": righted}))

    def _other(self, frame: SeenFrame) -> bytes:
        if not frame.said.lstrip().startswith(sse.DONE):
            return super()._other(frame)
        self.is_over = self.can_end = True
        if not self.has_begun:
            self._fail("the stream ended without an answer")
        elif self._is_in_call:
            self._fail("the stream ended inside a tool's arguments")
        return b"" if self.error else frame.raw

    def _watch(self, frame: SeenFrame) -> bool:
        seen = frame.seen
        if (b'"tool_calls"' in seen or b'"function_call"' in seen) and CALLS.search(seen):
            self._is_in_call = True
        elif self._is_in_call and SAID.search(seen):
            self._is_in_call = False
        is_told = TOLD.search(seen) is not None
        if is_told:
            self._take_usage(frame.document)
        if b'"images"' in seen or b'"image_url"' in seen or b'"output_image"' in seen:
            self._output.add(0, pictures.count_in_messages(answers.messages(frame.document, "delta")))
        if b'"audio"' in seen:
            self._output.add(sound_bytes=sounds.measure_messages(answers.messages(frame.whole, "delta")))
        if self._asked.tools and b'"annotations"' in seen:
            self._take_citations(frame.document)
        if FINISHED.search(seen):
            self._is_in_call = False
            self._choices.end(frame.document.get("choices"), "finish_reason")
            self.can_end = self.can_end or self._choices.are_enough
        return self._asked.shows_usage or not is_told or CHOICES.search(seen) is not None

    def _written_in(self, frame: SeenFrame) -> int:
        """Counts what was written: alternative names for one text once, and a last chunk's repetition of the whole not
        at all."""
        if not TWICE.search(frame.seen):
            return super()._written_in(frame)
        choices = answers.choices(frame.document)
        new = sum(answers.written_in(choice, "delta") for choice in choices)
        whole = sum(answers.written_in({"message": choice.get("message")}, "message") for choice in choices)
        return max(new, whole - self._output.written_bytes)

    def _take_citations(self, chunk: Mapping[str, Any]) -> None:
        choices = answers.choices(chunk)
        self._citing |= {
            index_of(item, place) for place, item in enumerate(choices) if tool_counts.cites(mapping(item.get("delta")))
        }
        self._usage.count_at_least(tool_counts.count_citing(len(self._citing), self._asked))

    def _take_usage(self, chunk: Mapping[str, Any]) -> None:
        for told in openai_counts.usages(chunk):
            if self._usage.learn(told, openai_counts.read_tokens):
                self._usage.count_at_least(tool_counts.count_reported(told, self._asked))
                return
