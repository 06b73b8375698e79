"""Submission of a form as one task: the form carries an idempotency key, so a double click finds the first task."""

import secrets
from dataclasses import dataclass

from accounts import authentication
from accounts.authentication import Admission, Replay
from common import strict_json
from common.errors import ApiError, BillingUnsupported, InvalidRequest
from common.http import rates
from console.create import document
from console.create.document import PostedForm
from console.create.fields import ModelForm
from pages import words
from tasks.intake import drafts, examination, submission
from tasks.intake.submission import Created

PREFIX = "console-"
LONGEST_KEY = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Task of a form. `is_other`: the form was sent before and has changed since."""

    task_id: str
    is_other: bool = False


def new_key() -> str:
    """Create an idempotency key for a form."""
    return f"{PREFIX}{secrets.token_urlsafe(24)}"


def key_of(text: str) -> str:
    """Return the form's idempotency key, or a new one if it is not ours."""
    return (
        text
        if text.startswith(PREFIX) and len(text) <= LONGEST_KEY and text.isascii() and text.isprintable()
        else new_key()
    )


def send(
    admission: Admission,
    form: ModelForm,
    posted: PostedForm,
    *,
    key: str,
    places: dict[str, str],
    shown_cost: str | None,
) -> Sent:
    """Submit a form with the API's checks in their order. `admission` belongs to this idempotency key; `places` as in
    `document.build`; `shown_cost` is the price on the button, None without a page. Raises ApiError; then nothing was
    stored."""
    caller = admission.caller
    if admission.replay:
        rates.check("replay", caller.key_id)
        return _replayed(admission.replay, _digest(document.build(form, posted, places)))
    rates.check("submit", caller.key_id)
    if admission.service.is_paused:
        raise authentication.paused(admission.service)
    if caller.is_subscription:
        raise BillingUnsupported()
    body = document.build(form, posted, places)
    prepared = examination.prepare(caller.key_id, body, catalog_version=admission.service.catalog_version)
    _agree(prepared.price.estimate_micros, shown_cost)
    draft = drafts.draft(prepared, caller=caller, body_digest=_digest(body), idempotency_key=key)
    match submission.submit_one(draft):
        case ApiError() as error:
            raise error
        case Replay() as replay:
            return _replayed(replay, draft.body_digest)
        case Created(task_id=task_id):
            return Sent(task_id=task_id)


def _agree(estimate_micros: int, shown_cost: str | None) -> None:
    """Raise InvalidRequest if the page showed another price, because the price or the form just changed."""
    cost = words.usd(estimate_micros)
    if shown_cost not in (None, cost):
        raise InvalidRequest(
            f"The price is {cost}, but the page showed {shown_cost or 'no price'}. Run it again to accept it."
        )


def _digest(body: dict[str, object]) -> str:
    return strict_json.digest_of(document.with_files_as(body, lambda file: file.sha256))


def _replayed(replay: Replay, digest: str) -> Sent:
    return Sent(task_id=replay.task_id, is_other=replay.body_digest != digest)
