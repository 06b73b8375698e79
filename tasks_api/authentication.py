"""Step 2: authentication. Requests that come while a statement authenticates others go together into the next one
(`result`); those that are served in batches are authenticated by one statement of their batch (`results_of_batch`).

No key is remembered. What came of it travels with the request to its view, where `TaskKeyAuthentication` raises it
or takes it; a view that is called without the front asks itself.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.authentication import Admission, Caller, Credentials, admit_all, digest_of
from common.concurrency import promises, threads
from common.concurrency.gathering import Gathering
from common.errors import ScopeRequired
from common.http.asgi import Scope, is_below, joined
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


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="authentication")
_waiting: Gathering[Credentials, Admission] = Gathering(
    partial(threads.returning_connection, admit_all), start=_thread.submit
)


async def admit(credentials: Credentials) -> Admission:
    """Authenticate a request together with others. Raises ApiDisabled, AuthenticationError, ScopeRequired."""
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
        outcomes = admit_all([credentials(scope) for scope in scopes])
    except Exception as error:
        outcomes = [error] * len(scopes)
    return [AuthResult(outcome=outcome) for outcome in outcomes]


async def caller_of(scope: Scope) -> Caller:
    """Authenticate a request that has no view, together with others. Raises what `admit` raises, ScopeRequired also for
    films where the key may not have them."""
    caller = (await admit(credentials(scope))).caller
    refuse_without_scope(scope["path"], caller)
    return caller


def credentials(scope: Scope) -> Credentials:
    """The digest of the secret, and the Idempotency-Key of a submission where it is a valid one."""
    headers = scope["headers"]
    key = joined(headers, b"idempotency-key") if scope["method"] == "POST" and scope["path"] in SUBMISSIONS else ""
    return Credentials(
        digest=digest_of(joined(headers, b"authorization")),
        idempotency_key=key if IDEMPOTENCY_KEY.fullmatch(key) else None,
    )


def is_of_tasks(path: str) -> bool:
    """Whether a Task key is asked for."""
    return path in SUBMISSIONS or any(path.startswith(f"{room}/") for room in ROOMS)


def refuse_without_scope(path: str, caller: Caller) -> None:
    """Raises ScopeRequired for a path of the Videos API and a key for which no operator has opened that."""
    if is_below(path, VIDEOS) and not caller.has_videos:
        raise ScopeRequired("This key is not enabled for /v1/videos; the operator of this service can enable it.")


class TaskKeyAuthentication(BaseAuthentication):
    """Gives the caller as `request.user` and the admission as `request.auth`: as the front has found them, else asked
    for here."""

    def authenticate(self, request: Request) -> tuple[Caller, Admission]:
        """Raises ApiDisabled, AuthenticationError, ScopeRequired, or what the database raised."""
        found: AuthResult | None = getattr(request._request, "auth_result", None)
        outcome = found.outcome if found else admit_all([_credentials_at_view(request._request)])[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome.caller, outcome


def _credentials_at_view(request: HttpRequest) -> Credentials:
    """The credentials of a request that was called without the front."""
    names = ("Authorization", "Idempotency-Key")
    headers = [(name.lower().encode(), request.headers.get(name, "").encode("latin-1", "replace")) for name in names]
    return credentials({"method": request.method, "path": request.path, "headers": headers})
