"""Data of a task's page, read by a fixed number of statements."""

import json
from dataclasses import dataclass

from django.utils import timezone

from common import ids
from common.errors import TaskNotFound
from console.task_page import callback, cost, request_document, story, verdict
from console.task_page.callback import CustomerCallback
from console.task_page.cost import TaskCost
from console.task_page.story import CustomerStep
from console.task_page.verdict import CustomerVerdict
from tasks.models import LIVE, Asset, Task, TaskEvent, TaskPayload
from tasks.shown import eta, exhibits, price_words, representation
from tasks.shown.exhibits import Exhibit, ParamRow
from tasks.shown.representation import TaskView


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerSheet:
    """Data of the page. `price` is the agreed price; `request` and `document` are JSON."""

    task: TaskView
    is_live: bool
    verdict: CustomerVerdict
    files: tuple[Exhibit, ...]
    params: tuple[ParamRow, ...]
    metadata: ParamRow | None
    request: str
    document: str
    cost: TaskCost
    price: str
    story: tuple[CustomerStep, ...]
    callback: CustomerCallback | None
    idempotency_key: str


def gather(key_id: int, task_id: str) -> CustomerSheet:
    """Read everything that the page shows. Raises TaskNotFound, also for another key's task."""
    view = representation.find_one(key_id, task_id) if ids.is_task_id(task_id) else None
    if view is None:
        raise TaskNotFound()
    row = Task.objects.get(pk=task_id)
    params = TaskPayload.objects.filter(task_id=task_id).values_list("params", flat=True).first()
    files = tuple(exhibits.exhibits(list(Asset.objects.filter(task_id=task_id).order_by("position"))))
    spent = cost.read(view)
    usual = eta.usual(row.media_model_id) if row.media_model_id and view.status in LIVE else None
    return CustomerSheet(
        task=view,
        is_live=view.status in LIVE,
        verdict=verdict.describe(view, files, spent, now=timezone.now(), usual=usual["p50"] if usual else None),
        files=files,
        params=tuple(exhibits.params(params)),
        metadata=exhibits.document("metadata", view.metadata),
        request=request_document.text(row, params),
        document=json.dumps(representation.represent(view), indent=2, ensure_ascii=False),
        cost=spent,
        price=price_words.agreed(row.price),
        story=tuple(story.tell(list(TaskEvent.objects.filter(task_id=task_id).order_by("id")))),
        callback=callback.read(task_id, row.callback_url),
        idempotency_key=row.idempotency_key or "",
    )
