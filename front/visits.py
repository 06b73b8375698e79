"""What the front asks of the console: whose a session's cookie is, and the stream of who is signed in."""

from front import django_application  # noqa: F401, I001  # loads the apps, without which nothing below can be imported
from functools import partial

from common.concurrency import threads
from common.http.asgi import Scope
from common.errors import ApiDisabled, AuthenticationError, ScopeRequired
from console import sessions, stream
from tasks_api import stream as task_stream

ROOT, STREAM = sessions.PATH, stream.PATH
application = partial(task_stream.serve, admit=stream.admitted, heartbeat=stream.heartbeat())


def digest_of(scope: Scope) -> str:
    """What a process knows the account of a session by."""
    return sessions.digest(stream.token_of(scope))


async def account_of(scope: Scope) -> int | None:
    """The account that is signed in."""
    return await threads.call(_account, scope)


def _account(scope: Scope) -> int | None:
    try:
        return sessions.authenticate(stream.token_of(scope)).caller.account_id
    except (ApiDisabled, AuthenticationError, ScopeRequired):
        return None
