"""The values a submission is made of, before it is a row."""

from dataclasses import dataclass

from billing.pricing import Price
from catalog.routing import Decision
from catalog.snapshot import ModelEntry
from tasks.gate import Caller
from tasks.request.body import SubmissionBody
from tasks.request.params import Parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A valid submission that is routed and priced; nothing is stored yet."""

    caller: Caller
    body: SubmissionBody
    model: ModelEntry
    parsed: Parsed
    decision: Decision
    price: Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One submission ready to be written."""

    plan: Plan
    task_id: str
    route_set_id: int
    body_digest: str
    idempotency_key: str | None
