"""Protocols without a count: one task, several paid calls, one bill."""

import pytest

from billing.models import Hold
from catalog.models import Channel
from common.errors import StorageUnavailable
from tasks import calls, storage
from tasks.models import Call
from tests.rows import make_channel, make_route
from tests.tasks import steps
from tests.worker.driving import Shift, assets, hurry, outage, picture, task
from worker import channels, jobs
from worker.purchase import Purchase, pay

pytestmark = pytest.mark.django_db(transaction=True)

LINKS, BYTES = ("ark_images", "/ark/api/v3"), ("gemini_generate_content", "/gemini")
MICROS = 40_000


@pytest.fixture(params=[LINKS, BYTES], ids=["links", "bytes"])
def image_channel(request, db, sandbox) -> Channel:
    """Protocols that answer one call with one picture: by its address, or with its bytes."""
    adapter, path = request.param
    return make_channel("single", adapter, sandbox.url + path)


@pytest.fixture(autouse=True)
def several(image_model, bought_again):
    """Every prompt here is bought once for each picture."""
    bought_again.update(PROMPTS)


PROMPTS = [
    f"a fox {word}".strip()
    for word in (
        "", "[partial]", "[reset=1]", "[reset]", "[moderated]", "[moderated=1]", "[rate-limited=1]", "[rate-limited=3]",
        "[garbage=2]", "[status=503]", "[download:reset=1]",
    )
]  # fmt: skip


def states(task_id: str) -> list[str]:
    return list(Call.objects.filter(task_id=task_id).order_by("attempt", "position").values_list("state", flat=True))


def bill(task_id: str) -> tuple[str, int, int]:
    row = task(task_id)
    return row.status, len(assets(task_id)), row.actual_micros or 0


def test_a_call_for_each_picture_and_one_bill(shift, key, sandbox):
    task_id = picture(key, "a fox", n=3)
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 3, 3 * MICROS)
    assert sandbox.audit()["by_prompt"] == {"a fox": 3}
    rows = Call.objects.filter(task_id=task_id).order_by("position")
    assert [(row.position, row.state, row.outcome["delivered"]) for row in rows] == [(n, "done", 1) for n in range(3)]
    assert len({row.request_digest for row in rows}) == 1


def test_the_intents_are_all_committed_before_the_first_call(shift, key, sandbox):
    task_id = picture(key, "a fox", n=2)
    (claimed,) = shift.claim()
    shift.execution.stop()
    shift.execution.run(claimed)
    assert (states(task_id), task(task_id).status, sandbox.audit()["jobs"]) == ([], "queued", 0)


@pytest.mark.parametrize("word", ["[reset=1]", "[moderated=1]", "[rate-limited=1]", "[partial]"])
def test_two_results_of_three_are_billed_as_two(shift, key, sandbox, word):
    task_id = picture(key, f"a fox {word}", n=3)
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 2, 2 * MICROS)
    assert states(task_id).count("done") >= 2
    assert Hold.objects.get(reference=task_id).state == "settled"


def test_what_was_lost_on_the_way_is_listed_for_the_operator(shift, key, sandbox):
    task_id = picture(key, "a fox [reset=1]", n=2)
    assert shift.work(task_id) == "succeeded"
    assert sorted(states(task_id)) == ["done", "unknown"]
    assert sandbox.audit()["jobs"] == 2


def test_all_lost_is_an_unknown_outcome(shift, key, sandbox):
    task_id = picture(key, "a fox [reset]", n=2)
    assert shift.work(task_id) == "TASK_OUTCOME_UNKNOWN"
    assert states(task_id) == ["unknown", "unknown"]
    assert sandbox.audit()["jobs"] == 2


def test_all_refused_is_the_refusal(shift, key, sandbox):
    task_id = picture(key, "a fox [moderated]", n=2)
    assert shift.work(task_id) == "TASK_CONTENT_REJECTED"
    assert states(task_id) == ["refused", "refused"]
    assert sandbox.audit()["jobs"] == 0


