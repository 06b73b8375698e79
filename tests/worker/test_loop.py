"""The worker as a whole, on threads of this process."""

import statistics
import sys
import threading
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from billing import web_processes
from billing.models import LedgerSeal, RelayedCall
from callbacks import claims
from catalog.models import Rest
from common import sql, swallowed
from common.concurrency import wakeups
from common.concurrency.wakeups import Post
from tasks import cancellation, leases, swallowed_counts
from tasks.claims import queue
from tasks.models import Asset, DayFigure, Task, TaskEvent, Worker
from tests.billing import relayed_steps
from tests.common.concurrency.test_wakeups import cut
from tests.refusing import disable
from tests.tasks import steps
from tests.threads import joined
from tests.worker.driving import assets, beside, film, picture, task
from tools.children import PATIENCE, wait_until
from worker.loop import LANES, Loop, is_drained

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model", "video_model")]


@pytest.fixture
def start(transactional_db, monkeypatch):
    """Starts a worker with these lanes; every one is stopped at the end, and leaves no thread behind."""
    monkeypatch.setattr("worker.loop.STEP_SECONDS", PATIENCE)
    running = []

    def run(*lanes, **options):
        worker = Loop(leases.register(lanes), lanes or LANES, **{"concurrency": 8, **options})
        thread = threading.Thread(target=worker.run)
        thread.start()
        running.append((worker, thread))
        return worker, thread

    yield run
    for worker, thread in running:
        worker.ask_to_stop()
        joined(thread)


def ended(*task_ids):
    wait_until(lambda: not Task.objects.filter(id__in=task_ids, finished_at=None).exists(), what="the end")
    return [task(task_id).status for task_id in task_ids]


def test_pictures_and_films_run_by_themselves(start, key):
    start()
    assert ended(picture(key, "a fox"), film(key, "a fox runs"), picture(key, "a hen", n=2)) == ["succeeded"] * 3
    assert steps.breaches() == []


def test_a_claim_that_was_committed_unseen_is_found_by_its_own_worker(start, key, monkeypatch):
    monkeypatch.setattr("worker.loop.ORPHAN_SECONDS", 0.1)
    with monkeypatch.context() as patch:
        patch.setattr("worker.loop.queue.seconds_to_next", lambda: None)
        worker, _ = start()
        task_id = picture(key, "a fox")
        assert len(queue.claim(worker.id, seats=1).tasks) == 1
    assert ended(task_id) == ["succeeded"]
    assert task(task_id).attempt > 1


def test_a_disabled_credential_comes_back_by_itself(start, image_channel):
    credential = image_channel.credentials.get()
    disable(credential)
    sql.run(f"UPDATE catalog_credential SET probe_at = {sql.now()}")
    start("janitor")
    wait_until(lambda: image_channel.credentials.get().disabled_at is None, what="the probe")


def test_calls_of_dead_web_processes_end_by_themselves(start, key):
    call = relayed_steps.opened(key)
    web_processes.stop(call.process_id)
    start("janitor")
    wait_until(lambda: not RelayedCall.objects.filter(state="open").exists(), what="the janitor")
    assert steps.breaches() == []


def test_rests_that_are_long_over_are_deleted_by_themselves(start, image_channel):
    long_ago = timezone.now() - timedelta(days=30)
    Rest.objects.create(channel=image_channel, cause="model", upstream_model="m", last_at=long_ago, until=long_ago)
    start("janitor")
    wait_until(lambda: not Rest.objects.exists(), what="the janitor")


def test_what_has_ended_is_folded_into_the_figures_by_itself(start, key):
    start()
    assert ended(picture(key, "a fox")) == ["succeeded"]
    wait_until(lambda: DayFigure.objects.filter(outcome="succeeded", tasks=1).exists(), what="the janitor")
    assert steps.breaches() == []


def test_files_past_their_retention_go_by_themselves(start, key):
    start("tasks")
    task_id = picture(key, "a fox")
    assert ended(task_id) == ["succeeded"]
    Asset.objects.update(created_at="2020-01-01T00:00:00Z")
    start("janitor")
    wait_until(lambda: all(asset.deleted_at for asset in assets(task_id)), what="the janitor")


@pytest.fixture
def apart(monkeypatch):
    """Starts a worker as in a process of its own, that looks for tasks only when it is woken."""
    monkeypatch.setattr("worker.loop.SAFETY_SECONDS", 3_600.0)
    own = Post()

    def run(start, *lanes):
        with monkeypatch.context() as patch:
            patch.setattr(wakeups, "post", own)
            found, _ = start(*lanes)
            wait_until(lambda: own.is_listening, what="the worker's ears")
        return found

    yield run
    own.close()


