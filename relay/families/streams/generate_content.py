"""Reads the chunks of a stream of Google's dialect."""

import re
from collections.abc import Mapping
from typing import Any

from adapters.kit import error_kinds
from relay.families import pictures, sounds, tool_counts
from relay.families.answers import generate_content as answers
from relay.families.answers.written import written_bytes
from relay.families.fields import mapping
from relay.families.streams.output import texts
from relay.families.streams.reader import FrameReader
from relay.families.streams.seen_frames import SeenFrame

TOLD = re.compile(rb'"usageMetadata"\s*:\s*\{')
ENDS = re.compile(rb'"(?:finish|block)Reason"\s*:\s*"')
OWN = re.compile(rb'"(?:candidates|promptFeedback|usageMetadata|modelVersion|responseId)"\s*:')
LATER_CANDIDATE = re.compile(rb'"index"\s*:\s*[1-9]')
LINE_ENDS = (b"\n\n", b"\r\n\r\n")
GROUNDS = (b'"groundingMetadata"', b'"urlContextMetadata"', b'"executableCode"')
PICTURED = re.compile(rb'"(?:inline|file)(?:Data|_data)"')


class CandidatesReader(FrameReader):
    """Reader of one answer's chunks."""

    __slots__ = ("_queries",)
    own = OWN
    texts = texts(*answers.TEXTS)
    has_types = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._queries: set[tool_counts.Query] = set()

    def _carries(self, document: Mapping[str, Any]) -> bool:
        return bool(self.usage or answers.is_blocked(document) or answers.has_candidate(document))

    def _framed(self, frame: SeenFrame) -> bytes:
        """Puts the data on one line, the only form that Google's SDK reads."""
        raw = frame.raw
        end = raw.find(b"\r\n")
        end = raw.find(b"\n") if end < 0 else end
        if raw.startswith(b"data: ") and raw[end:] in LINE_ENDS:
            return raw
        return b"data: %s\n\n" % frame.on_one_line()

    def _watch(self, frame: SeenFrame) -> bool:
        seen = frame.seen
        if LATER_CANDIDATE.search(seen):
            self._see(frame.document)
        if TOLD.search(seen):
            self._usage.learn(mapping(frame.document.get("usageMetadata")), answers.read_tokens)
        if any(mark in seen for mark in GROUNDS):
            candidates = frame.document.get("candidates")
            known, self._queries = self._queries, self._queries | tool_counts.queries(candidates)
            self._usage.count_tools(
                tool_counts.count_later_candidates(self._usage.tools, candidates, self._asked, known)
            )
        if b'"functionCall"' in seen:
            self._output.add(written_bytes(answers.contents(frame.document), objects=answers.ARGUMENTS))
        if PICTURED.search(seen):
            said = answers.contents(frame.document)
            self._output.add(pictures=pictures.count_in_contents(said))
            if sounds.measure_contents(said):
                self._output.add(sound_bytes=sounds.measure_contents(answers.contents(frame.whole)))
        if ENDS.search(seen):
            self._end(frame.document)
        return not self._asked.is_array or self._is_element(frame)

    def _written_in(self, frame: SeenFrame) -> int:
        """Counts what was written, and search results quoted beside the content."""
        if GROUNDS[0] in frame.seen:
            return written_bytes(answers.contents(frame.document), answers.TEXTS)
        return super()._written_in(frame)

    def _is_element(self, frame: SeenFrame) -> bool:
        """Tells whether the frame fits the client's array. A chunk that is not JSON would spoil the array, so it is an
        error."""
        if not isinstance(error_kinds.parsed(frame.said), dict):
            self._fail("a chunk of the stream is not a JSON object")
        return self.error is None

    def _end(self, chunk: Mapping[str, Any]) -> None:
        is_blocked = answers.is_blocked(chunk)
        self.has_failed = self.has_failed or (is_blocked and self.usage is None)
        self._see(chunk)
        self._choices.end(chunk.get("candidates"), "finishReason")
        self.can_end = is_blocked or ((self.can_end or self._choices.are_enough) and self._choices.have_all_ended)

    def _see(self, chunk: Mapping[str, Any]) -> None:
        """Records the candidates' ends; an answer with several candidates ends with the last."""
        self._choices.see(chunk.get("candidates"))
        self.can_end = self.can_end and self._choices.have_all_ended
