"""Gives requests of the Task API to Django's side, and answers submissions once their draft is a task.

Whoever asks is let in before Django's turn (`tasks_api/admissions.py`). The view of a submission ends in a draft, which
goes to `tasks/intake/joint_submission.py`: what waits for a transaction holds no thread and no database connection.
"""

import contextvars
from concurrent.futures import Future
from dataclasses import dataclass, replace

from common import plain_json
from common.concurrency import promises, threads
from common.http.asgi import ENVIRON, Answer, Headers, Scope, dialect_of, error_answer
from common.http.front_body import Body
from front import error_responses, reading, wsgi_side
from tasks.gate import Admission, Replay
from tasks.intake import joint_submission
from tasks.intake.drafts import Draft
from tasks.intake.submission import Outcome
from tasks_api import admissions, receipts, submission_paths
from tasks_api.admissions import Handed
from tasks_api.receipts import Receipt, Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """A draft that waits for its group, or is in it; and the headers that Django's side left for the answer."""

    draft: Draft
    promise: Future[Outcome]
    shown: Shown
    left: Headers = ()


async def ask(scope: Scope, body: Body) -> Answer:
    """The whole answer. The body is closed."""
    if not submission_paths.is_of_tasks(scope["path"]):
        return await wsgi_side.ask(scope, body)
    if task_id := reading.task_id_of(scope):
        return await reading.ask(scope, body, task_id)
    try:
        handed = await admissions.handed(scope)
    except BaseException:
        body.close()
        raise
    return await go_on(scope, body, handed)


async def go_on(scope: Scope, body: Body, handed: Handed) -> Answer:
    """The same of a request that was let in, or refused, on a thread of the account's share."""
    if isinstance(handed.outcome, Admission):
        threads.share.set(threads.of_account(handed.outcome.caller.account_id))
    await body.unfold()
    context = contextvars.copy_context()
    found = threads.executor.submit(context.run, run, scope, body, handed)
    found.add_done_callback(lambda _: body.close())
    return await answered(scope, await promises.awaited(found))


def run(scope: Scope, body: Body, handed: Handed) -> Answer | Awaited:
    """What Django's side says, computed on this thread. A draft is on its way to its group."""
    awaited: list[Awaited] = []

    def submit(draft: Draft, shown: Shown) -> "Future[Outcome]":
        awaited.append(submitted(draft, shown))
        return awaited[0].promise

    given = {**scope.get(ENVIRON, {}), admissions.HANDED: handed, receipts.SUBMIT: submit}
    left = wsgi_side.run({**scope, ENVIRON: given}, body)
    return replace(awaited[0], left=left.headers) if awaited else left


def submitted(draft: Draft, shown: Shown, left: Headers = ()) -> Awaited:
    return Awaited(draft=draft, promise=joint_submission.add(draft), shown=shown, left=left)


async def answered(scope: Scope, awaited: Answer | Awaited) -> Answer:
    """What came of the draft, with the headers that Django's side left for it. Where the client leaves, a draft whose
    turn has not come is taken back; else it stands."""
    if isinstance(awaited, Answer):
        return awaited
    try:
        outcome = await promises.awaited(awaited.promise)
        answer = _accepted(await _shown(awaited, outcome))
    except Exception as raised:
        answer = error_answer(error_responses.told(raised), dialect=dialect_of(scope))
    names = {name for name, _ in answer.headers}
    headers = (*answer.headers, *(pair for pair in awaited.left if pair[0] not in names))
    return Answer(status=answer.status, headers=headers, body=answer.body)


async def _shown(awaited: Awaited, outcome: Outcome) -> Receipt:
    if isinstance(outcome, Replay):
        return await threads.call(awaited.shown, awaited.draft, outcome)
    return awaited.shown(awaited.draft, outcome)


def _accepted(shown: Receipt) -> Answer:
    content = plain_json.dumps(shown.document, ensure_ascii=False, separators=(",", ":")).encode()
    own = ((b"content-type", b"application/json"), (b"content-length", b"%d" % len(content)))
    more = tuple((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in shown.headers.items())
    return Answer(status=shown.status, headers=own + more, body=content)
