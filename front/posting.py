"""Examines new tasks in groups: those that come while a group is at work are let in and examined by the next, together.

Their views take no time and ask nobody, so one thread will do for all of them: what the way to a thread of each one's
own costs is more than the view. What may take time goes there all the same (`front/submitting.py`): large bodies,
inputs that are looked up or stored, replays.
"""

import contextvars
import re
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from common.concurrency import promises, threads
from common.concurrency.gathering import Gathering
from common.http.asgi import Answer, Headers, Scope
from common.http.front_body import Body
from common.recent import Recent
from front import submitting
from front.submitting import Awaited
from storage import blobs
from tasks.gate import Admission
from tasks.intake import joint_submission
from tasks_api import admissions, drafting, receipts
from tasks_api.admissions import Handed

MOST = 32  # at once: whoever comes in between waits for as many views
SMALL_BYTES = 8 * 1024
# More values than that keep to the threads of their account: what a view takes grows with them, up to 15 ms in 8 KiB.
MOST_VALUES = 200
MOST_HEADS = 1_000
HEAD_BYTES = 4 * 1024  # of what is remembered: a head may be a quarter of a megabyte
# By the gate, which has answered for it; and what is nobody's business behind it.
JUDGED = frozenset({b"authorization", b"idempotency-key", b"content-length", b"x-request-id"})
# What may hold an input, in lower case: the names and the scheme are ASCII, and an escape of JSON may stand for any of
# it.
MAY_HOLD_INPUTS = re.compile(rb'"images"|"inputs"|data:|\\u00[3-7]')


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedTask:
    """A small `POST /v1/tasks`, and the context in which it came."""

    scope: Scope
    body: Body
    context: contextvars.Context


Head = tuple[Hashable, ...]
Examined = Answer | Awaited | Handed
"""The whole answer, or the draft whose task it will show; or what to go on with on a thread of the account's share."""


async def ask(scope: Scope, body: Body) -> Answer:
    """The whole answer. The body is closed."""
    if not is_quick(scope, body):
        return await submitting.ask(scope, body)
    found = await _examination(scope, body)
    if isinstance(found, Handed):
        return await submitting.go_on(scope, body, found)
    if isinstance(found, Awaited):
        threads.share.set(threads.of_account(found.draft.caller.account_id))
    return await submitting.answered(scope, found)


def is_quick(scope: Scope, body: Body) -> bool:
    """Whether the view of this request takes no time, stores nothing and looks up nothing, as far as its bytes tell."""
    if scope["method"] != "POST" or scope["path"] != "/v1/tasks" or body.size > SMALL_BYTES:
        return False
    content = _content(body)
    values = content.count(b",") + content.count(b"[") + content.count(b"{")
    return values <= MOST_VALUES and not MAY_HOLD_INPUTS.search(content.lower())


def _content(body: Body) -> bytes:
    content = body.file.read()
    body.file.seek(0)
    return content


async def _examination(scope: Scope, body: Body) -> Examined:
    """The body is closed, also where the client leaves; but not for whoever goes on."""
    share = threads.share.get()
    task = PostedTask(scope=scope, body=body, context=contextvars.copy_context())
    examined = _new_tasks.add(task, payer=share.payer, member=share.member)
    try:
        found = await promises.awaited(examined)
    except BaseException:
        examined.add_done_callback(lambda _: body.close())  # a group may be at work with it
        raise
    if not isinstance(found, Handed):
        body.close()
    return found


def examine(group: Sequence[PostedTask]) -> list[Examined | Exception]:
    """What came of each. The database has ten seconds for all of them, for they hold up whoever comes after."""
    return threads.returning_connection(_examine_all, group)


def _examine_all(group: Sequence[PostedTask]) -> list[Examined | Exception]:
    """No connection is held while the views compute."""
    handed = threads.returning_connection(admissions.handed_all, [task.scope for task in group])
    with joint_submission.together():
        return [_examine(*each) for each in zip(group, handed, strict=True)]


def _examine(task: PostedTask, handed: Handed) -> Examined | Exception:
    """A replay reads its task; and somebody has to look after the storage from time to time."""
    if isinstance(handed.outcome, Admission) and (handed.outcome.replay or not blobs.is_checked()):
        return handed
    try:
        return task.context.run(_examined, task, handed)
    except Exception as error:
        return error


def _examined(task: PostedTask, handed: Handed) -> Answer | Awaited:
    """By its view; without it, where that has nothing to say of the body, and Django has seen such a head before."""
    head = _head(task.scope, handed)
    left = None if head is None else _heads.get(head)
    if left and isinstance(handed.outcome, Admission):
        draft = drafting.plain(handed.outcome, _content(task.body), idempotency_key=handed.knock.idempotency_key)
        if draft:
            return submitting.submitted(draft, receipts.of, left)
    answer = submitting.run(task.scope, task.body, handed)
    if head and isinstance(answer, Awaited):
        _heads.put(head, answer.left)
    return answer


def _head(scope: Scope, handed: Handed) -> Head | None:
    """All that Django and the view see of a request beside its body, but for what is judged here; no large one."""
    headers = tuple((name, b"" if name in JUDGED else value) for name, value in scope["headers"])
    if len(scope["query_string"]) + sum(len(name) + len(value) for name, value in headers) > HEAD_BYTES:
        return None
    return headers, scope["query_string"], scope.get("scheme"), handed.knock.idempotency_key is None


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="posting")
_new_tasks: Gathering[PostedTask, Examined] = Gathering(examine, start=_thread.submit, most=MOST)
# The headers that Django's side leaves for a new task's answer, by the head of the request: always the same.
_heads: Recent[Head, Headers] = Recent(MOST_HEADS)
