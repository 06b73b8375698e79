"""Paid calls of ours that a bill may name."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from catalog import snapshot
from catalog.models import Channel, MediaModel
from tasks.failures import Failure
from tasks.models import Call, Worker
from tasks.paid_calls import CallEnd
from tests.rows import IssuedKey, make_task
from tests.tasks import steps

UNKNOWN = Failure(type="TASK_OUTCOME_UNKNOWN", message="Its answer was lost.", retryable=True)


@pytest.fixture
def bought(key: IssuedKey, video_channel: Channel) -> Callable[..., Call]:
    """Makes a call that has made something, of a task that is a bare row."""
    worker = Worker.objects.create(id="w1", host="host", pid=1, lanes="tasks")

    def bought(upstream_id: str, cost_micros: int | None, **fields: Any) -> Call:
        given = {"channel": video_channel, "state": "done", "outcome": {"kind": "succeeded"}, **fields}
        return Call.objects.create(
            task=make_task(key),
            attempt=1,
            worker=worker,
            route_id=1,
            target={},
            request_digest="",
            handle={"id": upstream_id} if upstream_id else None,
            cost_micros=cost_micros,
            ended_at=timezone.now(),
            **given,
        )

    return bought


@pytest.fixture
def film(key: IssuedKey, video_model: MediaModel) -> Call:
    """A call whose outcome nobody knows, of a task that has failed for it."""
    worker_id = steps.worker()
    task = steps.start(key, worker_id, steps.VIDEO)
    route = snapshot.latest().route(task.route_id)
    channel = Channel.objects.get(pk=route.channel.id)
    fields = {"channel_id": channel.pk, "credential_id": channel.credentials.get().pk, "target": route.target}
    (call,) = steps.intend(steps.intent(task, worker_id, **fields))
    end = CallEnd(id=call.id, state="unknown", outcome={"kind": "ambiguous"})
    assert steps.end(task, "failed", failure=UNKNOWN, calls=(end,))
    return Call.objects.get(pk=call.id)
