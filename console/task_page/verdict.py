"""A task in a sentence: its state, how long it took and what it cost; and of one that failed, why and what to do."""

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
    """`said` is the message of the task's error; what has nothing to say is empty."""

    what: str
    said: str = ""
    why: str = ""
    next_step: str = ""


def of_task(
    task: TaskView, files: Sequence[Exhibit], cost: TaskCost, *, now: datetime, usual: float | None
) -> CustomerVerdict:
    """`usual` is how many seconds a task of its model takes, where that is known."""
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
    place = "next in your queue" if first else f"at place {task.queue_position} of your queue"
    return CustomerVerdict(
        what=f"Waiting for {waited}, {place}; it will cost about {words.usd(task.estimated_micros)}.{_usually(usual)}"
    )


def _running(task: TaskView, now: datetime, usual: float | None) -> CustomerVerdict:
    ran = words.span((now - (task.started_at or task.created_at)).total_seconds())
    far = "" if task.progress is None else f", {task.progress} % done"
    return CustomerVerdict(
        what=f"Running for {ran}{far}; it will cost about {words.usd(task.estimated_micros)}.{_usually(usual)}"
    )


def _usually(seconds: float | None) -> str:
    return "" if seconds is None else f" A task of this model usually takes {words.span(seconds)}."


def _failed(task: TaskView, took: str, cost: TaskCost) -> CustomerVerdict:
    error = shown(task.error)
    advice = error_words.of_task(str(error.get("type")))
    verb = "Timed out" if task.status == "timeout" else "Failed"
    return CustomerVerdict(
        what=f"{verb} after {took}. {_charged(cost)}",
        said=str(error.get("message") or ""),
        why=advice.why,
        next_step=advice.next_step,
    )


def paid(cost: TaskCost) -> str:
    """$0.04, or what is left of it after a refund."""
    charged = words.usd(cost.charged_micros)
    return f"{charged}, of which {words.usd(cost.refunded_micros)} came back" if cost.refunded_micros else charged


def _charged(cost: TaskCost) -> str:
    return f"It cost {paid(cost)}." if cost.charged_micros else "Nothing was charged."


def made(files: Sequence[Exhibit]) -> str:
    """1 picture, 2 films; in the order of the files."""
    nouns = [file.shown_as for file in files]
    return ", ".join(words.counted(nouns.count(noun), noun) for noun in dict.fromkeys(nouns)) or "no file"