def test_a_sleeping_worker_is_woken_by_another_process(start, apart, key):
    apart(start, "tasks")
    for number in range(3):
        assert ended(picture(key, f"a fox {number}")) == ["succeeded"]


def test_a_worker_whose_line_was_cut_is_still_woken(start, apart, key):
    apart(start, "tasks")
    ended(picture(key, "a fox"))
    if connection.vendor == "postgresql":
        cut()
    assert ended(picture(key, "a hen")) == ["succeeded"]


def test_a_lost_wake_up_is_healed_by_the_next_look(start, key, monkeypatch):
    monkeypatch.setattr("worker.loop.SAFETY_SECONDS", 0.1)
    task_id = picture(key, "a fox")
    steps.age(task_id, "not_before", 3_600)
    waits, look = [], queue.seconds_to_next
    monkeypatch.setattr(queue, "seconds_to_next", lambda: waits.append(look()) or waits[-1])
    start("tasks")
    wait_until(lambda: waits, what="the first look")
    steps.age(task_id, "not_before", -1)  # which nobody tells
    assert ended(task_id) == ["succeeded"]


def test_a_task_that_limits_hold_back_starts_when_another_ends(start, key, account, monkeypatch):
    monkeypatch.setattr("worker.loop.SAFETY_SECONDS", 3_600.0)
    monkeypatch.setattr("worker.loop.FULL_SECONDS", 3_600.0)
    account.max_running = 1
    account.save()
    start("tasks")
    assert ended(*[picture(key, f"a fox {number}") for number in range(4)]) == ["succeeded"] * 4


def test_a_task_that_has_to_wait_starts_at_its_moment(start, key, monkeypatch):
    monkeypatch.setattr("worker.loop.SAFETY_SECONDS", 3_600.0)
    task_id = picture(key, "a fox")
    sql.run(f"UPDATE tasks_task SET not_before = {sql.later('0.5')}")
    start("tasks")
    assert ended(task_id) == ["succeeded"]


def test_an_idle_worker_makes_two_statements_a_second_at_most(key):
    """By what each step asks and how long it then sleeps. What is left is for the lane that polls."""
    worker = Loop(leases.register(LANES), LANES, concurrency=8)
    rates = {}
    for lane in worker._made():
        if lane.step != worker._poll:
            lane.step()
            with steps.captured() as statements:
                pause = lane.step()
            rates[lane.step.__name__] = len(statements) / pause
    assert sum(rates.values()) <= 1.5, rates
    assert len(rates) == 12


@pytest.mark.soak
def test_the_median_pick_up_is_under_a_tenth_of_a_second(start, key):
    """By the database's clock, of twenty tasks one after another."""
    start()
    waits = []
    for number in range(20):
        task_id = picture(key, f"a fox {number}")
        ended(task_id)
        waits.append((task(task_id).started_at - task(task_id).created_at).total_seconds())
    sys.stdout.write(f"picked up after {statistics.median(waits) * 1000:.0f} ms (median of {len(waits)})\n")
    assert statistics.median(waits) < 0.1


def test_a_drained_worker_ends_when_nothing_is_left(start, key, image_channel):
    image_channel.max_running = 1
    image_channel.save()
    tasks = [picture(key, "a fox"), film(key, "a fox runs"), picture(key, "a hen")]
    _, thread = start(drain=True)
    joined(thread)
    assert [task(task_id).status for task_id in tasks] == ["succeeded"] * 3


def test_a_task_that_ends_meanwhile_leaves_a_delivery_to_a_drained_worker(transactional_db, key, monkeypatch):
    task_id = steps.submitted(key, callback_url="https://client.example/hook")
    has_due = claims.has_due

    def ends_after_the_look():
        was_due = has_due()
        cancellation.cancel(key.id, task_id)
        return was_due

    monkeypatch.setattr(claims, "has_due", ends_after_the_look)
    assert not is_drained()


def test_the_tasks_lane_needs_no_janitor_and_the_janitor_no_tasks_lane(start, key):
    start("janitor")
    task_id = picture(key, "a fox")
    overdue = picture(key, "a hen")
    steps.age(overdue, "deadline_at", -1)
    assert ended(overdue) == ["timeout"]
    assert task(task_id).status == "queued"
    start("tasks")
    assert ended(task_id) == ["succeeded"]


