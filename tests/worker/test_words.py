"""Every protocol on every bad day: what the sandbox is told to do, by the stage at which it does it, and how it ends.

One task a word, all of one protocol and stage side by side. The audit shows for each word how many jobs were bought;
the `shift` fixture sees to it that the ledger is right afterwards and that no prompt was sold twice.
"""

import pytest

from tasks.models import Task
from tests.tasks import steps
from tests.worker.driving import Shift, assets, end_of, task
from tests.worker.protocols import LANES, Lane

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
OK = ("succeeded", 1)
UNKNOWN, REJECTED, FAILED = "TASK_OUTCOME_UNKNOWN", "TASK_CONTENT_REJECTED", "TASK_UPSTREAM_ERROR"


def of_submit(lane: Lane) -> dict[str, tuple[str, int]]:
    """By word: how the task ends, and how many jobs were bought."""
    lost = OK if lane.finds else (UNKNOWN, 1)
    return {
        "": OK,
        "[fail]": (FAILED, 1) if lane.is_job else ("TASK_UPSTREAM_REJECTED", 0),
        "[moderated]": (REJECTED, 0),
        "[moderated-output]": (REJECTED, int(lane.is_job)),
        "[rate-limited=1]": OK,
        "[status=500]": (UNKNOWN, 0),
        "[status=504]": (UNKNOWN, 0),
        "[garbage]": lost,
        "[reset]": lost,
        "[slow=0.01]": OK,
    }


OF_POLL = {f"[poll:{word}]": OK for word in ("reset=1", "garbage=1", "rate-limited=1", "fail=1", "slow=0.01")}
OF_DOWNLOAD = {f"[download:{word}]": OK for word in ("reset=1", "garbage=1", "rate-limited=1", "fail=1", "slow=0.01")}


def ends(shift: Shift, key, lane: Lane, words: dict, sandbox) -> dict[str, tuple[str, int]]:
    """What became of one task for each word, and how often its prompt was sold."""
    tasks = {word: steps.submitted(key, lane.body(f"a fox {word}")) for word in words}
    shift.work(*tasks.values())
    sold = sandbox.audit()["by_prompt"]
    return {word: (end_of(task_id), sold.get(f"a fox {word}", 0)) for word, task_id in tasks.items()}


@pytest.mark.parametrize("lane", LANES, ids=str)
def test_submit(lane, shift, key, plan, sandbox):
    lane.install(plan, sandbox)
    expected = of_submit(lane)
    assert ends(shift, key, lane, expected, sandbox) == expected
    charged = 40_000 if lane.modality == "image" else 400_000
    for row in Task.objects.all():
        assert row.actual_micros == (charged if row.status == "succeeded" else 0), row.payload.params


@pytest.mark.parametrize("lane", [lane for lane in LANES if lane.is_job], ids=str)
def test_poll(lane, shift, key, plan, sandbox):
    lane.install(plan, sandbox)
    assert ends(shift, key, lane, OF_POLL, sandbox) == OF_POLL


@pytest.mark.parametrize("lane", [lane for lane in LANES if lane.has_links], ids=str)
def test_download(lane, shift, key, plan, sandbox):
    lane.install(plan, sandbox)
    expected = {**OF_DOWNLOAD, "[download:garbage]": (FAILED, 1)}  # a store that is down is waited for
    assert ends(shift, key, lane, expected, sandbox) == expected


@pytest.mark.parametrize("lane", LANES, ids=str)
def test_what_is_delivered_in_part_is_billed_in_part(lane, shift, key, plan, sandbox, bought_again):
    lane.install(plan, sandbox)
    bought_again.add("a fox [partial]")
    more = {"n": 2} if lane.modality == "image" else {}
    task_id = steps.submitted(key, lane.body("a fox [partial]", **more))
    assert (shift.work(task_id), len(assets(task_id))) == ("succeeded", 1)
    whole = 80_000 if lane.modality == "image" else 400_000
    is_part = lane.modality == "image" or lane.reports
    assert task(task_id).actual_micros == (whole // 2 if is_part else whole)
