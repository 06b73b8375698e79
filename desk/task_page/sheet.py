"""Data of a task's page, read by a fixed number of statements."""

from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q

from billing.models import Hold, LedgerEntry
from callbacks import deliveries
from callbacks.models import Delivery, DeliveryAttempt
from common.redaction import clean
from desk.task_page import evidence, money, story, verdict
from desk.task_page.evidence import PaidCallRow, RouteVerdict
from desk.task_page.money import TaskMoney
from desk.task_page.story import StoryStep
from desk.task_page.verdict import TaskVerdict
from tasks.models import LIVE, Asset, Call, Task, TaskEvent, TaskPayload
from tasks.shown import exhibits, held, price_words, trace
from tasks.shown.exhibits import Exhibit, ParamRow

NEWEST_RETRIES = 20
MOST_HISTORY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackLog:
    """Callback of a task with its attempts, the newest first. The URL has no secrets."""

    delivery: Delivery
    url: str
    attempts: tuple[DeliveryAttempt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSheet:
    """Data of the page, in the order of the template."""

    task: Task
    is_live: bool
    verdict: TaskVerdict
    story: tuple[StoryStep, ...]
    exhibits: tuple[Exhibit, ...]
    params: tuple[ParamRow, ...]
    metadata: ParamRow | None
    plan: str
    routes: tuple[RouteVerdict, ...]
    calls: tuple[PaidCallRow, ...]
    money: TaskMoney
    price: str
    callback: CallbackLog | None


def find(task_id: str) -> Task | None:
    """Find a task with its related rows."""
    found: Task | None = (
        Task.objects.select_related("key__account", "media_model", "channel", "worker").filter(pk=task_id).first()
    )
    return found


def gather(task: Task) -> TaskSheet:
    """Read everything that the page shows."""
    payload = TaskPayload.objects.filter(task=task).first()
    found = trace.of(task)
    for call in found.calls:
        call.task = task
    assets = list(Asset.objects.filter(task=task).order_by("position"))
    return TaskSheet(
        task=task,
        is_live=task.status in LIVE,
        verdict=verdict.describe(task, found.calls, assets, waits_for=held.of(task)),
        story=tuple(_story(task, found.calls)),
        exhibits=tuple(exhibits.exhibits(assets)),
        params=tuple(exhibits.params(payload.params if payload else None)),
        metadata=exhibits.document("metadata", task.metadata),
        plan=clean(str(found.plan or "")),
        routes=tuple(evidence.routes(found)),
        calls=tuple(evidence.paid_calls(found)),
        money=_money(task, found.calls),
        price=price_words.agreed(task.price),
        callback=_callback(task),
    )


def _story(task: Task, calls: tuple[Call, ...]) -> list[StoryStep]:
    return story.tell(
        task,
        events=list(TaskEvent.objects.filter(task=task).order_by("id")),
        calls=calls,
        retries=list(task.retries.order_by("-pk")[:NEWEST_RETRIES]),
        history=_history(task, calls),
    )


def _history(task: Task, calls: tuple[Call, ...]) -> list[LogEntry]:
    """List what operators did on the task, its calls and its delivery."""
    kinds: Any = ContentType.objects.get_for_models(Task, Call, Delivery)
    wanted = Q(content_type=kinds[Task], object_id=task.pk)
    wanted |= Q(content_type=kinds[Delivery], object_id=f"{task.pk}.1")
    if calls:
        wanted |= Q(content_type=kinds[Call], object_id__in=[str(call.pk) for call in calls])
    return list(LogEntry.objects.filter(wanted).select_related("user").order_by("-pk")[:MOST_HISTORY])


def _money(task: Task, calls: tuple[Call, ...]) -> TaskMoney:
    hold = Hold.objects.filter(reference=task.pk).first()
    entries = list(LedgerEntry.objects.filter(reference=task.pk).order_by("id"))
    return money.add_up(hold, entries, calls, has_ended=task.status not in LIVE)


def _callback(task: Task) -> CallbackLog | None:
    if task.callback_url is None:
        return None
    delivery, attempts = deliveries.log(task.pk)
    if delivery is None:
        return None
    return CallbackLog(delivery=delivery, url=clean(delivery.url), attempts=tuple(reversed(attempts)))