def test_a_janitor_without_the_tasks_lane_adopts_nothing_that_it_would_not_follow(start, key):
    other = steps.worker()
    task_id = picture(key, "a fox")
    (claimed,) = steps.claimed(other)
    steps.accepted(claimed, other, poll_after=100.0)
    leases.stop(other)
    start("janitor")
    overdue = picture(key, "a hen")
    steps.age(overdue, "deadline_at", -1)
    ended(overdue)
    assert task(task_id).worker_id == other


def test_a_stopped_worker_hands_back_what_it_has_not_bought_and_leaves_its_lease(start, key, sandbox):
    worker, thread = start()
    worker.execution.stop()
    task_id = picture(key, "a fox")
    wait_until(lambda: TaskEvent.objects.filter(task_id=task_id).count() >= 3, what="the way back")
    worker.ask_to_stop()
    joined(thread)
    assert (task(task_id).status, task(task_id).requeues) == ("queued", 0)
    assert sandbox.audit()["jobs"] == 0
    assert Worker.objects.get(id=worker.id).stopped_at is not None


def test_a_worker_that_others_declared_stopped_ends():
    worker = Loop(leases.register(LANES), LANES, concurrency=1)
    Worker.objects.filter(id=worker.id).update(stopped_at="2026-01-01T00:00:00Z")
    joined(beside(worker.run))


def test_seats_that_are_free_again_have_no_threads(start, key):
    start()
    ended(*[picture(key, f"a fox {number}") for number in range(10)], film(key, "a fox runs"))
    wait_until(lambda: not names_of_threads() & {"task", "poll", "copy"}, what="the threads' end")


def names_of_threads():
    return {thread.name for thread in threading.enumerate()}


def test_a_fault_in_one_step_does_not_end_the_others(start, key, monkeypatch):
    monkeypatch.setattr("worker.heal.deadlines.prune", lambda _: 1 // 0)
    start()
    assert ended(picture(key, "a fox")) == ["succeeded"]


def test_a_worker_whose_own_lease_ran_low_takes_nobody_for_dead_at_once(key):
    """The database was away: the others could not renew their leases either."""
    worker, other = Loop(leases.register(LANES), LANES, concurrency=1), steps.worker()
    task_id = picture(key, "a fox")
    steps.claimed(other)
    steps.silence(other)
    worker._beaten_at -= 3600
    worker._adopt()
    worker._beat()
    worker._adopt()
    assert task(task_id).worker_id == other
    worker._adopts_from -= 3600  # as if the time that the others get were over
    worker._beat()
    worker._adopt()
    assert task(task_id).status == "queued"


BAD_ARGUMENTS = {
    "--lanes=tasks,sweeper": "--lanes: unknown lane 'sweeper'; known are tasks, callbacks, janitor",
    "--lanes=": "--lanes: unknown lane ''",
    "--concurrency=0": "--concurrency: '0' is not a whole number from 1 to 1000",
    "--concurrency=1001": "--concurrency: '1001' is not a whole number from 1 to 1000",
    "--concurrency=many": "--concurrency: 'many' is not a whole number from 1 to 1000",
    "--concurrency=٣": "--concurrency: '٣' is not",
    "--no-such-option": "unrecognized arguments: --no-such-option",
}


def test_bad_arguments_are_refused_in_one_line():
    for argument, said in BAD_ARGUMENTS.items():
        with pytest.raises(CommandError) as refused:
            call_command("run_worker", argument)
        assert said in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_database_without_tables_is_named_in_one_line():
    with connection.schema_editor() as editor:
        editor.execute("ALTER TABLE tasks_worker RENAME TO tasks_worker_away")
    try:
        with pytest.raises(CommandError) as refused:
            call_command("run_worker", "--drain")
    finally:
        with connection.schema_editor() as editor:
            editor.execute("ALTER TABLE tasks_worker_away RENAME TO tasks_worker")
    assert "tasks_worker" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_janitor_lane_seals_the_ledger(start, account):
    start("janitor")
    wait_until(LedgerSeal.objects.exists, what="the seal")
    assert steps.breaches() == []


def test_a_heartbeat_stores_the_counts_of_swallowed_errors(start):
    swallowed.put_back({"tests.worker": 2})
    start("callbacks")
    wait_until(lambda: swallowed_counts.totals().get("tests.worker") == 2, what="the counts")
