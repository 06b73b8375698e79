"""Steps 1 to 3, 8 and 9: serves the Task API. A request goes through four stages, each with others that wait for it:

- authentication: one statement for a batch (`tasks_api/authentication.py`);
- the task that it reads, if any: one statement for a batch;
- its DRF view, on a thread, which ends in a response or in a `PendingSubmission`;
- the draft of that is written together with others, and its outcome completes the response.

Short requests take the first three stages in batches: reads on one thread, submissions on another. Any other request is
authenticated first, and then its view has a thread of its account's share, for it may look up or store inputs, or read
much.
"""

import contextvars
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

from django.conf import settings
from django.db import OperationalError
from django.http import HttpResponse

from accounts.authentication import Admission, Replay
from common.concurrency import promises, threads
from common.concurrency.gathering import Gathering
from common.http.asgi import Answer, Scope
from common.http.front_body import Body
from common.ids import is_task_id
from front import django_application, page_headers
from front.error_responses import DatabaseAway
from storage import backends
from tasks.intake import submission
from tasks.shown import representation
from tasks.shown.representation import TaskView
from tasks_api import authentication, responses, waiting
from tasks_api.authentication import AuthResult
from tasks_api.responses import PendingSubmission

LARGEST_BATCH = 32  # a request waits for as many views at most, beside those of its own batch
SMALL_BYTES = 8 * 1024
# A body of more values is not short: what its view takes grows with them, up to 15 ms in 8 KiB.
MOST_VALUES = 200
# What may hold an input, in lower case: names and scheme are ASCII, and an escape of JSON may stand for any of it.
MAY_HOLD_INPUTS = re.compile(rb'"images"|"inputs"|data:|\\u00[3-7]')

TasksRead = Mapping[tuple[int, str], TaskView | Exception | None]
"""Tasks by key id and task id: None for no such task of that key, an error where they could not be read."""


@dataclass(frozen=True, kw_only=True)
class ApiCall:
    """A request with its body, and the context in which it came."""

    scope: Scope
    body: Body
    context: contextvars.Context

    @cached_property
    def task_id(self) -> str | None:
        """The task that it reads; None for every request of another kind."""
        match = waiting.TASK_PATH.fullmatch(self.scope["path"]) if self.scope["method"] in ("GET", "HEAD") else None
        return match[1] if match and is_task_id(match[1]) else None


def answers(scope: Scope) -> bool:
    """Whether the request is one of the Task API, of whichever front."""
    return authentication.is_of_tasks(scope["path"])


async def answer(scope: Scope, body: Body) -> Answer:
    """The whole answer. The body is closed."""
    response = await respond(scope, body)
    if isinstance(response, PendingSubmission):
        await complete(response)
    return answer_of(response)


async def respond(scope: Scope, body: Body) -> HttpResponse:
    """The response of the request's view; that of a submission has its draft in line, and is not complete. The body is
    closed."""
    call = ApiCall(scope=scope, body=body, context=contextvars.copy_context())
    if not (call.task_id or is_short_submission(scope, body)):
        return await _on_own_thread(call, await _authenticated(call))
    batches, share = _reads if call.task_id else _submissions, threads.share.get()
    work = batches.add(call, payer=share.payer, member=share.member)
    try:
        found = await promises.awaited(work)
    except BaseException:
        work.add_done_callback(lambda _: body.close())  # which the work may be reading
        raise
    if isinstance(found, AuthResult):
        return await _on_own_thread(call, found)
    body.close()
    return found


async def complete(pending: PendingSubmission) -> None:
    """Wait for the outcome, for which no thread is held, and complete the response with it. Where the client leaves, a
    draft whose turn has not come is taken back; else its task stands."""
    try:
        outcome = await promises.awaited(pending.outcome)
    except Exception as error:
        pending.complete(error)
        return
    if isinstance(outcome, Replay):
        await threads.call(pending.complete, outcome)
    else:
        pending.complete(outcome)


def answer_of(response: HttpResponse) -> Answer:
    own = page_headers.of_api(settings.PUBLIC_BASE_URL)
    return django_application.answer_of(response.status_code, response.items(), response.content, more=own)


