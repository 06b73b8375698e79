"""The OpenAI Images protocol: one synchronous paid call that answers with the pictures.

Generations go out as JSON, edits as multipart with the reference images as files; the edits of the dialect `xai` are
JSON with the images inside.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
)
from adapters.kit import checks, inline, rules
from adapters.kit.inline import InlineJson
from adapters.kit.multipart import Multipart, form_of
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought, data_items
from adapters.kit.shapes import Synchronous
from adapters.kit.sizes import SizeTable
from adapters.openai import errors, images_fields, images_request, xai_errors, xai_fields, xai_request


class OpenAIImages(Synchronous):
    """Adapter of `openai_images`."""

    protocol = "openai_images"
    modalities = frozenset({"image"})
    expresses = checks.fields("image", "mask")
    summary = "OpenAI Images, and xAI by the option dialect: generations and edits"
    error_codes = errors.CODES
    spoken = staticmethod(errors.spoken)
    capabilities = rules.IMAGE_CAPABILITIES
    options = {"dialect": rules.one_of("openai", "xai")}
    variants = ({}, {"dialect": "xai"})

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return xai_fields.FIELDS if _is_xai(target.options) else images_fields.FIELDS

    def pixel_sizes(self, target: Target) -> SizeTable:
        return {} if _is_xai(target.options) else target.capabilities.get("size_table", images_request.SIZES)

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        problems = xai_request.problems if _is_xai(target.options) else images_request.problems
        return list(problems(request, target))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        build = xai_request.build if _is_xai(target.options) else images_request.build
        return build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        if upstream.encoding == "json":
            with inline.body_of(upstream, connection, "data_url") as body:
                return self._bought(upstream, body, connection)
        with form_of(upstream, connection) as form:
            return self._bought(upstream, form, connection)

    def _bought(self, upstream: UpstreamRequest, body: InlineJson | Multipart | None, connection: Connection) -> Done:
        is_xai = _is_xai(connection.options)
        words = {"spoken": xai_errors.spoken, "shape": xai_errors.is_own} if is_xai else {}
        return bought(self.paid(upstream, body, max_bytes=MAX_ANSWER_BYTES, **words), connection, _items)


def _is_xai(options: Mapping[str, Any]) -> bool:
    return options.get("dialect") == "xai"


def _items(document: Any) -> Iterable[tuple[object, object]] | None:
    """The pictures that the moderation of results let pass; where it stopped all of them, that is the answer."""
    items = document.get("data") if isinstance(document, dict) else None
    if not isinstance(items, list):
        return None
    stopped = [isinstance(item, dict) and item.get("respect_moderation") is False for item in items]
    if stopped and all(stopped):
        raise UpstreamError(ErrorKind.CONTENT_POLICY, "the moderation stopped every picture", code="respect_moderation")
    return data_items({"data": [item for item, is_stopped in zip(items, stopped, strict=True) if not is_stopped]})