def test_all_busy_waits_and_is_bought_once(shift, key, sandbox):
    task_id = picture(key, "a fox [rate-limited=3]", n=3)
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 3, 3 * MICROS)
    assert sandbox.audit()["jobs"] == 3
    assert task(task_id).requeues == 1


def test_all_refused_goes_to_a_route_that_buys_the_same(shift, key, sandbox, plan, image_model):
    spare = make_channel("spare", "openai_images", f"{sandbox.url}/openai/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2", priority=200)
    path = Channel.objects.get(name="single").base_url.removeprefix(sandbox.url)
    outage(sandbox, path=path, status=503, times=2)
    task_id = picture(key, "a fox", n=2)
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 2, 2 * MICROS)
    assert sandbox.audit()["jobs"] == 1  # of the spare route, which takes a count
    assert states(task_id) == ["refused", "refused", "done"]


def test_one_lost_beside_a_refusal_is_never_bought_elsewhere(shift, key, sandbox, plan, image_model):
    spare = make_channel("spare", "openai_images", f"{sandbox.url}/openai/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2", priority=200)
    path = Channel.objects.get(name="single").base_url.removeprefix(sandbox.url)
    outage(sandbox, path=path, status=503, times=1)
    outage(sandbox, path=path, status=500, times=1)
    task_id = picture(key, "a fox", n=2)
    assert shift.work(task_id) == "TASK_OUTCOME_UNKNOWN"
    assert sorted(states(task_id)) == ["refused", "unknown"]


def halfway(shift: Shift, key) -> tuple[str, jobs.Job, tuple[int, ...]]:
    """A task with two intents, of which the first is answered."""
    task_id = picture(key, "a fox", n=2)
    (claimed,) = shift.claim()
    job = jobs.load(claimed)
    credential_id, connection = channels.connection(job.route.channel.id, job.target, total_timeout=10)
    call_ids = calls.intend(steps.intent(claimed, shift.id, target=job.target, channel_id=job.route.channel.id), 2)
    purchase = Purchase(job=job, call_ids=call_ids, credential_id=credential_id, connection=connection)
    pay(purchase, 0, [])
    return task_id, job, call_ids


def test_a_result_waits_for_its_siblings(shift, key):
    task_id, _, _ = halfway(shift, key)
    for _ in range(3):
        hurry()
        shift.poll()
    assert (task(task_id).status, states(task_id)) == ("running", ["accepted", "intent"])


def test_a_crash_between_two_answers_delivers_what_was_answered(shift, key, sandbox):
    task_id, _, _ = halfway(shift, key)
    steps.silence(shift.id)
    other = Shift()
    other.sweep()
    assert other.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 1, MICROS)
    assert states(task_id) == ["done", "unknown"]
    assert sandbox.audit()["jobs"] == 1


def test_at_the_deadline_the_results_at_hand_are_delivered(shift, key):
    task_id, _, _ = halfway(shift, key)
    steps.age(task_id, "deadline_at", -1)
    shift.sweep()
    hurry()
    shift.poll()
    assert bill(task_id) == ("succeeded", 1, MICROS)
    assert states(task_id) == ["done", "late"]


def test_a_result_after_the_end_is_our_loss_and_leaves_no_file(shift, key):
    task_id, job, _ = halfway(shift, key)
    kept = Call.objects.get(task_id=task_id, position=0).handle.get("assets", [])
    steps.end(job.task, "timeout")
    assert states(task_id) == ["late", "late"]
    hurry()
    shift.poll()
    assert states(task_id) == ["lost", "late"]
    for asset in kept:
        with pytest.raises(StorageUnavailable):
            storage.open(asset["storage_key"])


def test_the_last_of_several_failures_ends_the_task(shift, key):
    task_id, _, call_ids = halfway(shift, key)
    first, second = call_ids
    assert calls.drop(first, task_id, state="done", outcome={"kind": "provider_failed"})
    assert not calls.drop(second, task_id, state="refused", outcome={})
    assert states(task_id) == ["done", "intent"]
    steps.silence(shift.id)
    Shift().sweep()
    assert (task(task_id).status, states(task_id)) == ("failed", ["done", "unknown"])
