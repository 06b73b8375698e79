"""State of a task in words: what happened, why, and what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from common import error_types
from common.documents import shown
from common.redaction import clean
from pages import words
from tasks.models import Asset, Call, Task

NEXT = {
    error_types.OUTCOME_UNKNOWN.name: "Look for the job at the provider, then attach it, retry the task, or mark the "
    "call lost.",
    error_types.STORAGE_UNAVAILABLE.name: "Check the asset storage with the command doctor, then retry the task.",
    error_types.NO_CAPABLE_ROUTE.name: "Add or enable a route in the plan of its key, then retry the task.",
    error_types.TIMEOUT.name: "Check whether its channel rests or is slower than usual, then retry the task.",
    error_types.INTERNAL_ERROR.name: "Search the worker's log for the task id, then retry the task.",
    error_types.UPSTREAM_ERROR.name: "Check the channel, and retry the task once it works again.",
    error_types.UPSTREAM_REJECTED.name: "A retry would be refused as well: the customer must change the request, or "
    "you a capability of the channel.",
    error_types.CONTENT_REJECTED.name: "A retry would be refused as well: the customer must change the prompt or the "
    "images.",
    error_types.INPUT_UNREACHABLE.name: "The customer must make the input reachable for the provider and submit again.",
}
NOUNS = {"image": "picture", "video": "film", "audio": "sound", "model": "model"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVerdict:
    """Verdict in sentences, each of which may be empty; `why` may quote the provider."""

    what: str
    why: str = ""
    next_step: str = ""


def describe(
    task: Task, calls: Sequence[Call], assets: Sequence[Asset], *, waits_for: Sequence[str] = ()
) -> TaskVerdict:
    """Describe a task; `waits_for` is what a queued one waits for (`tasks/shown/held.py`)."""
    if task.status == "queued":
        return _queued(task, waits_for)
    if task.status == "running":
        return _running(task)
    if task.status == "succeeded":
        took = words.span(_lasted(task))
        return TaskVerdict(what=f"Succeeded in {took}: {_made(assets)} for {words.cents(task.actual_micros or 0)}.")
    if task.status == "canceled":
        return TaskVerdict(what=f"Canceled after {words.span(_lasted(task))} in the queue. Nothing was charged.")
    return _failed(task, calls)


def _queued(task: Task, waits_for: Sequence[str]) -> TaskVerdict:
    waited = f"Waiting in the queue for {words.span(_since(task.created_at))}."
    reasons = list(waits_for)
    if task.not_before and task.not_before > timezone.now():
        reasons.append(f"it is retried after a fault in {words.span(-_since(task.not_before))}")
    if not reasons:
        return TaskVerdict(what=waited, why="Its routes are free: it waits for a worker or for a limit.")
    return TaskVerdict(what=waited, why=f"It waits because: {'; '.join(reasons)}.")


def _running(task: Task) -> TaskVerdict:
    where = f" on {task.channel.name}" if task.channel else ""
    ran = words.span(_since(task.started_at or task.created_at))
    left = words.span(-_since(task.deadline_at))
    over = task.deadline_at < timezone.now()
    ends = "Its deadline has passed." if over else f"Its deadline is in {left}."
    return TaskVerdict(what=f"Running{where} for {ran}.", why=ends)


def _failed(task: Task, calls: Sequence[Call]) -> TaskVerdict:
    error = shown(task.error)
    verb = "Timed out" if task.status == "timeout" else "Failed"
    return TaskVerdict(
        what=f"{verb} after {words.span(_lasted(task))}: "
        f"{clean(str(error.get('message') or 'the reason is unknown.'))}",
        why=_why(calls),
        next_step=NEXT.get(str(error.get("type")), ""),
    )


def _why(calls: Sequence[Call]) -> str:
    """Quote the answer of the last failed call."""
    for call in reversed(calls):
        outcome = shown(call.outcome)
        if outcome and outcome.get("kind") != "succeeded":
            name = call.channel.name if call.channel else "The provider"
            status = f" HTTP {outcome['http_status']}" if outcome.get("http_status") else ""
            said = clean(str(outcome.get("message") or "")) or clean(str(outcome.get("kind"))).replace("_", " ")
            return f"{name} answered{status}: {said}"
    return "" if calls else "No provider was called."


def _made(assets: Sequence[Asset]) -> str:
    counts: dict[str, int] = {}
    for asset in assets:
        noun = NOUNS.get(asset.kind, "file")
        counts[noun] = counts.get(noun, 0) + 1
    return ", ".join(words.counted(n, noun) for noun, n in counts.items()) or "no file"


def _lasted(task: Task) -> float:
    return ((task.finished_at or timezone.now()) - task.created_at).total_seconds()


def _since(at: object) -> float:
    """Compute seconds since a moment; negative before it."""
    return float((timezone.now() - at).total_seconds())  # type: ignore[operator]
