"""Providers that fall silent, in every protocol and at every stage at once: a worker that nobody holds up."""

import time

import pytest

from accounts.models import Account, ApiKey
from billing import ledger
from tasks.models import Call
from tests.faults.scenes import ended
from tests.tasks import steps
from tests.worker.driving import hurry, task
from tests.worker.protocols import LANES, Lane
from tools.children import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
DEADLINES = "queue=60,image=3,video=3"


def words_of(lane: Lane) -> list[str]:
    polls = ["[poll:hang]"] if lane.is_job else []
    downloads = ["[download:hang]"] if lane.has_links else []
    return ["[hang]", late_word(lane), *polls, *downloads]


def late_word(lane: Lane) -> str:
    """Ends well after the last poll of a job, and while a synchronous call is still listened to."""
    return "[late=15]" if lane.is_job else "[late=5]"


def states(tasks: dict[str, str]) -> dict[str, str]:
    """Of each lane's call."""
    return {lane: Call.objects.get(task=task_id).state for lane, task_id in tasks.items()}


def test_the_deadline_ends_what_hangs_and_nothing_is_bought_again(start_worker, key, plan, sandbox):
    ApiKey.objects.update(max_running=500, max_queued=500)
    Account.objects.update(max_running=500, max_queued=500)
    ledger.credit(key.account.pk, 10**8, reference="much", reason="test")
    tasks = {}
    for lane in LANES:
        lane.install(plan, sandbox)
        for word in words_of(lane):
            tasks[lane.name, word] = steps.submitted(key, lane.body(f"{lane.name} {word}"))
    start_worker("--concurrency", "200", TASK_DEADLINES=DEADLINES)
    assert set(ended(*tasks.values(), timeout=60)) == {"TASK_TIMEOUT"}
    late = {name: task_id for (name, word), task_id in tasks.items() if word.startswith("[late")}

    def are_over() -> bool:
        # Now and then: a poll that hangs takes 20 seconds, and spoils those of its batch once or twice.
        if time.monotonic() % 2 < 0.1:
            hurry()
        return "late" not in states(late).values()

    wait_until(are_over, timeout=90, what="the late results")
    canceled = {lane for lane, state in states(late).items() if state == "done"}
    assert canceled == {"replicate-image", "replicate-video", "runway", "runway-router"}
    assert {state for lane, state in states(late).items() if lane not in canceled} == {"lost"}
    assert all(task(task_id).actual_micros == 0 for task_id in tasks.values())
    assert set(sandbox.audit()["by_prompt"].values()) == {1}
