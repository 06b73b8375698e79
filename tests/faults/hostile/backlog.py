"""What an attacker has piled up in hours: canceled tasks like one that is there, each with a callback that is due."""

from datetime import timedelta

from billing.models import Hold
from callbacks.models import Delivery
from common import ids
from tasks.models import Task, TaskEvent
from tools.children import wait_until

BATCH = 1_000
HOURS_AGO = timedelta(hours=3)


def pile_up(account: str, *, tried: int, untried: int, ports: list[int]) -> None:
    """So many callbacks, each with a host name of its own, older than whatever comes now."""
    canceled = Task.objects.filter(account__name=account, status="canceled", callback_url__isnull=False)
    template = wait_until(lambda: canceled.order_by("id").first(), what="the first that is canceled")
    for start in range(0, tried + untried, BATCH):
        numbers = range(start, min(start + BATCH, tried + untried))
        copy(template, [(number, int(number < tried), ports[number % len(ports)]) for number in numbers])


def copy(template: Task, rows: list[tuple[int, int, int]]) -> None:
    fields = {field.attname: getattr(template, field.attname) for field in Task._meta.concrete_fields}
    hold, owed = Hold.objects.get(reference=template.id), Delivery.objects.get(task=template)
    end = TaskEvent.objects.get(task=template, status=template.status)
    tasks, holds, deliveries, ends = [], [], [], []
    for number, attempts, port in rows:
        host = f"old{number}.tarpit.example:{port}"
        task = Task(**fields | {"id": ids.new_task_id(), "callback_url": f"http://{host}/"})
        tasks.append(task)
        holds.append(Hold(**values(hold, reference=task.id)))
        ends.append(TaskEvent(**values(end, task_id=task.id)))
        due = {"next_attempt_at": owed.created_at - HOURS_AGO, "scheduled_at": owed.created_at - HOURS_AGO}
        told = {"url": task.callback_url, "host": host, "attempts": attempts, "status": "pending", "claimed_at": None}
        deliveries.append(Delivery(**values(owed, id=f"{task.id}.1", task_id=task.id, **told, **due)))
    Task.objects.bulk_create(tasks)
    Hold.objects.bulk_create(holds)
    TaskEvent.objects.bulk_create(ends)
    Delivery.objects.bulk_create(deliveries)


def values(row: Hold | Delivery | TaskEvent, **other: object) -> dict[str, object]:
    """The fields of a row, but for these; a key that counts by itself is left out."""
    concrete = [field.attname for field in row._meta.concrete_fields if field.get_internal_type() != "BigAutoField"]
    return {name: getattr(row, name) for name in concrete} | other
