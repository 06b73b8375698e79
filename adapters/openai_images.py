"""The OpenAI Images protocol: one synchronous paid call that answers with the pictures.

Generations go out as JSON, edits as multipart with the reference images as files. `openai_request` is the pure half.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Literal

from adapters import openai_request, references, rules
from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Output,
    Pending,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)
from adapters.faults import NOT_HERE, Verdict
from adapters.http import Call, calling, error_of
from adapters.multipart import Multipart, Upload
from adapters.outputs import is_url, open_output
from adapters.spool import Spool
from common.deadline import Deadline

MAX_ANSWER_BYTES = 512 * 1024 * 1024
REFERENCE_SECONDS = 120.0
CAPABILITIES = {
    "tiers": rules.NAMES,
    "ratios": rules.NAMES,
    "size_table": rules.SIZE_TABLE,
    "max_n": rules.POSITIVE,
    "max_images": rules.COUNT,
    "prompt_max": rules.POSITIVE,
}
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


class OpenAIImages:
    """Adapter of `openai_images`."""

    protocol: ClassVar[str] = "openai_images"
    modality: ClassVar[str] = "image"
    is_async: ClassVar[bool] = False
    submit_safety: ClassVar[Literal["none", "idempotency_key", "lookup"]] = "none"
    poll_batch: ClassVar[int] = 1

    def validate(self, target: Target) -> list[str]:
        return rules.complaints(target, capabilities=CAPABILITIES, options=OPTIONS)

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(openai_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return openai_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        if upstream.encoding == "json":
            body = json.dumps(upstream.body).encode()
            return _bought(upstream.path, "application/json", body, connection)
        with tempfile.TemporaryDirectory(prefix="references-", dir=connection.scratch_dir) as folder:
            form = Multipart(_fields(upstream.body), _uploads(upstream, Path(folder), connection))
            return _bought(upstream.path, form.content_type, form, connection)

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        raise NotImplementedError("a synchronous protocol has nothing to poll")

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        return False

    def open_output(self, output: Output, connection: Connection) -> AbstractContextManager[Iterator[bytes]]:
        return open_output(output, connection)


def _bought(path: str, content_type: str, body: bytes | Iterable[bytes], connection: Connection) -> Done:
    """The paid call. A partial answer counts; one without a single picture is an EMPTY_RESULT."""
    call = Call(
        method="POST",
        path=path,
        codes=CODES.get,
        paid=True,
        headers={"Content-Type": content_type},
        body=body,
        max_bytes=MAX_ANSWER_BYTES,
    )
    with calling(call, connection) as reply, Spool(connection.scratch_dir) as spool:
        document = spool.read(reply.chunks)
        items = document.get("data") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise error_of(document, reply, call, connection)
        outputs = tuple(_outputs(items, spool))
    if not outputs:
        raise UpstreamError(ErrorKind.EMPTY_RESULT, "the answer has no picture", http_status=reply.status)
    return Done(outputs=outputs)


def _outputs(items: list[Any], spool: Spool) -> Iterator[Output]:
    index = 0
    for item in items:
        fields = item if isinstance(item, dict) else {}
        encoded, url = fields.get("b64_json"), fields.get("url")
        if isinstance(encoded, str) and encoded and (path := spool.picture(encoded)):
            yield Output(index=index, kind="image", path=path)
        elif is_url(url):
            yield Output(index=index, kind="image", url=url)
        else:
            continue
        index += 1


def _fields(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in body.items()]


def _uploads(upstream: UpstreamRequest, folder: Path, connection: Connection) -> list[Upload]:
    uploads = []
    with Deadline(min(REFERENCE_SECONDS, connection.total_timeout)) as deadline:
        for index, part in enumerate(upstream.files):
            path = folder / str(index)
            kind = references.copy(part.image, path, connection, deadline)
            name = f"image-{index}.{kind}"
            uploads.append(Upload(field=part.field, name=name, content_type=f"image/{kind}", path=path))
    return uploads
