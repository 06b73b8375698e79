"""From the body of `POST /v1/tasks` to its draft, for its view and for the front."""

from typing import Any

from common import strict_json
from common.errors import ApiError
from common.http import rates
from tasks.gate import Admission
from tasks.intake import examination, submission
from tasks.intake.drafts import Draft


def draft(admission: Admission, document: dict[str, Any], *, idempotency_key: str | None) -> Draft:
    """The checks from fields to pricing; Data URLs are stored. Raises the ApiError of the first that fails."""
    version, caller = admission.service.catalog_version, admission.caller
    prepared = examination.prepare(caller.key_id, document, catalog_version=version)
    digest = strict_json.digest_of(document)
    return submission.draft(prepared, caller=caller, body_digest=digest, idempotency_key=idempotency_key)


def plain(admission: Admission, raw: bytes, *, idempotency_key: str | None) -> Draft | None:
    """The draft of a body with which nothing is wrong, counted as a submission. None, and nothing has happened, where
    the view has to say something: it goes through the checks in their order."""
    caller = admission.caller
    may = not (admission.replay or admission.service.is_paused or caller.is_subscription)
    if not may or not rates.has_left("submit", caller.key_id):
        return None
    try:
        found = draft(admission, strict_json.loads_object(raw), idempotency_key=idempotency_key)
        rates.check("submit", caller.key_id)
    except ApiError:
        return None
    return found
