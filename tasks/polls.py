"""When accepted calls are polled next, as far as it has to be written, and what polls have told meanwhile.

`tasks/due_calls.py` reads it. The moves of calls are `tasks/paid_calls.py`'s.
"""

from collections.abc import Sequence

from django.db import transaction

from common import sql
from tasks import due_calls
from tasks.due_calls import Reschedule
from tasks.models import Call
from tasks.paid_calls import FOLLOWED


def note_defect(call_id: int, why: str, *, kind: str = "unreadable") -> None:
    """Why this call cannot be followed now, where the operator looks; its end writes over it."""
    followed = Call.objects.filter(pk=call_id, state__in=("accepted", "late"))
    followed.update(outcome={"kind": kind, "message": why})


def reschedule(plans: Sequence[Reschedule]) -> None:
    """Write the next polls, and the progress of tasks that still have this attempt. Two statements. What a poll found
    that need not be written, the plan of its worker knows (`worker/follow/schedule.py`)."""
    if not plans:
        return
    sql.run(
        f"UPDATE tasks_call SET next_poll_at = {sql.later('r.delay')}, faults = r.faults, copy_faults = r.copies "
        f"FROM {sql.rows('id bigint, delay real, faults bigint, copies bigint')} "
        f"WHERE tasks_call.id = r.id AND {FOLLOWED}",
        [
            sql.pack(
                {"id": p.call_id, "delay": p.delay_seconds, "faults": p.faults, "copies": p.copy_faults} for p in plans
            )
        ],
    )
    show_progress(plans)


def show_progress(plans: Sequence[Reschedule]) -> None:
    """The progress alone, where it is known. One statement."""
    known = sorted((p for p in plans if p.progress is not None), key=lambda p: p.task_id)
    if known:
        sql.run(
            f"UPDATE tasks_task SET progress = r.progress FROM {sql.rows('id text, attempt bigint, progress bigint')} "
            "WHERE tasks_task.id = r.id AND tasks_task.attempt = r.attempt AND tasks_task.status = 'running'",
            [sql.pack({"id": p.task_id, "attempt": p.attempt, "progress": p.progress} for p in known)],
        )


def hasten_overdue() -> None:
    """Poll now the jobs of tasks whose time is over, if they were not asked for since: once at the deadline, and once
    more when the 15 minutes for copying are over, too."""
    now, over_for = sql.now(), sql.seconds_between("t.deadline_at", "tasks_call.next_poll_at")
    copied = due_calls.AFTER_DEADLINE_SECONDS
    sql.run(
        f"UPDATE tasks_call SET next_poll_at = {now} FROM tasks_task t "
        "WHERE t.id = tasks_call.task_id AND tasks_call.state = 'accepted' AND t.status = 'running' "
        f"AND {due_calls.is_out_of_time()} AND (tasks_call.next_poll_at > {now} OR {over_for} < "
        f"CASE WHEN t.deadline_at <= {sql.later(str(-copied))} THEN {copied} ELSE 0 END)"
    )


def adopt(worker_id: str, dead: Sequence[str]) -> None:
    """Follow the calls of dead workers, and poll them now: nobody did for as long as a lease."""
    sql.run(
        f"UPDATE tasks_call SET worker_id = %s, next_poll_at = {sql.now()} "
        f"WHERE {FOLLOWED} AND worker_id {sql.among('text')}",
        [worker_id, sql.ids(dead)],
    )
    transaction.on_commit(due_calls.news.tell)
