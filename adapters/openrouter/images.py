"""OpenRouter's Images protocol: one synchronous paid call for pictures of many providers' models.

`n` is an upper bound: fewer pictures are a success. Facts: OpenRouter's documentation and its SDK 1.3.84.
"""

from collections.abc import Sequence
from typing import Any

from adapters.base import Accepted, Connection, Done, Target, UpstreamField, UpstreamRequest
from adapters.kit import checks, inline, rules
from adapters.kit.error_kinds import SpokenError
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought, data_items
from adapters.kit.shapes import Synchronous
from adapters.kit.sizes import SizeTable
from adapters.openrouter import errors, images_fields, images_request


class OpenRouterImages(Synchronous):
    """Adapter of `openrouter_images`."""

    protocol = "openrouter_images"
    modalities = frozenset({"image"})
    expresses = checks.fields("image")
    summary = "OpenRouter images: many providers' models with one key"
    error_codes = errors.CODES
    capabilities = rules.IMAGE_CAPABILITIES
    probe_path = "/key"  # the list of models is public
    problems = staticmethod(images_request.problems)
    build = staticmethod(images_request.build)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return images_fields.FIELDS

    def pixel_sizes(self, target: Target) -> SizeTable:
        table: SizeTable = target.capabilities.get("size_table", images_request.SIZES)
        return table

    def spoken(self, document: Any, status: int) -> SpokenError:
        return errors.spoken(document, status)

    def shape(self, document: Any) -> bool:
        return errors.is_own(document)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        with inline.body_of(upstream, connection, "data_url") as body:
            return bought(self.paid(upstream, body, max_bytes=MAX_ANSWER_BYTES), connection, data_items)