def is_short_submission(scope: Scope, body: Body) -> bool:
    """Whether this is a submission whose view stores and looks up nothing, and takes no time, as far as its bytes
    tell."""
    if scope["method"] != "POST" or scope["path"] != "/v1/tasks" or body.size > SMALL_BYTES:
        return False
    content = body.file.read()
    body.file.seek(0)
    values = content.count(b",") + content.count(b"[") + content.count(b"{")
    return values <= MOST_VALUES and not MAY_HOLD_INPUTS.search(content.lower())


async def _authenticated(call: ApiCall) -> AuthResult | None:
    """None for a path that asks for no Task key."""
    if not answers(call.scope):
        return None
    try:
        return await authentication.result(call.scope)
    except BaseException:
        call.body.close()
        raise


async def _on_own_thread(call: ApiCall, result: AuthResult | None) -> HttpResponse:
    """Call the view on a thread of the account's share."""
    if result and isinstance(result.outcome, Admission):
        threads.share.set(threads.of_account(result.outcome.caller.account_id))
    await call.body.unfold()
    context = contextvars.copy_context()
    response = threads.executor.submit(context.run, threads.returning_connection, view, call, result)
    response.add_done_callback(lambda _: call.body.close())
    return await promises.awaited(response)


def view(call: ApiCall, result: AuthResult | None, tasks_read: TasksRead | None = None) -> HttpResponse:
    """Call the view of a request, with what was read for it. The draft of a submission is in line."""
    response = django_application.respond_of_api(call.scope, call.body, result, tasks_read or {})
    if isinstance(response, PendingSubmission):
        response.outcome = submission.add(response.draft)
    else:
        responses.release(response)
    return response


def serve_batch(batch: Sequence[ApiCall]) -> list[HttpResponse | AuthResult | Exception]:
    """The response of each; or what to go on with on a thread of its own. No connection is held while views compute."""
    results, tasks_read = threads.returning_connection(_read, batch)
    with submission.together():
        return threads.returning_connection(_serve, batch, results, tasks_read)


def _serve(
    batch: Sequence[ApiCall], results: Sequence[AuthResult], tasks_read: TasksRead
) -> list[HttpResponse | AuthResult | Exception]:
    """Once a view could not ask the database, those behind it are told so at once: nobody waits for it twice."""
    served: list[HttpResponse | AuthResult | Exception] = []
    is_away = False
    for call, result in zip(batch, results, strict=True):
        served.append(_served(call, AuthResult(outcome=OperationalError()) if is_away else result, tasks_read))
        is_away = is_away or isinstance(served[-1], DatabaseAway)
    return served


def _read(batch: Sequence[ApiCall]) -> tuple[list[AuthResult], TasksRead]:
    """Authenticate a batch and read its tasks. Where the database fails, its error stands in place of the rows, and
    each view makes its response of it."""
    results = authentication.results_of_batch([call.scope for call in batch])
    wanted = {
        (result.outcome.caller.key_id, call.task_id)
        for call, result in zip(batch, results, strict=True)
        if isinstance(result.outcome, Admission) and call.task_id
    }
    pairs = list(wanted)
    try:
        return results, dict(zip(pairs, representation.find_all(pairs), strict=True)) if pairs else {}
    except Exception as error:
        return results, dict.fromkeys(pairs, error)


def _served(call: ApiCall, result: AuthResult, tasks_read: TasksRead) -> HttpResponse | AuthResult | Exception:
    """The response of a short view. For any other the result of its authentication, with which it goes on to a thread
    of its own: a replay reads its task, and the asset store is asked for its health from time to time."""
    is_replay = isinstance(result.outcome, Admission) and result.outcome.replay
    if is_replay or not (call.task_id or backends.health().is_known()):
        return result
    try:
        return call.context.run(view, call, result, tasks_read)
    except Exception as error:
        return error


def _batches(name: str) -> "Gathering[ApiCall, HttpResponse | AuthResult]":
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
    return Gathering(serve_batch, start=thread.submit, most=LARGEST_BATCH)


_reads = _batches("reads")
_submissions = _batches("submissions")
