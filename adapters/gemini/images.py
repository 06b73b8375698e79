"""The Gemini API's generateContent with pictures: one synchronous paid call that answers with one picture.

Reference images go out inline; a refusal of the content comes as a success. `gemini/request.py` is the pure half,
`gemini/errors.py` reads refusals.
Facts: Google's reference of generateContent and its SDK google-genai 3.4.0.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from adapters.base import (
    Accepted,
    Connection,
    Done,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)
from adapters.gemini import errors as gemini_errors
from adapters.gemini import request as gemini_request
from adapters.gemini.errors import mapping, mappings
from adapters.kit import inline, rules
from adapters.kit.error_kinds import Verdict
from adapters.kit.http import calling, redacted, secret
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought
from adapters.kit.shapes import Synchronous, probing


class GeminiGenerateContent(Synchronous):
    """Adapter of `gemini_generate_content`. The base URL is the host alone; option `version`: v1beta (default), v1."""

    protocol: ClassVar[str] = "gemini_generate_content"
    modalities: ClassVar[frozenset[str]] = frozenset({"image"})
    summary: ClassVar[str] = "Gemini native image generation"
    error_codes: ClassVar[Mapping[str, Verdict]] = gemini_errors.CODES
    capabilities: ClassVar[rules.Rules] = gemini_request.CAPABILITIES
    options: ClassVar[rules.Rules] = gemini_request.OPTIONS

    def codes(self, code: str) -> Verdict | None:
        return gemini_errors.verdict_of(code)

    def authorize(self, connection: Connection) -> dict[str, str]:
        return {"x-goog-api-key": secret(connection)}

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(gemini_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return gemini_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        with inline.body_of(upstream, connection, "base64") as body:
            headers = {"Content-Type": body.content_type}
            call = self.call(
                "POST",
                upstream.path,
                paid=True,
                headers=headers,
                body=body,
                max_bytes=MAX_ANSWER_BYTES,
                spoken=gemini_errors.spoken,
            )
            try:
                return bought(call, connection, partial(_items, connection=connection))
            except UpstreamError as error:
                if error.retry_after is None:
                    error.retry_after = gemini_errors.wait_of(error.message)
                raise

    def probe(self, connection: Connection) -> None:
        path = f"/{gemini_request.version(connection.options)}/models?pageSize=1"
        with probing(), calling(self.call("GET", path, spoken=gemini_errors.spoken), connection):
            pass


def _items(document: Any, *, connection: Connection) -> Iterable[tuple[object, object]] | None:
    """The pictures but for those that the model made while thinking. Raises UpstreamError for an answer without one."""
    if not isinstance(document, dict):
        return None
    pictures = [
        (part["inlineData"].get("data"), None)
        for candidate in mappings(document.get("candidates"))
        for part in mappings(mapping(candidate.get("content")).get("parts"))
        if part.get("thought") is not True and isinstance(part.get("inlineData"), dict)
    ]
    if not pictures and (stop := gemini_errors.stop_of(document)):
        kind, word = stop
        code = redacted(word, connection)[:200]
        raise UpstreamError(kind, f"the answer has no picture: {code or 'no reason given'}", code=code, http_status=200)
    return pictures or None
