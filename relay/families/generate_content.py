"""`generate_content`: Google's dialect, POST /v1beta/models/{model}:generateContent, :streamGenerateContent and
:countTokens, and the same under /v1.

The model stands in the path, and fields in either spelling, as JSON of protocol buffers has them. Upstream a stream is
only spoken as server-sent events; a client that does not ask for `alt=sse` reads the chunks as one JSON array, as
Google writes it. A stream has no last event. It has ended well once every candidate has its `finishReason`, or the
prompt was blocked. Each chunk may tell the usage, and a later one completes it. Facts: google-genai 3.4 (`types.py`,
`models.py`).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import quote

from adapters.kit import error_kinds
from common.token_usage import TokenUsage
from relay.families import counts, endpoints, pictures, refusals, tool_counts
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily, written_bytes
from relay.families.fields import mapping, mappings
from relay.families.requests import generate_content as requests
from relay.families.requests.generate_content import COUNT, STREAM
from relay.families.watching import MOST_CHOICES, FrameReader, texts
from relay.wire import sse

VERBS = ("generateContent", STREAM, COUNT)
TOLD = re.compile(rb'"usageMetadata"\s*:\s*\{')
ENDS = re.compile(rb'"(?:finish|block)Reason"\s*:\s*"')
OWN = re.compile(rb'"(?:candidates|promptFeedback|usageMetadata|modelVersion|responseId)"\s*:')
LATER_CANDIDATE = re.compile(rb'"index"\s*:\s*[1-9]')
LINE_ENDS = (b"\n\n", b"\r\n\r\n")
TEXTS = ("text", "thoughtSignature", "code")
IN_FRAMES = texts(*TEXTS)
GROUNDS = (b'"groundingMetadata"', b'"urlContextMetadata"', b'"executableCode"')
PICTURED = re.compile(rb'"(?:inline|file)(?:Data|_data)"')
MODALITIES = {"IMAGE": 2, "AUDIO": 4}
ARGUMENTS = frozenset({"args"})


class GenerateContentFamily(CommonFamily):
    """Google's generateContent (base.Family)."""

    name: ClassVar[str] = "generate_content"
    platform = "gemini"
    error_path = "/v1beta/models/any:streamGenerateContent"
    words = refusals.GOOGLE
    name_path = ("modelVersion",)
    member = "candidates"
    counted = "totalTokens"
    texts = frozenset(TEXTS)
    objects = ARGUMENTS

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def body(
        self,
        document: Mapping[str, Any],
        raw: bytes,
        asked: AskedCall,
        upstream_model: str,
        *,
        takes_stream_options: bool = True,
    ) -> bytes:
        named = raw if upstream_model == asked.model else requests.renamed(raw, upstream_model)
        return named if asked.sent_limit is None else requests.with_limit(named, document, asked.sent_limit)

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        version = "v1" if path.path.startswith("/v1/") else "v1beta"
        name = quote(requests.resource(endpoint.upstream_model), safe="/")
        how = "?alt=sse" if asked.is_stream else ""
        return endpoints.host_url(endpoint, f"/{version}/{name}:{path.verb}{how}")

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        run = tool_counts.of_candidates(_joined(document).get("candidates"), asked)
        return tool_counts.put_in(_greatest(document), run)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        contents = _contents(_joined(document))
        return replace(super().delivered(contents, asked), pictures=pictures.of_contents(contents))

    def is_answer(self, document: Any, asked: AskedCall) -> bool:
        if isinstance(document, list) and not asked.is_stream:
            return False
        if any(chunk.get("error") for chunk in mappings(document)):
            return False
        joined = _joined(document)
        return (_is_blocked(joined) and not asked.is_free) or super().is_answer(joined, asked)

    def is_told(self, item: Mapping[str, Any]) -> bool:
        return _is_told(item)

    def has_failed(self, document: Any) -> bool:
        """A prompt that was blocked has cost nothing that anybody tells."""
        joined = _joined(document)
        return _is_blocked(joined) and not any(map(_is_told, mappings(joined.get("candidates"))))

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        if isinstance(document, list):
            own = {"modelVersion": asked.model}
            return [sse.frame(json.dumps({**chunk, **own})) for chunk in mappings(document)]
        return [sse.frame(json.dumps(document))]

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return CandidatesReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=self.name_path)


