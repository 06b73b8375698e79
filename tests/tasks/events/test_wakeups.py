"""Who is woken by what happens to a task."""

from collections.abc import Callable, Iterator

import pytest

from callbacks import deliveries
from common.concurrency import wakeups
from common.concurrency.wakeups import Post
from tasks import leases
from tasks.claims import queue
from tasks.events import events
from tasks.models import ENDED, LIVE
from tests.tasks import steps
from tools.children import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model")]
TOPICS = ("queued", "freed", "stopped", "callbacks", "events")


@pytest.fixture
def told(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], set[str]]]:
    """The topics that were told since the last call."""
    rung: list[str] = []
    post = Post()
    monkeypatch.setattr(wakeups, "post", post)
    with post.listening({topic: lambda topic=topic: rung.append(topic) for topic in TOPICS}):
        wait_until(lambda: set(rung) == set(TOPICS), what="the line")

        def take() -> set[str]:
            taken = set(rung)
            rung.clear()
            return taken

        take()
        yield take
    post.close()


def test_each_status_has_its_topics():
    assert events.TOPICS.keys() == {*LIVE, *ENDED}


def test_every_change_wakes_those_whom_it_concerns(told, key, worker):
    task_id = steps.submitted(key, callback_url="https://client.example/hook")
    assert told() == {"queued", "events"}
    (task,) = steps.claimed(worker)
    assert told() == {"events"}
    queue.requeue([queue.Return(task_id=task.id, attempt=task.attempt, open_routes_id=task.open_routes_id)])
    assert told() == {"queued", "events"}
    (task,) = steps.claimed(worker)
    told()
    steps.end(task)
    assert told() == {"freed", "callbacks", "events"}
    deliveries.redeliver(task_id)
    assert told() == {"callbacks"}
    leases.stop(worker)
    assert told() == {"stopped"}
