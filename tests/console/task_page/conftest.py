"""What tests of a task's page share: a task that was charged, with a callback."""

import pytest

from tasks.models import Task
from tests.tasks import steps

HOOK = "https://hooks.example.com/hook?token=CANARYQUERY"


@pytest.fixture
def worker(db: None) -> str:
    return steps.worker()


@pytest.fixture
def bought(key, image_model, worker) -> Task:
    """A succeeded task with one picture that cost $0.04, and a callback that is due."""
    claimed = steps.start(key, worker, {**steps.IMAGE, "callback_url": HOOK, "metadata": {"order": "A-17"}})
    call_id = steps.accepted(claimed, worker)
    outcome = {"kind": "succeeded", "message": "CANARYWORDS", "request_id": "CANARYREQUEST"}
    steps.end(claimed, call=steps.CallEnd(id=call_id, state="done", outcome=outcome, cost_micros=31_337))
    return Task.objects.get(id=claimed.id)
