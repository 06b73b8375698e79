"""A task that is submitted again as a new one, which is linked to it by `retry_of`: its request, on the routes that the
catalog has now, at its frozen price (`tasks/unknown/resolve.py`) or at that of today (`tasks/again.py`)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.db import transaction

from accounts.authentication import Caller
from adapters.base import ImageRef, StoredFile, TaskRequest
from billing import ledger
from billing.pricing import Price
from catalog import routing, snapshot
from catalog.entries import ModelEntry
from common.documents import Unreadable
from common.errors import ApiError, StorageUnavailable
from pages import words
from storage import blobs
from tasks.assets import inputs
from tasks.assets.inputs import InputGone
from tasks.intake import columns, drafts, examination, limits, submission
from tasks.intake.drafts import Draft, PreparedSubmission
from tasks.locks import lock_tasks
from tasks.models import LIVE, Task
from tasks.request import stored_params
from tasks.request.values import ReferredFile, SubmissionBody, UnstoredFile
from tasks.unknown.open_calls import Refused


class Gone(Exception):
    """What the task was made of is not there any more; the message is for the operator."""


def draft(task: Task, *, secret_id: int, agreed_price: Price | None) -> Draft:
    """Stores copies of the task's Data URLs; `secret_id` signs its callback. Without an agreed price it is today's.
    Raises Refused."""
    with _in_words():
        judged = _judged(task, agreed_price)
        prepared = replace(judged, request=_with_copies(judged.request))
        return drafts.draft(
            prepared,
            caller=_caller(task, secret_id),
            body_digest=task.body_digest,
            idempotency_key=None,
            copied=columns.of_retry(task),
        )


def price_today(task: Task) -> Price:
    """What it would cost as a submission of now; nothing is stored. Raises Refused."""
    with _in_words():
        return _judged(task, None).price


@contextmanager
def _in_words() -> Iterator[None]:
    """Raises Refused for what keeps the task from being submitted again."""
    try:
        yield
    except InputGone as gone:
        raise Refused("An own asset that the request takes as an input was deleted.") from gone
    except StorageUnavailable as away:
        raise Refused("Asset storage is unavailable, or an input that it held is gone.") from away
    except (ApiError, Gone) as refusal:
        raise Refused(str(refusal)) from refusal


def nothing(new_id: str) -> None:
    """Nothing else is written with the new task."""


def submit(task: Task, new: Draft, *, shown_micros: int | None = None, also: Callable[[str], None] = nothing) -> str:
    """Write the new task if limits and balance allow, and what `also` writes, which gets its id; returns that.

    Not while another retry lives: a double click buys once. Not at another price than the one that was shown, where one
    was. Raises Refused; then nothing is left of the draft.
    """
    try:
        _refuse_other_price(new.prepared.price.estimate_micros, shown_micros)
        with transaction.atomic():
            lock_tasks([task.id])
            _refuse_twice(task.id)
            accounts = ledger.lock_accounts([task.account_id])
            standing = limits.read_standing([new], accounts)
            (refusal,) = limits.decide([new], accounts, standing)
            if isinstance(refusal, ApiError):
                raise Refused(refusal.message)
            submission.insert([new], standing)
            also(new.task_id)
    except BaseException:
        new.discard_inputs()
        raise
    return new.task_id


def _refuse_other_price(micros: int, shown_micros: int | None) -> None:
    """The catalog may have changed since somebody looked."""
    if shown_micros is not None and shown_micros != micros:
        raise Refused(f"It costs {words.usd(micros)} now, and not {words.usd(shown_micros)}. Load this page anew.")


def _refuse_twice(task_id: str) -> None:
    """A second retry only after the first has ended."""
    if live := live_retry(task_id):
        raise Refused(f"A retry of it is {live.status}: {live.id}.")


def live_retry(task_id: str) -> Task | None:
    """The retry of this task that has not ended yet."""
    found: Task | None = Task.objects.filter(retry_of=task_id, status__in=LIVE).first()
    return found


def frozen_price(task: Task) -> Price:
    """What was agreed when the task was submitted. Raises Refused."""
    try:
        return Price.frozen(task.price)
    except Unreadable as error:
        raise Refused(f"This version cannot read the task: {error}.") from error


def _judged(task: Task, agreed_price: Price | None) -> PreparedSubmission:
    """With the stored files of the old task, of which a new one needs copies. Where a price was agreed, only routes
    that buy what it is for are kept.

    Raises Gone, InputGone, StorageUnavailable and what `routing.decide` and `examination.priced` raise.
    """
    payload = getattr(task, "payload", None)
    stored = payload and payload.params
    if stored is None:
        raise Gone("The params of this task were deleted at the end of their retention.")
    request = _asked(task, stored)
    inputs.fresh(request)
    model, judged = _model(task), inputs.with_upload_urls(inputs.judged(request), task.pk)
    wanted = agreed_price.bought if agreed_price else None
    catalog = snapshot.latest()
    decision = routing.decide(routing.survey(catalog.resolved(task.key_id, model), judged, wanted=wanted))
    terms = examination.terms(catalog, model, decision.plan)
    price = agreed_price or examination.priced(terms, decision, request)
    return PreparedSubmission(body=_body(task, stored), model=model, request=request, decision=decision, price=price)


def _asked(task: Task, stored: object) -> TaskRequest:
    try:
        return stored_params.load_to_buy(task.modality, stored)
    except Unreadable as error:
        raise Gone(f"This version cannot read the task: {error}.") from error


def _model(task: Task) -> ModelEntry:
    for model in snapshot.latest().models():
        if model.id == task.media_model_id and model.enabled:
            return model
    raise Gone(f"The model {task.model_name} is gone or disabled.")


def _caller(task: Task, secret_id: int) -> Caller:
    """Balance and billing are looked at when the accounts are locked."""
    return Caller(
        key_id=task.key_id,
        secret_id=secret_id,
        account_id=task.account_id,
        is_subscription=False,
        balance_micros=0,
        held_micros=0,
        max_queued=task.key.max_queued,
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


def _copy(stored: StoredFile) -> StoredFile:
    """A result that was referred to stays where it is."""
    if isinstance(stored, ReferredFile):
        return stored
    with blobs.open(stored.key) as file:
        return UnstoredFile.of(file.read(), stored.content_type)
