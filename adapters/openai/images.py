"""The OpenAI Images protocol: one synchronous paid call that answers with the pictures.

Generations go out as JSON, edits as multipart with the reference images as files. `openai/images_request.py` is the
pure half, `openai/xai_request.py` that of the dialect `xai`, whose edits are JSON with the images inside.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

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
from adapters.kit.error_kinds import NOT_HERE, Verdict
from adapters.kit.form import form_of
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought, data_items
from adapters.kit.shapes import Synchronous
from adapters.openai import images_request as openai_request
from adapters.openai import xai_errors, xai_request

CAPABILITIES = rules.IMAGE_CAPABILITIES
OPTIONS = {"dialect": rules.one_of("openai", "xai")}
CODES = {
    "moderation_blocked": Verdict(ErrorKind.CONTENT_POLICY),
    "content_policy_violation": Verdict(ErrorKind.CONTENT_POLICY),
    "billing_hard_limit_reached": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "insufficient_quota": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "invalid_api_key": Verdict(ErrorKind.AUTH),
    "model_not_found": NOT_HERE,
    "rate_limit_exceeded": Verdict(ErrorKind.RATE_LIMITED),
}


class OpenAIImages(Synchronous):
    """Adapter of `openai_images`."""

    protocol: ClassVar[str] = "openai_images"
    modalities: ClassVar[frozenset[str]] = frozenset({"image"})
    summary: ClassVar[str] = "OpenAI Images, and xAI by the option dialect: generations and edits"
    error_codes: ClassVar[Mapping[str, Verdict]] = CODES
    capabilities: ClassVar[rules.Rules] = CAPABILITIES
    options: ClassVar[rules.Rules] = OPTIONS

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        problems = xai_request.problems if _is_xai(target) else openai_request.problems
        return list(problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return xai_request.build(request, target) if _is_xai(target) else openai_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        if upstream.encoding == "json":
            with inline.body_of(upstream, connection, "data_url") as body:
                return self._bought(upstream.path, body.content_type, body, connection)
        with form_of(upstream, connection) as form:
            return self._bought(upstream.path, form.content_type, form, connection)

    def _bought(self, path: str, content_type: str, body: bytes | Iterable[bytes], connection: Connection) -> Done:
        more: dict[str, Any] = {"headers": {"Content-Type": content_type}, "body": body}
        if connection.options.get("dialect") == "xai":
            more["spoken"] = xai_errors.spoken
        call = self.call("POST", path, paid=True, max_bytes=MAX_ANSWER_BYTES, **more)
        return bought(call, connection, _items)


def _is_xai(target: Target) -> bool:
    return target.options.get("dialect") == "xai"


def _items(document: Any) -> Iterable[tuple[object, object]] | None:
    """The pictures that the moderation of results let pass; where it stopped all of them, that is the answer."""
    items = document.get("data") if isinstance(document, dict) else None
    if not isinstance(items, list):
        return None
    stopped = [isinstance(item, dict) and item.get("respect_moderation") is False for item in items]
    if stopped and all(stopped):
        raise UpstreamError(ErrorKind.CONTENT_POLICY, "the moderation stopped every picture", code="respect_moderation")
    return data_items({"data": [item for item, is_stopped in zip(items, stopped, strict=True) if not is_stopped]})
