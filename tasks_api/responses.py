"""Responses of views that show a task, one that exists or one that has yet to be written, and what they say."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from rest_framework.response import Response

from accounts.authentication import Replay
from common import moments
from common.errors import ApiError, TaskNotFound
from common.money import usd
from tasks.intake import submission
from tasks.intake.drafts import Draft, PreparedSubmission
from tasks.intake.submission import Created, Outcome
from tasks.shown import representation


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The body and the headers of the answer."""

    status: int = 202
    document: Mapping[str, Any]
    headers: Mapping[str, str]


def receipt_of(draft: Draft, outcome: Outcome) -> Receipt:
    """What `POST /v1/tasks` answers. Raises the outcome where it is an error. Only a replay asks the database."""
    match outcome:
        case ApiError():
            raise outcome
        case Replay():
            is_same_body = outcome.body_digest == draft.body_digest
            return replayed(draft.caller.key_id, outcome.task_id, is_same_body=is_same_body)
        case Created():
            return _receipt(_created(draft.prepared, outcome))


def _created(prepared: PreparedSubmission, outcome: Created) -> dict[str, Any]:
    """The six fields of a new task, as `representation.submission` gives those of an existing one."""
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


MakeReceipt = Callable[[Draft, Outcome], Receipt]
"""Makes the receipt of a draft by what came of it. Raises ApiError; only a replay may ask the database."""


def release(response: HttpResponse) -> None:
    """Take apart what refers to itself of a response that is rendered: else view, request and response, with all that
    was sent, wait for Python's search for cycles."""
    context: dict[str, Any] = getattr(response, "renderer_context", None) or {}
    if context:
        context["request"].parser_context.clear()
        vars(context["view"]).clear()
    context.clear()


class TaskResponse(Response):
    """The response that a receipt describes."""

    def __init__(self, receipt: Receipt | None = None) -> None:
        super().__init__()
        self.receipt: Receipt | None = None
        if receipt:
            self.show(receipt)

    def show(self, receipt: Receipt) -> None:
        self.receipt, self.data, self.status_code = receipt, receipt.document, receipt.status
        for name, value in receipt.headers.items():
            self.headers[name] = value


class PendingSubmission(TaskResponse):
    """What the view of a submission ends in: a draft, and how its outcome is answered.

    The front submits the draft together with others, waits for the outcome without a thread, and completes the
    response. Anybody else who renders it submits the draft alone.
    """

    renderer_context: dict[str, Any]  # DRF sets it once the view has returned
    outcome: "Future[Outcome]"  # the front sets it once the draft is in line; it comes committed

    def __init__(self, draft: Draft, make_receipt: MakeReceipt) -> None:
        super().__init__()
        self.draft = draft
        self._make_receipt = make_receipt

    def complete(self, outcome: Outcome | Exception) -> None:
        """Become the response to this outcome, rendered, with the headers that are set by now. Asks the database where
        the outcome is a replay."""
        try:
            if isinstance(outcome, Exception) and not isinstance(outcome, ApiError):
                raise outcome
            self.show(self._make_receipt(self.draft, outcome))
        except Exception as error:
            self._show_error(error)
        super().render()
        release(self)

    def _show_error(self, error: Exception) -> None:
        view = self.renderer_context["view"]
        refusal: Response = view.get_exception_handler()(error, self.renderer_context)
        self.data, self.status_code = refusal.data, refusal.status_code
        for name, value in refusal.headers.items():
            self.headers[name] = value

    def render(self) -> "PendingSubmission":
        if not self.is_rendered:
            try:
                outcome: Outcome | Exception = submission.submit_one(self.draft)
            except Exception as error:
                outcome = error
            self.complete(outcome)
        return self
