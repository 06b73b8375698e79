"""A submission before it is a row: prepared when its checks have passed, then a draft that is ready to be written."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.conf import settings

from adapters.base import StoredFile, TaskRequest
from billing.pricing import Price
from catalog.entries import ModelEntry
from catalog.routing import Decision
from tasks.gate import Caller
from tasks.intake import columns
from tasks.origins import Origin
from tasks.request import stored_params
from tasks.request.values import SubmissionBody


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
    def owes_callback(self) -> bool:
        return self.prepared.body.callback_url is not None

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
        """All that is written of it but for what the transaction adds, as `sql.packed`. It is made once, and for most
        drafts before their account is locked, for which others wait."""
        return columns.packed(self, self.copied)
