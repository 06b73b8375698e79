"""What tests of callbacks share: ended tasks whose callback is owed, and receivers on real sockets."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from callbacks import claims, deliveries
from callbacks.deliveries import Owed
from common import ids, sql
from common.database import writes
from tasks.models import RouteSet, Task, TaskPayload
from tests.rows import IssuedKey

HOOK = "https://hooks.example.com/done"
MakeTask = Callable[..., Task]


@pytest.fixture(autouse=True)
def long_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """No claim ends because the machine is slow; tests that want one to end move its moment."""
    monkeypatch.setattr(claims, "LEASE_SECONDS", 3_600)


@pytest.fixture
def make_task(key: IssuedKey) -> MakeTask:
    """A task, ended unless its status says otherwise, without a delivery."""

    def make(status: str = "succeeded", *, of: IssuedKey = key, **fields: Any) -> Task:
        routes, _ = RouteSet.objects.get_or_create(digest="none", defaults={"routes": []})
        is_live = status in ("queued", "running")
        ended = {} if is_live else {"finished_at": timezone.now(), "actual_micros": 0}
        task = Task.objects.create(
            id=ids.new_task_id(),
            key=of.record,
            secret=of.record.secrets.latest("id"),
            account=of.account,
            model_name="aurora-image",
            modality="image",
            body_digest="0" * 64,
            price={},
            status=status,
            route_set=routes,
            open_routes=routes,
            estimated_micros=0,
            deadline_at=timezone.now(),
            **{**ended, **fields},
        )
        TaskPayload.objects.create(task=task, result={"duration": 0})
        return task

    return make


@pytest.fixture
def owed(make_task: MakeTask) -> Callable[..., str]:
    """The id of an ended task whose callback is due now."""

    def owe(url: str = HOOK, status: str = "succeeded", **fields: Any) -> str:
        task = make_task(status, callback_url=url, **fields)
        writes.run(deliveries.owing([Owed(task_id=task.id, account_id=task.account_id, url=url)]))
        return task.id

    return owe


@pytest.fixture
def pile(make_task: MakeTask, key: IssuedKey) -> Callable[..., None]:
    """Many callbacks that are due now, the n-th at `url.format(n)`; without payloads."""

    def pile(count: int, url: str, *, of: IssuedKey = key) -> None:
        one = make_task(of=of)
        tasks = [copied(one, ids.new_task_id()) for _ in range(count)]
        Task.objects.bulk_create(tasks)
        owed = [Owed(task_id=task.id, account_id=task.account_id, url=url.format(n)) for n, task in enumerate(tasks)]
        writes.run(deliveries.owing(owed))
        sql.run("ANALYZE")

    return pile


def copied(task: Task, task_id: str) -> Task:
    fields = {field.attname: getattr(task, field.attname) for field in Task._meta.concrete_fields}
    return Task(**{**fields, "id": task_id})
