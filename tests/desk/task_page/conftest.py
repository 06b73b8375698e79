"""What tests of the task's page share: a task that was charged, and members of our groups of users."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from tasks.models import Task
from tests.tasks import steps

HOOK = "https://hooks.example.com/hook?token=CANARYQUERY"


@pytest.fixture
def worker(db: None) -> str:
    return steps.worker()


@pytest.fixture
def charged(key, image_model, worker) -> Task:
    """A succeeded task with one picture that cost $0.04, and a callback."""
    claimed = steps.start(key, worker, {**steps.IMAGE, "callback_url": HOOK, "metadata": {"order": "A-17"}})
    call_id = steps.accepted(claimed, worker)
    steps.end(claimed, call=steps.CallEnd(id=call_id, state="done", outcome={"kind": "succeeded"}, cost_micros=30_000))
    return Task.objects.get(id=claimed.id)


@pytest.fixture
def somebody(db: None) -> Callable[[str], Client]:
    """A browser of a member of one of our groups of users."""

    def sign_in(group: str) -> Client:
        user = User.objects.create_user(group, is_staff=True)
        user.groups.add(Group.objects.get(name=group))
        client = Client()
        client.force_login(user)
        return client

    return sign_in
