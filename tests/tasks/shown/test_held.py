"""What a queued task waits for, in words."""

import pytest

from adapters.base import ErrorKind
from catalog import pausing
from catalog.models import Channel, Route
from tasks.models import Task
from tasks.shown import held
from tests.refusing import refuse, succeed
from tests.rows import make_channel, make_route
from tests.tasks import steps

pytestmark = pytest.mark.django_db


@pytest.fixture
def spare(plan, image_model) -> Channel:
    channel = make_channel("spare", "openai_images", "https://spare.provider.example/v1")
    make_route(plan, image_model, channel, upstream_model="gpt-image-2", priority=20)
    return channel


@pytest.fixture
def task(key, spare) -> Task:
    return Task.objects.get(id=steps.submitted(key))


def test_a_task_that_may_start_waits_for_nothing(task):
    assert held.of(task) == []


def test_each_route_tells_why_it_cannot_be_taken(task, image_channel, spare):
    pausing.pause(image_channel)
    refuse(spare, ErrorKind.OVERLOADED, retry_after=600)
    assert held.of(task) == [pausing.told(image_channel), "channel spare cools down"]
    Channel.objects.filter(pk=spare.pk).update(max_running=0)
    succeed(spare)
    image_channel.credentials.update(disabled_at="2026-01-01T00:00:00Z")
    assert held.of(task)[0] == pausing.told(image_channel)  # it waits also while they are mended
    pausing.resume(image_channel)
    Route.objects.filter(channel=spare).delete()
    assert held.of(task) == [
        "every credential of channel studio is disabled",
        f"route #{gone(task)} is in the catalog no more",
    ]


def gone(task: Task) -> int:
    return task.open_routes.routes[-1]


def test_a_paused_model_is_told_once_for_all_its_routes_and_one_that_runs_is_not_held(task, image_model, worker):
    pausing.pause(image_model)
    assert held.of(task) == [pausing.told(image_model)]
    pausing.resume(image_model)
    steps.claimed(worker)
    task.refresh_from_db()
    pausing.pause(image_model)
    assert held.of(task) == []
