"""OpenRouter's Images protocol: one synchronous paid call for pictures of many providers' models.

`n` is an upper bound: fewer pictures are a success. Facts: OpenRouter's documentation and its SDK 1.3.84.
`openrouter/images_request.py` is the pure half.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from adapters.base import (
    Accepted,
    Connection,
    Done,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamRequest,
)
from adapters.kit import inline, rules
from adapters.kit.error_kinds import Verdict
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought, data_items
from adapters.kit.shapes import Synchronous
from adapters.openrouter import errors as openrouter_errors
from adapters.openrouter import images_request as openrouter_images_request
from adapters.openrouter.errors import spoken, verdict_of

CAPABILITIES = rules.IMAGE_CAPABILITIES


class OpenRouterImages(Synchronous):
    """Adapter of `openrouter_images`."""

    protocol: ClassVar[str] = "openrouter_images"
    modalities: ClassVar[frozenset[str]] = frozenset({"image"})
    probe_path: ClassVar[str] = "/key"  # the list of models is public
    summary: ClassVar[str] = "OpenRouter images: many providers' models with one key"
    error_codes: ClassVar[Mapping[str, Verdict]] = openrouter_errors.CODES
    capabilities: ClassVar[rules.Rules] = CAPABILITIES

    def codes(self, code: str) -> Verdict | None:
        return verdict_of(code)

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(openrouter_images_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return openrouter_images_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        with inline.body_of(upstream, connection, "data_url") as body:
            headers = {"Content-Type": body.content_type}
            more: dict[str, Any] = {"headers": headers, "body": body, "max_bytes": MAX_ANSWER_BYTES, "spoken": spoken}
            call = self.call("POST", upstream.path, paid=True, **more)
            return bought(call, connection, data_items)
