"""A submission before it is a row: prepared when its checks have passed, then a draft that is ready to be written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.conf import settings

from adapters.base import StoredFile, TaskRequest
from billing.pricing import Price
from catalog.entries import ModelEntry
from catalog.routing import Decision
from common import sql
from tasks.gate import Caller
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
    """One submission of a caller, ready to be written. `files` it stored of its Data URLs, and of uploads;
    `option_bytes` are those of large options, which are inputs, too (tasks/assets/stored_inputs.py), and `input_bytes`
    those of both. `asked` are words of the client that its front shows as they came."""

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

    @property
    def owes_callback(self) -> bool:
        return self.prepared.body.callback_url is not None

    @cached_property
    def row(self) -> str:
        """All that is written of it but for what the transaction adds, as `sql.packed`. It is made once, and for most
        drafts before their account is locked, for which others wait."""
        prepared, decision = self.prepared, self.prepared.decision
        trace = {"plan": decision.plan.name, "routes": decision.trace}
        return sql.packed(
            {
                "id": self.task_id,
                "key": self.caller.key_id,
                "secret": self.caller.secret_id,
                "account": self.caller.account_id,
                "max_queued": self.caller.max_queued,
                "origin": self.origin,
                "model_name": prepared.body.model,
                "media_model": prepared.model.id,
                "modality": prepared.model.modality,
                "route_set": self.route_set_id,
                "idempotency_key": self.idempotency_key,
                "body_digest": self.body_digest,
                "deadline": settings.TASK_DEADLINES["queue"],
                "callback_url": prepared.body.callback_url,
                "metadata": sql.document(prepared.body.metadata),
                "input_bytes": self.input_bytes,
                "params": sql.document(stored_params.dump(prepared.request)),
                "estimated": prepared.price.estimate_micros,
                "price": sql.document(prepared.price.snapshot()),
                "trace": sql.document({**trace, "asked": dict(self.asked)} if self.asked else trace),
            }
        )
