"""The Ark (BytePlus, Volcengine) image protocol: one synchronous paid call that answers with one picture.

Generations and edits are the same call.
Facts: Volcengine's documentation of the image generation API and its Ark runtime SDK 5.0.54.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from adapters.ark import errors, images_fields, images_request, videos_request
from adapters.base import Accepted, Connection, Done, ErrorKind, Target, UpstreamError, UpstreamField, UpstreamRequest
from adapters.kit import checks, inline, rules
from adapters.kit.error_kinds import SpokenError, spoken_error
from adapters.kit.http import redacted
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought, data_items
from adapters.kit.shapes import Synchronous
from adapters.kit.sizes import SizeTable


class ArkImages(Synchronous):
    """Adapter of `ark_images`."""

    protocol = "ark_images"
    modalities = frozenset({"image"})
    expresses = checks.fields("image")
    summary = "Seedream image generation and editing on Ark"
    error_codes = errors.CODES
    capabilities = rules.IMAGE_CAPABILITIES
    probe_path = f"{videos_request.PATH}/probe"
    problems = staticmethod(images_request.problems)
    build = staticmethod(images_request.build)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return images_fields.FIELDS

    def pixel_sizes(self, target: Target) -> SizeTable:
        table: SizeTable = target.capabilities.get("size_table", images_request.SIZES)
        return table

    def codes(self, code: str) -> ErrorKind | None:
        return errors.kind_of(code)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        with inline.body_of(upstream, connection, "data_url") as body:
            call = self.paid(upstream, body, max_bytes=MAX_ANSWER_BYTES)
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
    kind = errors.kind_of(spoken.code) or ErrorKind.EMPTY_RESULT
    message = redacted(spoken.message, connection) or "the answer has no picture"
    raise UpstreamError(kind, message, code=redacted(spoken.code, connection), http_status=200)


def _spoken(holder: Any) -> SpokenError:
    """What an item, or the answer as a whole, says in its `error`."""
    error = holder.get("error") if isinstance(holder, dict) else None
    return spoken_error({"error": error}) if isinstance(error, dict) else SpokenError()
