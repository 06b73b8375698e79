"""Step 7: a submission before it is a row: prepared when its checks have passed, then a draft, ready to be written."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.conf import settings

from accounts.authentication import Caller
from adapters.base import StoredFile, TaskRequest
from billing.pricing import Price
from catalog.entries import ModelEntry
from catalog.routing import Decision
from common import ids, sql
from common.errors import StorageUnavailable
from storage import backends, blobs
from tasks import route_sets
from tasks.assets import stored_inputs
from tasks.intake import columns
from tasks.origins import Origin
from tasks.request import stored_params
from tasks.request.values import ReferredFile, SubmissionBody, UnstoredFile


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSubmission:
    """A valid submission that is routed and priced; nothing is stored yet."""

    body: SubmissionBody
    model: ModelEntry
    request: TaskRequest
    decision: Decision
    price: Price


@dataclass(frozen=True, kw_only=True)
class Draft:
    """One submission of a caller, ready to be written. `files` are the stored files of its Data URLs and uploads;
    `option_bytes` count large options, which are inputs too (`tasks/assets/stored_inputs.py`), and `input_bytes` both.
    `asked` are words of the client that the Videos API shows as they came. `copied` are columns that a retry takes from
    the old task."""

    caller: Caller
    prepared: PreparedSubmission
    task_id: str
    route_set_id: int
    body_digest: str
    idempotency_key: str | None
    files: Sequence[StoredFile] = ()
    option_bytes: int = 0
    input_bytes: int = 0
    origin: Origin = "async"
    asked: Mapping[str, str] = field(default_factory=dict)
    copied: Mapping[str, Any] = field(default_factory=dict)
    made_at: float = field(default_factory=time.monotonic, compare=False)

    @property
    def price(self) -> Mapping[str, Any]:
        return self.prepared.price.snapshot()

    @property
    def queue_seconds(self) -> int:
        return settings.TASK_DEADLINES["queue"]

    @property
    def params(self) -> Mapping[str, Any]:
        return stored_params.dump(self.prepared.request)

    @property
    def trace(self) -> Mapping[str, Any]:
        """Why each route was kept or skipped."""
        decision = self.prepared.decision
        trace = {"plan": decision.plan.name, "routes": decision.trace}
        return {**trace, "asked": dict(self.asked)} if self.asked else trace

    @cached_property
    def row(self) -> str:
        """All that is written of it but for what the transaction adds, as `sql.packed`; what was copied from an old
        task stands for what the draft says. It is made once, and for most drafts before their account is locked, for
        which others wait."""
        row = dict(zip(columns.NAMES, columns.values(self), strict=True))
        return sql.packed({**row, **self.copied}, documents=columns.JSON)

    def discard_inputs(self) -> None:
        """Delete the Data URLs of one that became no task."""
        stored_inputs.discard(self.files)


def draft(
    prepared: PreparedSubmission,
    *,
    caller: Caller,
    body_digest: str,
    idempotency_key: str | None,
    origin: Origin = "async",
    asked: Mapping[str, str] | None = None,
    copied: Mapping[str, Any] | None = None,
) -> Draft:
    """Store the Data URLs and find the route set. Raises StorageUnavailable."""
    backends.health().check()
    route_set_id = route_sets.identify(frozenset(kept.route.id for kept in prepared.decision.kept))
    request, files = prepared.request, list[StoredFile]()
    file_bytes = option_bytes = 0
    if request.images or request.inputs:
        request, files = _stored_inputs(request)
        prepared, file_bytes = replace(prepared, request=request), sum(file.size_bytes for file in files)
    if request.extra_body or request.provider_options:
        option_bytes = stored_inputs.bytes_of_options(request)
    made = Draft(
        caller=caller,
        prepared=prepared,
        task_id=ids.new_task_id(),
        route_set_id=route_set_id,
        body_digest=body_digest,
        idempotency_key=idempotency_key,
        files=files,
        option_bytes=option_bytes,
        input_bytes=option_bytes + file_bytes,
        origin=origin,
        asked=asked or {},
        copied=copied or {},
    )
    if not option_bytes:
        made.row  # noqa: B018  # now, when nobody waits for the account; megabytes are not kept twice while it waits
    return made


def _stored_inputs(request: TaskRequest) -> tuple[TaskRequest, list[StoredFile]]:
    """The request with its Data URLs stored, and the files that are its own. Raises StorageUnavailable."""
    if unstored := stored_params.unstored(request):
        request = stored_params.with_files(request, _stored(unstored))
    return request, [file for file in request.stored_files if not isinstance(file, ReferredFile)]


def _stored(found: Iterable[UnstoredFile]) -> list[StoredFile]:
    """All of them, or none."""
    files: list[StoredFile] = []
    try:
        for file in found:
            files.append(blobs.put_input(file.content, file.content_type))
    except StorageUnavailable:
        stored_inputs.discard(files)
        raise
    return files