class CandidatesReader(FrameReader):
    """The chunks of one answer."""

    __slots__ = ("_seen",)
    own = OWN
    has_types = False

    def _carries(self, document: Mapping[str, Any]) -> bool:
        return bool(self.usage or _is_blocked(document) or any(map(_is_told, mappings(document.get("candidates")))))

    def _framed(self, frame: bytes, seen: bytes) -> bytes:
        """One line of data, which is all that Google's SDK reads."""
        end = frame.find(b"\r\n")
        end = frame.find(b"\n") if end < 0 else end
        if frame.startswith(b"data: ") and frame[end:] in LINE_ENDS:
            return frame
        return b"data: %s\n\n" % (sse.data(frame) or b"").replace(b"\n", b"")

    def _watch(self, frame: bytes) -> bool:
        if LATER_CANDIDATE.search(frame):
            self._see(self._parsed(frame).get("candidates"))
        if TOLD.search(frame):
            self._learn(mapping(self._parsed(frame).get("usageMetadata")), _usage)
        if any(mark in frame for mark in GROUNDS):
            candidates = self._parsed(frame).get("candidates")
            self._count_tools(tool_counts.of_later_candidates(self._tools, candidates, self._asked))
        if b'"functionCall"' in frame:
            self._deliver(written_bytes(_contents(self._parsed(frame)), objects=ARGUMENTS))
        if PICTURED.search(frame):
            self._deliver(0, pictures.of_contents(_contents(self._parsed(frame))))
        if ENDS.search(frame):
            self._end(self._parsed(frame))
        return not self._asked.is_array or self._is_element(frame)

    def _texts_in(self, frame: bytes) -> int:
        """What a search has found is quoted beside the content."""
        if GROUNDS[0] in frame:
            return written_bytes(_contents(self._parsed(frame)), TEXTS)
        return super()._texts_in(frame)

    def _is_element(self, frame: bytes) -> bool:
        """Whether it is one of the client's array. A chunk that is no JSON would spoil the others: it is an error."""
        said = sse.data(frame) or b""
        if not isinstance(error_kinds.parsed(said), dict):
            self._fail("a chunk of the stream is no JSON object")
        return self.error is None

    def _end(self, chunk: Mapping[str, Any]) -> None:
        is_blocked = _is_blocked(chunk)
        self.has_failed = self.has_failed or (is_blocked and self.usage is None)
        self._see(chunk.get("candidates"))
        self._end_choices(chunk.get("candidates"), "finishReason")
        self.can_end = is_blocked or (self.can_end and getattr(self, "_seen", set()) <= self._ended)

    def _see(self, candidates: Any) -> None:
        """An answer that has several candidates ends with the last of them."""
        indexes = {candidate.get("index", place) for place, candidate in enumerate(mappings(candidates))}
        seen = {index for index in indexes if isinstance(index, int) and 0 <= index < MOST_CHOICES}
        self._seen = getattr(self, "_seen", set()) | seen
        self.can_end = self.can_end and self._seen <= self._ended


def _joined(document: Any) -> dict[str, Any]:
    """The answer; of one that came as the array of its chunks, all of them together."""
    joined: dict[str, Any] = {}
    for chunk in mappings(document):
        candidates = [*mappings(joined.get("candidates")), *mappings(chunk.get("candidates"))]
        joined = {**joined, **chunk, "candidates": candidates}
    return joined or mapping(document)


def _greatest(document: Any) -> TokenUsage | None:
    """The usage of an answer; of one that came as the array of its chunks, what they tell together."""
    told: dict[str, Any] = {}
    usage: TokenUsage | None = None
    for chunk in mappings(document) or [mapping(document)]:
        told = counts.completed(told, mapping(chunk.get("usageMetadata")))
        if later := _usage(told):
            usage = counts.greater(usage, later)
    return usage


def _is_blocked(document: Mapping[str, Any]) -> bool:
    return bool(mapping(document.get("promptFeedback")).get("blockReason"))


def _is_told(candidate: Mapping[str, Any]) -> bool:
    return bool(candidate.get("content") or candidate.get("finishReason"))


def _contents(document: Any) -> list[Any]:
    return [candidate.get("content") for candidate in mappings(mapping(document).get("candidates"))]


def _usage(told: Mapping[str, Any]) -> TokenUsage | None:
    """Thoughts are beside the candidates, and what tools brought is beside the prompt."""
    given = [counts.count(told, name) for name in ("promptTokenCount", "toolUsePromptTokenCount")]
    return counts.believed(
        counts.ToldCounts(
            input=None if given == [None, None] else sum(number or 0 for number in given),
            output=counts.count(told, "candidatesTokenCount"),
            total=counts.count(told, "totalTokenCount"),
            cached=counts.count(told, "cachedContentTokenCount") or 0,
            cached_kinds=_cached(told),
            audio_in=_fresh(told, "AUDIO"),
            images_in=_fresh(told, "IMAGE"),
            thoughts=counts.count(told, "thoughtsTokenCount") or 0,
            images_out=_of_kind(told, "candidatesTokensDetails", "IMAGE"),
            audio_out=_of_kind(told, "candidatesTokensDetails", "AUDIO"),
            are_thoughts_beside=True,
        )
    )


def _fresh(told: Mapping[str, Any], modality: str) -> int:
    """Those of one kind that went in, and came from no cache."""
    given = _of_kind(told, "promptTokensDetails", modality) + _of_kind(told, "toolUsePromptTokensDetails", modality)
    return max(0, given - _of_kind(told, "cacheTokensDetails", modality))


def _cached(told: Mapping[str, Any]) -> dict[str, int]:
    """The sound and the pictures that came from a cache."""
    numbers = {kind: _of_kind(told, "cacheTokensDetails", kind.upper()) for kind in ("audio", "image")}
    return {kind: number for kind, number in numbers.items() if number}


def _of_kind(told: Mapping[str, Any], name: str, modality: str) -> int:
    details = mappings(told.get(name))
    return sum(counts.count(detail, "tokenCount") or 0 for detail in details if _is_kind(detail, modality))


def _is_kind(detail: Mapping[str, Any], modality: str) -> bool:
    """By its name, or the number of it in the protocol buffer."""
    said = detail.get("modality")
    return said == MODALITIES[modality] or str(said).upper() == modality
