"""A task that is submitted again: its request and frozen price, on the routes that the catalog has now."""

from dataclasses import replace
from typing import Any

from adapters.base import Billed, ImageRef, StoredFile, TaskRequest
from billing.pricing import Price
from catalog import routing, snapshot
from catalog.entries import ModelEntry
from common.documents import Unreadable
from storage import blobs
from tasks.assets import inputs
from tasks.drafts import PreparedSubmission
from tasks.gate import Caller
from tasks.models import Task
from tasks.request import stored_params
from tasks.request.values import SubmissionBody, UnstoredFile


class Gone(Exception):
    """What the task was made of is not there any more; the message is for the operator."""


def prepared(task: Task) -> PreparedSubmission:
    """Only routes that buy what the price was agreed for are kept.

    Raises Gone, InputGone, StorageUnavailable and what `routing.decide` raises.
    """
    stored = task.payload.params
    if stored is None:
        raise Gone("The params of this task were deleted at the end of their retention.")
    request, price = _asked(task, stored)
    inputs.fresh(request)
    model, judged = _model(task), inputs.with_upload_urls(request, task.pk)
    survey = routing.survey(snapshot.latest(), key_id=task.key_id, model=model, request=judged, wanted=agreed(price))
    return PreparedSubmission(
        body=_body(task, stored),
        model=model,
        request=_with_copies(request),
        decision=routing.decide(survey),
        price=price,
    )


def _asked(task: Task, stored: object) -> tuple[TaskRequest, Price]:
    try:
        return stored_params.load_to_buy(task.modality, stored), Price.frozen(task.price)
    except Unreadable as error:
        raise Gone(f"This version cannot read the task: {error}.") from error


def agreed(price: Price) -> Billed | None:
    """What a route must buy for this price; None where the price is of the request, whatever it buys."""
    if price.mode == "per_request":
        return None
    return Billed(count=price.quantity if price.mode == "image_matrix" else 1, tier=price.tier)


def _model(task: Task) -> ModelEntry:
    for model in snapshot.latest().models():
        if model.id == task.media_model_id and model.enabled:
            return model
    raise Gone(f"The model {task.model_name} is gone or disabled.")


def caller(task: Task) -> Caller:
    """Balance and billing are looked at when the accounts are locked."""
    return Caller(
        key_id=task.key_id,
        secret_id=task.secret_id,
        account_id=task.account_id,
        is_subscription=False,
        balance_micros=0,
        held_micros=0,
    )


def _body(task: Task, stored: dict[str, Any]) -> SubmissionBody:
    return SubmissionBody(
        model=task.model_name,
        modality=task.modality,
        params=stored,
        metadata=task.metadata,
        callback_url=task.callback_url,
    )


def _with_copies(request: TaskRequest) -> TaskRequest:
    """The request with copies of its Data URLs and uploads: those of the old task go with the old task's payload."""
    copied = request.with_pictures(lambda i: i if i.stored is None else ImageRef(stored=_copy(i.stored)))
    elements = (i if i.stored is None else replace(i, stored=_copy(i.stored)) for i in request.inputs)
    return replace(copied, inputs=tuple(elements))


def _copy(stored: StoredFile) -> UnstoredFile:
    with blobs.open(stored.key) as file:
        return UnstoredFile.of(file.read(), stored.content_type)
