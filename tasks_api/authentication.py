"""Step 2 for many requests: those that come while a statement lets others in are let in by the next one, together.

No key is remembered. What a request was let in with is handed to its view, which would ask itself otherwise.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from rest_framework.request import Request

from common.concurrency import promises, threads
from common.concurrency.gathering import Gathering
from common.http.asgi import Scope, joined
from tasks import gate
from tasks.gate import Admission, Knock
from tasks_api import submission_paths

IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]{1,255}")
HANDED = "darkroom.admission"  # its name in WSGI's environ


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What came of a knock: the admission, or what the view has to raise."""

    knock: Knock
    outcome: Admission | Exception


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="admission")
_knocks: Gathering[Knock, Admission] = Gathering(
    partial(threads.returning_connection, gate.admit_all), start=_thread.submit
)


async def admit(knock: Knock) -> Admission:
    """As `gate.admit`."""
    share = threads.share.get()
    return await promises.awaited(_knocks.add(knock, payer=share.payer, member=share.member))


async def handed(scope: Scope) -> Handed:
    """What to give to the view of this request."""
    knock = knock_of(scope)
    try:
        return Handed(knock=knock, outcome=await admit(knock))
    except Exception as error:
        return Handed(knock=knock, outcome=error)


def handed_all(scopes: Sequence[Scope]) -> list[Handed]:
    """The same for many requests at once, on this thread. Where the database fails, each view says so, as one alone
    would."""
    knocks = [knock_of(scope) for scope in scopes]
    outcomes: Sequence[Admission | Exception]
    try:
        outcomes = gate.admit_all(knocks)
    except Exception as error:
        outcomes = [error] * len(knocks)
    return [Handed(knock=knock, outcome=outcome) for knock, outcome in zip(knocks, outcomes, strict=True)]


def knock_of(scope: Scope) -> Knock:
    """The request's, with the Idempotency-Key of a submission, unless its view will refuse that."""
    is_submission = submission_paths.is_submission(scope["method"], scope["path"])
    sent = joined(scope["headers"], b"idempotency-key") if is_submission else ""
    return Knock(
        authorization=joined(scope["headers"], b"authorization"),
        idempotency_key=sent if IDEMPOTENCY_KEY.fullmatch(sent) else None,
    )


def of(request: Request, *, idempotency_key: str | None = None) -> Admission:
    """The admission of a view's request. Raises what `gate.admit` raises, and ScopeRequired by its path."""
    admission = _of(request, idempotency_key)
    submission_paths.refuse_without_scope(request.path, admission.caller)
    return admission


def _of(request: Request, idempotency_key: str | None) -> Admission:
    given: Handed | None = request.META.get(HANDED)
    if given is None or given.knock.idempotency_key != idempotency_key:
        return gate.admit(request.headers.get("Authorization"), idempotency_key=idempotency_key)
    if isinstance(given.outcome, Exception):
        raise given.outcome
    return given.outcome
