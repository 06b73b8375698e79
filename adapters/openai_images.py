"""The OpenAI Images protocol: one synchronous paid call that answers with the pictures.

Generations go out as JSON, edits as multipart with the reference images as files. `openai_request` is the pure half.
"""

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from adapters import inline, openai_request, rules
from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamRequest,
)
from adapters.faults import NOT_HERE, Verdict
from adapters.multipart import Multipart, Upload
from adapters.pictures import MAX_ANSWER_BYTES, bought, data_items
from adapters.shapes import Synchronous

CAPABILITIES = rules.IMAGE_CAPABILITIES
OPTIONS = {"dialect": rules.one_of("openai")}
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

    def codes(self, code: str) -> Verdict | None:
        return CODES.get(code)

    def validate(self, target: Target) -> list[str]:
        return rules.complaints(target, capabilities=CAPABILITIES, options=OPTIONS)

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(openai_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return openai_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        if upstream.encoding == "json":
            return self._bought(upstream.path, "application/json", json.dumps(upstream.body).encode(), connection)
        with tempfile.TemporaryDirectory(prefix="references-", dir=connection.scratch_dir) as folder:
            form = Multipart(_fields(upstream.body), _uploads(upstream, Path(folder), connection))
            return self._bought(upstream.path, form.content_type, form, connection)

    def _bought(self, path: str, content_type: str, body: bytes | Iterable[bytes], connection: Connection) -> Done:
        headers = {"Content-Type": content_type}
        call = self.call("POST", path, paid=True, headers=headers, body=body, max_bytes=MAX_ANSWER_BYTES)
        return bought(call, connection, data_items)


def _fields(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in body.items()]


def _uploads(upstream: UpstreamRequest, folder: Path, connection: Connection) -> list[Upload]:
    found = inline.pictures([part.image for part in upstream.files], folder, connection)
    return [
        Upload(
            field=part.field,
            name=f"image-{index}.{picture.content_type.removeprefix('image/')}",
            content_type=picture.content_type,
            path=picture.path,
        )
        for index, (part, picture) in enumerate(zip(upstream.files, found, strict=True))
    ]
