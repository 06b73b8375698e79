"""Step 1: authentication. Requests that come while a statement authenticates others go together into the next one
(`result`); those that are served in batches are authenticated by one statement of their batch (`results_of_batch`).

No key is remembered. What came of it travels with the request to its view, whose DRF authentication class
(`tasks_api/base_view.py`) raises it or takes it; a view that is called without the front asks itself.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from django.http import HttpRequest

from common.concurrency import promises, threads
from common.concurrency.gathering import Gathering
from common.errors import ScopeRequired
from common.http.asgi import Scope, is_below, joined
from tasks import gate
from tasks.gate import Admission, Caller, Knock
from tasks.origins import Origin

IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]{1,255}")

# The paths whose POST makes a task, by the API that it comes by.
SUBMISSIONS: dict[str, Origin] = {
    "/v1/tasks": "async",
    "/v1/videos": "videos",
    "/v1/images/generations": "sync",
    "/v1/images/edits": "sync",
}
# Below these, Task keys are let in; `/v1/images` has nothing but the two paths above.
VIDEOS = "/v1/videos"
ROOMS = ("/v1/tasks", VIDEOS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthResult:
    """What came of a request's credentials: its admission, or what its view has to raise."""

    outcome: Admission | Exception

    @property
    def admission(self) -> Admission:
        """Raises ApiDisabled, AuthenticationError, ScopeRequired, or what the database raised."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="authentication")
_waiting: Gathering[Knock, Admission] = Gathering(
    partial(threads.returning_connection, gate.admit_all), start=_thread.submit
)


async def admit(credentials: Knock) -> Admission:
    """Authenticate a request together with others. Raises what `gate.admit` raises."""
    share = threads.share.get()
    return await promises.awaited(_waiting.add(credentials, payer=share.payer, member=share.member))


async def result(scope: Scope) -> AuthResult:
    """What came of the credentials of this request."""
    try:
        return AuthResult(outcome=await admit(credentials(scope)))
    except Exception as error:
        return AuthResult(outcome=error)


def results_of_batch(scopes: Sequence[Scope]) -> list[AuthResult]:
    """What came of each request's credentials, by one statement on this thread. Where the database fails, each view
    says so."""
    outcomes: Sequence[Admission | Exception]
    try:
        outcomes = gate.admit_all([credentials(scope) for scope in scopes])
    except Exception as error:
        outcomes = [error] * len(scopes)
    return [AuthResult(outcome=outcome) for outcome in outcomes]


def credentials(scope: Scope) -> Knock:
    """The raw Authorization of a request, and the Idempotency-Key of a submission where it is a valid one."""
    sent = joined(scope["headers"], b"idempotency-key") if is_submission(scope["method"], scope["path"]) else ""
    return Knock(
        authorization=joined(scope["headers"], b"authorization"),
        idempotency_key=sent if IDEMPOTENCY_KEY.fullmatch(sent) else None,
    )


def is_submission(method: str, path: str) -> bool:
    return method == "POST" and path in SUBMISSIONS


def is_of_tasks(path: str) -> bool:
    """Whether a Task key is asked for."""
    return path in SUBMISSIONS or any(path.startswith(f"{room}/") for room in ROOMS)


def refuse_without_scope(path: str, caller: Caller) -> None:
    """Raises ScopeRequired for a path of the Videos API and a key for which no operator has opened that."""
    if is_below(path, VIDEOS) and not caller.has_videos:
        raise ScopeRequired("This key is not enabled for /v1/videos; the operator of this service can enable it.")


def admission(request: HttpRequest) -> Admission:
    """The admission of a request that is at its view: what the front has found, else asked for here.

    Raises ApiDisabled, AuthenticationError, ScopeRequired.
    """
    found: AuthResult | None = getattr(request, "auth_result", None)
    if found is not None:
        return found.admission
    sent = request.headers.get("Idempotency-Key", "")
    is_key = is_submission(str(request.method), request.path) and IDEMPOTENCY_KEY.fullmatch(sent)
    return gate.admit(request.headers.get("Authorization"), idempotency_key=sent if is_key else None)
