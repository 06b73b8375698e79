"""Serves the synchronous image calls: asks their view for a task, waits for its end, and sends its pictures.

A call that waits is a future in `tasks/events/hub.py`; it costs neither a thread nor a database connection. Whatever
becomes of the call, its task goes its own way: only a client that leaves cancels one, while it is queued.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from functools import partial

from django.http import HttpResponse

from common.concurrency import threads
from common.errors import RateLimited, ServiceUnavailable, TaskTimeout
from common.http.asgi import Answer, Headers, Receive, Scope, Send, dialect_of, disconnected, error_answer
from common.http.front_body import Body
from common.process import shutdown
from front import error_responses, task_api
from tasks.events.hub import hub
from tasks_api import authentication, waiting
from tasks_api.openai import image_answers
from tasks_api.openai.image_answers import PictureAnswer
from tasks_api.openai.image_calls import AwaitedTask, ImageCall
from tasks_api.openai.images import ImageReceipt
from tasks_api.responses import PendingSubmission, TaskResponse

# From the request to the answer's first byte. OpenAI's SDKs give up after 600 s, and would ask again.
SYNC_SECONDS = 570.0
TASK_ID = "X-Task-Id"


def is_one(scope: Scope) -> bool:
    """Whether the request is a synchronous image call."""
    return scope["method"] == "POST" and authentication.SUBMISSIONS.get(scope["path"]) == "sync"


async def serve(scope: Scope, body: Body, receive: Receive, send: Send) -> None:
    """ASGI, of a request whose body is there. Nothing is sent to a client that has left."""
    call = ImageCall()
    work = asyncio.create_task(_answer(call, scope, body))
    leaving = asyncio.create_task(disconnected(receive))
    try:
        with _until_over(call):
            await asyncio.wait((work, leaving), timeout=SYNC_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done() and not work.done():
                call.leave()
                return
            answer = work.result() if work.done() else _late(call, scope)
        work.cancel()  # while a late answer is sent, it must not begin to wait
        if isinstance(answer, Answer):
            await answer.send(send)
        else:
            if call.task:
                threads.share.set(threads.of_account(call.task.account_id))
            await answer.send(send, leaving)
    finally:
        leaving.cancel()
        work.cancel()
        work.add_done_callback(_closed)


@contextmanager
def _until_over(call: ImageCall) -> Generator[None]:
    """Where the request itself is ended, its client has left; unless the process stops, and the task goes on."""
    try:
        yield
    except asyncio.CancelledError:
        if not shutdown.is_stopping():
            call.leave()
        raise
    finally:
        call.over()


async def _answer(call: ImageCall, scope: Scope, body: Body) -> Answer | PictureAnswer:
    """Whatever happens, an answer: one that could not be given may have a task, which it names."""
    try:
        found = await _awaited_task(call, scope, body)
        if isinstance(found, Answer):
            return _naming(found, call)
        threads.share.set(threads.of_account(found.account_id))
        return await _pictures(call, found)
    except Exception as raised:
        return _error(raised, call, scope)


async def _awaited_task(call: ImageCall, scope: Scope, body: Body) -> AwaitedTask | Answer:
    """The task to wait for, or the answer where there is none. The view goes on where the client leaves meanwhile, so
    that its draft can be taken back. Nothing is kept of the request, which may hold megabytes."""
    asked = asyncio.ensure_future(task_api.respond(scope, body))
    asked.add_done_callback(partial(_follow, call))
    response = await asyncio.shield(asked)
    if isinstance(response, PendingSubmission):
        await task_api.complete(response)
    receipt = response.receipt if isinstance(response, TaskResponse) else None
    return receipt.task if isinstance(receipt, ImageReceipt) else task_api.answer_of(response)


def _follow(call: ImageCall, asked: "asyncio.Future[HttpResponse]") -> None:
    if not asked.cancelled() and not asked.exception() and isinstance(pending := asked.result(), PendingSubmission):
        call.follow(pending.draft, pending.outcome)


async def _pictures(call: ImageCall, task: AwaitedTask) -> PictureAnswer:
    """Raises the ApiError that says what came of the task, or of waiting for it."""
    call.expect(task)
    call.begin(task)
    try:
        has_ended = task.has_ended or await _ended(task)
    except waiting.TooManyWaits:
        raise RateLimited("Too many calls of this API key wait for tasks that other calls have made.") from None
    if not has_ended:
        raise ServiceUnavailable("This process stops. The task goes on, and can be read by its id.")
    return await image_answers.of(task, _headers(call))


async def _ended(task: AwaitedTask) -> bool:
    """Whether it has ended, and not this process. Raises TooManyWaits."""
    with waiting.counted_replay(task.key_id) if task.is_replay else nullcontext(), hub.ended(task.task_id) as end:
        return await end


def _late(call: ImageCall, scope: Scope) -> Answer:
    """The time is over. A submission that has not even come to its turn is taken back."""
    if call.task is None:
        call.leave()
        return _error(TaskTimeout("The request did not come to its turn in time, and was taken back."), call, scope)
    return _error(TaskTimeout(), call, scope)


def _error(raised: BaseException, call: ImageCall, scope: Scope) -> Answer:
    error = error_responses.told(raised)
    error.may_have_cost = error.may_have_cost or call.task_id is not None
    return error_answer(error, dialect=dialect_of(scope), headers=_headers(call))


def _naming(refused: Answer, call: ImageCall) -> Answer:
    """A refusal; where nobody knows whether the draft became a task, it says which one that would be."""
    if refused.status < 500 or (b"x-should-retry", b"false") not in refused.headers:
        return refused
    return Answer(status=refused.status, headers=refused.headers + _headers(call), body=refused.body)


def _headers(call: ImageCall) -> Headers:
    named = {TASK_ID: call.task_id} if call.task_id else {}
    told = call.task.headers if call.task else {}
    return tuple((name.lower().encode(), value.encode()) for name, value in {**named, **told}.items())


def _closed(work: "asyncio.Task[Answer | PictureAnswer]") -> None:
    """Nobody takes the answer any more."""
    if not work.cancelled() and isinstance(answer := work.result(), PictureAnswer):
        answer.close()
