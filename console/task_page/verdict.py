"""State of a task in sentences: duration and cost; for a failed one, why and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from common.documents import shown
from console import error_words
from console.task_page.cost import TaskCost
from pages import words
from tasks.shown.exhibits import Exhibit
from tasks.shown.representation import TaskView


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerVerdict:
    """Verdict in sentences, each of which may be empty; `said` is the message of the task's error."""

    what: str
    said: str = ""
    why: str = ""
    next_step: str = ""


def describe(
    task: TaskView, files: Sequence[Exhibit], cost: TaskCost, *, now: datetime, usual: float | None
) -> CustomerVerdict:
    """Describe a task; `usual` is the usual duration of its model in seconds, None if unknown."""
    if task.status == "queued":
        return _queued(task, now, usual)
    if task.status == "running":
        return _running(task, now, usual)
    took = words.span(((task.finished_at or now) - task.created_at).total_seconds())
    if task.status == "succeeded":
        return CustomerVerdict(what=f"Succeeded in {took} for {paid(cost)}: {made(files)}.")
    if task.status == "canceled":
        return CustomerVerdict(what=f"Canceled after {took} in the queue. {_charged(cost)}")
    return _failed(task, took, cost)


def _queued(task: TaskView, now: datetime, usual: float | None) -> CustomerVerdict:
    waited = words.span((now - task.created_at).total_seconds())
    first = task.queue_position == 1
    place = "next in your queue" if first else f"number {task.queue_position} in your queue"
    return CustomerVerdict(
        what=f"Waiting for {waited}, {place}; it will cost about {words.cents(task.estimated_micros)}.{_usually(usual)}"
    )


def _running(task: TaskView, now: datetime, usual: float | None) -> CustomerVerdict:
    ran = words.span((now - (task.started_at or task.created_at)).total_seconds())
    far = "" if task.progress is None else f", {task.progress} % done"
    return CustomerVerdict(
        what=f"Running for {ran}{far}; it will cost about {words.cents(task.estimated_micros)}.{_usually(usual)}"
    )


def _usually(seconds: float | None) -> str:
    return "" if seconds is None else f" A task of this model usually takes {words.span(seconds)}."


def _failed(task: TaskView, took: str, cost: TaskCost) -> CustomerVerdict:
    error = shown(task.error)
    advice = error_words.explain_task_error(str(error.get("type")))
    verb = "Timed out" if task.status == "timeout" else "Failed"
    return CustomerVerdict(
        what=f"{verb} after {took}. {_charged(cost)}",
        said=str(error.get("message") or ""),
        why=advice.why,
        next_step=advice.next_step,
    )


def paid(cost: TaskCost) -> str:
    """Format the charge, and the refund if there is one."""
    charged = words.cents(cost.charged_micros)
    return f"{charged}, of which {words.cents(cost.refunded_micros)} was refunded" if cost.refunded_micros else charged


def _charged(cost: TaskCost) -> str:
    return f"It cost {paid(cost)}." if cost.charged_micros else "Nothing was charged."


def made(files: Sequence[Exhibit]) -> str:
    """Count the files by kind in their order: 1 picture, 2 films."""
    nouns = [file.shown_as for file in files]
    return ", ".join(words.counted(nouns.count(noun), noun) for noun in dict.fromkeys(nouns)) or "no file"
