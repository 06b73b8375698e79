"""`generate_content`: Google's dialect, POST /v1beta/models/{model}:generateContent, :streamGenerateContent and
:countTokens, and all three under /v1.

The model is in the path, and fields have either spelling, as in the JSON of protocol buffers. The relay asks upstreams
for server-sent events; a client that does not ask for `alt=sse` gets the chunks as one JSON array, as Google writes it.
A stream has no last event: it ended well once every candidate has a `finishReason` or the prompt was blocked. Any chunk
may report usage, which later chunks complete. Source: google-genai 3.4 (`types.py`, `models.py`).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from common.token_usage import TokenUsage
from relay.families import endpoints, refusals
from relay.families.answers import generate_content as answers
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily
from relay.families.fields import mappings
from relay.families.frames import joined_candidates
from relay.families.requests import generate_content as requests
from relay.families.requests.generate_content import COUNT, STREAM
from relay.families.streams.generate_content import CandidatesReader
from relay.wire import sse

VERBS = ("generateContent", STREAM, COUNT)


class GenerateContentFamily(CommonFamily):
    """Google's generateContent (base.Family)."""

    name: ClassVar[str] = "generate_content"
    platform = "gemini"
    error_path = "/v1beta/models/any:streamGenerateContent"
    words = refusals.GOOGLE
    name_path = ("modelVersion",)
    member = "candidates"
    counted = "totalTokens"

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def renamed(self, document: Mapping[str, Any], raw: bytes, upstream_model: str) -> bytes:
        return requests.renamed(raw, upstream_model)

    def with_limit(self, document: Mapping[str, Any], raw: bytes, limit: int) -> bytes:
        return requests.with_limit(raw, document, limit)

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        version = "v1" if path.path.startswith("/v1/") else "v1beta"
        name = quote(requests.resource(endpoint.upstream_model), safe="/")
        how = "?alt=sse" if asked.is_stream else ""
        return endpoints.host_url(endpoint, f"/{version}/{name}:{path.verb}{how}")

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        return answers.usage(document, asked)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        return answers.delivered(document)

    def is_answer(self, document: Any, asked: AskedCall) -> bool:
        if any(chunk.get("error") for chunk in mappings(document)):
            return False
        joined = answers.joined(document)
        return (answers.is_blocked(joined) and not asked.is_free) or super().is_answer(joined, asked)

    def is_told(self, item: Mapping[str, Any]) -> bool:
        return answers.is_told(item)

    def has_failed(self, document: Any) -> bool:
        """Tells whether the prompt was blocked; no vendor documents a cost for that."""
        joined = answers.joined(document)
        return answers.is_blocked(joined) and not answers.has_candidate(joined)

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        if isinstance(document, list):
            own = {"modelVersion": asked.model}
            return [sse.frame(json.dumps({**chunk, **own})) for chunk in mappings(document)]
        return [sse.frame(json.dumps(document))]

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        return joined_candidates.join_events(events)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return CandidatesReader(asked, upstream_model, words=self.words, name_path=self.name_path)
