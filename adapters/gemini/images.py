"""The Gemini API's generateContent with pictures: one synchronous paid call that answers with one picture.

Reference images go out inline; a refusal of the content comes as a success.
Facts: Google's reference of generateContent and its SDK google-genai 3.4.0.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from adapters.base import Accepted, Connection, Done, ErrorKind, Target, UpstreamError, UpstreamField, UpstreamRequest
from adapters.gemini import errors, fields, request
from adapters.gemini.errors import mapping, mappings
from adapters.kit import checks, inline
from adapters.kit.error_kinds import SpokenError
from adapters.kit.http import calling, redacted, secret
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought
from adapters.kit.shapes import Synchronous, probing


class GeminiGenerateContent(Synchronous):
    """Adapter of `gemini_generate_content`. The base URL is the host alone; option `version`: v1beta (default), v1."""

    protocol = "gemini_generate_content"
    modalities = frozenset({"image"})
    expresses = checks.fields("image")
    summary = "Gemini native image generation"
    error_codes = errors.CODES
    capabilities = request.CAPABILITIES
    options = request.OPTIONS
    settings = request.SETTINGS
    problems = staticmethod(request.problems)
    build = staticmethod(request.build)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return fields.FIELDS

    def codes(self, code: str) -> ErrorKind | None:
        return errors.kind_of(code)

    def spoken(self, document: Any, status: int) -> SpokenError:
        return errors.spoken(document)

    def shape(self, document: Any) -> bool:
        return errors.is_own(document)

    def authorize(self, connection: Connection) -> dict[str, str]:
        return {"x-goog-api-key": secret(connection)}

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        with inline.body_of(upstream, connection, "base64") as body:
            call = self.paid(upstream, body, max_bytes=MAX_ANSWER_BYTES)
            try:
                return bought(call, connection, partial(_items, connection=connection))
            except UpstreamError as error:
                if error.retry_after is None:
                    error.retry_after = errors.wait_of(error.message)
                raise

    def probe(self, connection: Connection) -> None:
        path = f"/{request.version(connection.options)}/models?pageSize=1"
        with probing(), calling(self.call("GET", path), connection):
            pass


def _items(document: Any, *, connection: Connection) -> Iterable[tuple[object, object]] | None:
    """The pictures but for those that the model made while thinking, the last one first: drafts may come before it, in
    one answer with the picture that was bought. Where there are only drafts, and the content was not refused, they are
    what was bought. Raises UpstreamError for an answer without a picture."""
    if not isinstance(document, dict):
        return None
    stop = errors.stop_of(document)
    pictures = _pictures(document, drafts=False)
    if not pictures and (stop is None or stop[0] is not ErrorKind.CONTENT_POLICY):
        pictures = _pictures(document, drafts=True)
    if not pictures and stop:
        kind, word = stop
        code = redacted(word, connection)[:200]
        raise UpstreamError(kind, f"the answer has no picture: {code or 'no reason given'}", code=code, http_status=200)
    return [(data, None) for data in (*pictures[-1:], *pictures[:-1])] or None


def _pictures(document: dict[str, Any], *, drafts: bool) -> list[str]:
    """The data of the pictures that are flagged as thoughts, or of those that are not."""
    parts = [
        part
        for candidate in mappings(document.get("candidates"))
        for part in mappings(mapping(candidate.get("content")).get("parts"))
        if (part.get("thought") is True) is drafts
    ]
    data = [mapping(part.get("inlineData")).get("data") for part in parts]
    return [each for each in data if isinstance(each, str) and each]
