"""Timeline of a task: its steps in order, with the time between them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.admin.models import LogEntry

from common.documents import shown
from common.redaction import clean
from pages import words
from tasks.models import Call, Task, TaskEvent
from tasks.shown import trace

ORIGINS = {"async": "POST /v1/tasks", "videos": "POST /v1/videos", "sync": "a synchronous image call"}
ENDS = {
    "succeeded": "Succeeded",
    "failed": "Failed",
    "timeout": "Timed out",
    "canceled": "Canceled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryStep:
    """Entry of the timeline. `word` is a state or empty; `detail` may hold others' text; `task_id` links to another
    task; `after_seconds` counts from the previous step."""

    at: datetime
    title: str
    word: str = ""
    detail: str = ""
    task_id: str = ""
    after_seconds: float | None = None


def tell(
    task: Task,
    *,
    events: Sequence[TaskEvent],
    calls: Sequence[Call],
    retries: Sequence[Task],
    history: Iterable[LogEntry],
) -> list[StoryStep]:
    """Build all steps, the oldest first. The task's key and account and the calls' channels must be loaded."""
    steps = [
        *_of_events(task, events),
        *(_of_call(call) for call in calls),
        *(
            StoryStep(at=each.created_at, title="Submitted again as", word=each.status, task_id=each.pk)
            for each in retries
        ),
        *(_of_operator(entry) for entry in history),
    ]
    steps.sort(key=lambda step: step.at)
    befores = [None, *(step.at for step in steps)]
    return [
        replace(step, after_seconds=(step.at - before).total_seconds() if before else None)
        for step, before in zip(steps, befores, strict=False)
    ]


def _of_events(task: Task, events: Sequence[TaskEvent]) -> Iterator[StoryStep]:
    for number, event in enumerate(events):
        if event.status == "queued" and number == 0:
            yield StoryStep(
                at=event.at,
                word="queued",
                title=f"Submitted by {ORIGINS.get(task.origin, task.origin)}",
                detail=f"{task.key.account.name} / {task.key.name}",
            )
            if task.retry_of_id:
                yield StoryStep(at=event.at, title="Operator's retry of", task_id=task.retry_of_id)
        elif event.status == "queued":
            yield StoryStep(at=event.at, word="queued", title="Returned to the queue: nothing was bought")
        elif event.status == "running":
            yield StoryStep(at=event.at, word="running", title=f"Taken by a worker, attempt {event.attempt}")
        else:
            yield StoryStep(
                at=event.at,
                word=event.status,
                title=ENDS.get(event.status, event.status),
                detail=clean(str(shown(task.error).get("message", ""))),
            )


def _of_call(call: Call) -> StoryStep:
    target = shown(call.target)
    channel = call.channel.name if call.channel else "a deleted channel"
    return StoryStep(
        at=call.created_at,
        word=call.state,
        title=f"Call {call.attempt}.{call.position + 1} to {channel}",
        detail=clean(", ".join(filter(None, [str(target.get("upstream_model", "")), *_moments(call)]))),
    )


def _moments(call: Call) -> Iterator[str]:
    """Yield the job id and the time of each event since the intent."""
    if name := trace.upstream_id(call):
        yield f"job {name}"
    for verb, at in (("answered", call.answered_at), ("finished", call.finished_at), ("ended", call.ended_at)):
        if at:
            yield f"{verb} after {words.span((at - call.created_at).total_seconds())}"


def _of_operator(entry: LogEntry) -> StoryStep:
    said = entry.get_change_message() or entry.get_action_flag_display()
    return StoryStep(at=entry.action_time, title=f"{entry.user.get_username()}:", detail=clean(said))
