"""Answers GET of a task in groups: those that come while a group is at work are let in and read by the next, together.

A statement costs a web process several times what the view does, and so does the way to another thread and back. So a
group has two statements and one thread, whose views then ask the database no more.
"""

import contextvars
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from common.concurrency import promises, threads
from common.concurrency.gathering import Gathering
from common.http.asgi import ENVIRON, Answer, Scope
from common.http.front_body import Body
from common.ids import is_task_id
from front import wsgi_side
from tasks.gate import Admission
from tasks.shown import representation
from tasks.shown.representation import TaskView
from tasks_api import admissions, readings, waiting
from tasks_api.admissions import Handed
from tasks_api.readings import Found

MOST = 32  # at once: whoever comes in between waits for as many views


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRead:
    """A GET or HEAD of a task, and the context in which it came."""

    scope: Scope
    body: Body
    task_id: str
    context: contextvars.Context


def task_id_of(scope: Scope) -> str | None:
    """The task that the request is about; None for every request of another kind."""
    match = waiting.TASK_PATH.fullmatch(scope["path"]) if scope["method"] in ("GET", "HEAD") else None
    return match[1] if match and is_task_id(match[1]) else None


async def ask(scope: Scope, body: Body, task_id: str) -> Answer:
    """Django's answer. The body is closed, also where the client leaves before its turn has come."""
    share = threads.share.get()
    reading = TaskRead(scope=scope, body=body, task_id=task_id, context=contextvars.copy_context())
    answer = _readings.add(reading, payer=share.payer, member=share.member)
    answer.add_done_callback(lambda _: body.close())
    return await promises.awaited(answer)


def answers(group: Sequence[TaskRead]) -> list[Answer | Exception]:
    """The answer of each, or what the front has to answer for. No connection is held while the views compute."""
    handed, found = threads.returning_connection(_read, group)
    return [_answer(*each) for each in zip(group, handed, found, strict=True)]


def _read(group: Sequence[TaskRead]) -> tuple[list[Handed], list[Found | None]]:
    """What each is let in with, and what it finds; where the database fails, all views say so as one alone would."""
    handed = admissions.handed_all([reading.scope for reading in group])
    return handed, _found(group, [each.outcome for each in handed])


def _found(group: Sequence[TaskRead], outcomes: Sequence[Admission | Exception]) -> list[Found | None]:
    wanted = [
        (outcome.caller.key_id, reading.task_id) if isinstance(outcome, Admission) else None
        for reading, outcome in zip(group, outcomes, strict=True)
    ]
    pairs = list({pair for pair in wanted if pair})
    tasks: dict[tuple[int, str], TaskView | Exception | None]
    try:
        tasks = dict(zip(pairs, representation.find_all(pairs), strict=True)) if pairs else {}
    except Exception as error:
        tasks = dict.fromkeys(pairs, error)
    return [pair and Found(key_id=pair[0], task_id=pair[1], outcome=tasks[pair]) for pair in wanted]


def _answer(reading: TaskRead, handed: Handed, found: Found | None) -> Answer | Exception:
    """Django's, with what it needs of the database in the environ."""
    scope = {**reading.scope, ENVIRON: {admissions.HANDED: handed, readings.FOUND: found}}
    try:
        return reading.context.run(wsgi_side.run, scope, reading.body)
    except Exception as error:
        return error


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading")
_readings: Gathering[TaskRead, Answer] = Gathering(answers, start=_thread.submit, most=MOST)
