"""`generate_content`: Google's dialect, POST /v1beta/models/{model}:generateContent, :streamGenerateContent and
:countTokens, and the same under /v1.

The model stands in the path, and fields in either spelling, as JSON of protocol buffers has them. Upstream a stream is
only spoken as server-sent events; a client that does not ask for `alt=sse` reads the chunks as one JSON array, as
Google writes it. A stream has no last event. It has ended well once every candidate has its `finishReason`, or the
prompt was blocked. Each chunk may tell the usage; the last one counts. Facts: google-genai 3.4 (`types.py`,
`models.py`).
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from adapters.base import ErrorKind, UpstreamError
from adapters.kit import error_kinds
from common.token_usage import TokenUsage
from relay.families import counts, endpoints, refusals
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily, written_bytes
from relay.families.fields import mapping, mappings
from relay.families.requests import generate_content as requests
from relay.families.requests.generate_content import COUNT, STREAM
from relay.families.watching import FrameReader, texts
from relay.wire import sse

VERBS = ("generateContent", STREAM, COUNT)
TOLD = re.compile(rb'"usageMetadata"\s*:\s*\{')
ENDS = re.compile(rb'"(?:finish|block)Reason"\s*:\s*"')
IN_FRAMES = texts("text")
ARGUMENTS = frozenset({"args"})


class GenerateContentFamily(CommonFamily):
    """Google's generateContent (base.Family)."""

    name: ClassVar[str] = "generate_content"
    platform = "gemini"
    error_path = "/v1beta/models/any:streamGenerateContent"
    words = refusals.GOOGLE
    name_path = ("modelVersion",)
    texts = frozenset({"text"})
    objects = ARGUMENTS

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def refused(self, document: Mapping[str, Any], path: CallPath) -> list[RefusedField]:
        return requests.refused(document)

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

    def usage(self, document: Any) -> TokenUsage | None:
        return counts.believed(_usage, mapping(document).get("usageMetadata"))

    def delivered(self, document: Any) -> Delivered:
        return super().delivered(mapping(document).get("candidates"))

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return CandidatesReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=self.name_path)


class CandidatesReader(FrameReader):
    """The chunks of one answer."""

    __slots__ = ()

    def _watch(self, frame: bytes) -> bool:
        if TOLD.search(frame):
            told = counts.believed(_usage, self._parsed(frame).get("usageMetadata"))
            self.usage = told or self.usage
        if b'"functionCall"' in frame:
            self._deliver(written_bytes(self._parsed(frame), objects=ARGUMENTS))
        if ENDS.search(frame):
            self._end(self._parsed(frame))
        return not self._asked.is_array or self._is_element(frame)

    def _is_element(self, frame: bytes) -> bool:
        """Whether it is one of the client's array. A chunk that is no JSON would spoil the others: it is an error."""
        said = sse.data(frame) or b""
        if said in (b"", sse.DONE):
            return False
        if not isinstance(error_kinds.parsed(said), dict):
            self.error = UpstreamError(ErrorKind.AMBIGUOUS, "a chunk of the stream is no JSON object")
            self.is_over, self.can_end = True, False
        return self.error is None

    def _end(self, chunk: Mapping[str, Any]) -> None:
        self._finished += sum(1 for candidate in mappings(chunk.get("candidates")) if candidate.get("finishReason"))
        is_blocked = bool(mapping(chunk.get("promptFeedback")).get("blockReason"))
        self.can_end = self.can_end or is_blocked or self._finished >= self._asked.choices


def _usage(told: Mapping[str, Any]) -> TokenUsage:
    """Thoughts are beside the candidates, and what tools brought is beside the prompt."""
    given = counts.count(told, "promptTokenCount") + counts.count(told, "toolUsePromptTokenCount")
    thoughts = counts.count(told, "thoughtsTokenCount")
    made = counts.count(told, "candidatesTokenCount") + thoughts
    made = counts.output(made, total=counts.count(told, "totalTokenCount"), input_tokens=given)
    details = mappings(told.get("candidatesTokensDetails"))
    pictures = sum(counts.count(detail, "tokenCount") for detail in details if detail.get("modality") == "IMAGE")
    return TokenUsage(
        input_tokens=given,
        cached_tokens=min(given, counts.count(told, "cachedContentTokenCount")),
        output_tokens=made,
        reasoning_tokens=thoughts,
        image_tokens=min(made, pictures),
    )
