"""The Ark (BytePlus, Volcengine) image protocol: one synchronous paid call that answers with one picture.

Generations and edits are the same call. `ark/images_request.py` is the pure half.
Facts: Volcengine's documentation of the image generation API and its Ark runtime SDK 5.0.54.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from adapters.ark import errors as ark_errors
from adapters.ark import images_request as ark_images_request
from adapters.ark import request as ark_request
from adapters.ark.errors import verdict_of
from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)
from adapters.kit import inline, rules
from adapters.kit.error_kinds import SpokenError, Verdict, spoken_error
from adapters.kit.http import redacted
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought, data_items
from adapters.kit.shapes import Synchronous

CAPABILITIES = rules.IMAGE_CAPABILITIES
OPTIONS: rules.Rules = {}


class ArkImages(Synchronous):
    """Adapter of `ark_images`."""

    protocol: ClassVar[str] = "ark_images"
    modalities: ClassVar[frozenset[str]] = frozenset({"image"})
    summary: ClassVar[str] = "Seedream image generation and editing on Ark"
    error_codes: ClassVar[Mapping[str, Verdict]] = ark_errors.CODES
    capabilities: ClassVar[rules.Rules] = CAPABILITIES
    options: ClassVar[rules.Rules] = OPTIONS
    probe_path: ClassVar[str] = f"{ark_request.PATH}/probe"

    def codes(self, code: str) -> Verdict | None:
        return verdict_of(code)

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(ark_images_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return ark_images_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        with inline.body_of(upstream, connection, "data_url") as body:
            headers = {"Content-Type": body.content_type}
            call = self.call("POST", upstream.path, paid=True, headers=headers, body=body, max_bytes=MAX_ANSWER_BYTES)
            return bought(call, connection, partial(_items, connection=connection))


def _items(document: Any, *, connection: Connection) -> Iterable[tuple[object, object]] | None:
    """The pictures, with errors in the place of those that failed. Raises the UpstreamError of an answer of nothing but
    errors."""
    items = data_items(document)
    if items is None or any(encoded or url for encoded, url in items):
        return items
    spoken = next(filter(any, map(_spoken, [*document["data"], document])), None)
    if spoken is None:
        return items
    verdict = verdict_of(spoken.code) or Verdict(ErrorKind.EMPTY_RESULT)
    message = redacted(spoken.message, connection) or "the answer has no picture"
    raise UpstreamError(verdict.kind, message, code=redacted(spoken.code, connection), http_status=200)


def _spoken(holder: Any) -> SpokenError:
    """What an item, or the answer as a whole, says in its `error`."""
    error = holder.get("error") if isinstance(holder, dict) else None
    return spoken_error({"error": error}) if isinstance(error, dict) else SpokenError()
