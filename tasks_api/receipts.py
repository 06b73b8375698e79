"""The answer to a submission that was accepted: a new task's, or the one that an Idempotency-Key already made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from common import moments
from common.errors import ApiError, TaskNotFound
from common.money import usd
from tasks.gate import Replay
from tasks.intake.drafts import Draft
from tasks.intake.submission import Created, Outcome
from tasks.shown import representation

SUBMIT = "darkroom.submit"  # the name in WSGI's environ of what takes a view's draft, and gives the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The body and the headers of the answer."""

    status: int = 202
    document: Mapping[str, Any]
    headers: Mapping[str, str]


Shown = Callable[[Draft, Outcome], Receipt]
"""What the answer to a draft is, by what came of it. Raises ApiError; only a replay may ask the database."""


def of(draft: Draft, outcome: Outcome) -> Receipt:
    """Raises the outcome where it is an error. Only a replay asks the database."""
    match outcome:
        case ApiError():
            raise outcome
        case Replay():
            is_same_body = outcome.body_digest == draft.body_digest
            return replayed(draft.caller.key_id, outcome.task_id, is_same_body=is_same_body)
        case Created():
            return _receipt(created(draft, outcome))


def created(draft: Draft, outcome: Created) -> dict[str, Any]:
    """The six fields of a new task, as `representation.submission` gives those of an existing one."""
    prepared = draft.prepared
    return {
        "id": outcome.task_id,
        "status": "queued",
        "modality": prepared.model.modality,
        "model": prepared.body.model,
        "created_at": moments.iso(outcome.created_at),
        "estimated_cost": usd(prepared.price.estimate_micros),
    }


def replayed(key_id: int, task_id: str, *, is_same_body: bool) -> Receipt:
    """Raises TaskNotFound."""
    task = representation.find_one(key_id, task_id)
    if task is None:
        raise TaskNotFound()
    return _receipt(representation.submission(task), told_of_replay(is_same_body=is_same_body))


def told_of_replay(*, is_same_body: bool) -> dict[str, str]:
    """The headers that say so."""
    return {"Idempotency-Replayed": "true"} | ({} if is_same_body else {"Idempotency-Body-Mismatch": "true"})


def _receipt(document: Mapping[str, Any], more: Mapping[str, str] | None = None) -> Receipt:
    headers = {"Location": f"/v1/tasks/{document['id']}", "Retry-After": "1", **(more or {})}
    return Receipt(document=document, headers=headers)
