"""An asynchronous video task through every mood of its provider."""

from dataclasses import replace

import pytest

from adapters import registry
from adapters.base import ErrorKind, Pending, UpstreamError
from billing.models import Hold
from tasks.models import Call
from tests.rows import add_credential, make_channel, make_model, make_route
from tests.tasks import steps
from tests.worker.driving import assets, at_provider, call, end_of, film, forget_at_provider, hurry, outage, task
from tools.children import wait_until
from worker.follow import polling

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("video_model")]


def test_a_film_is_bought_once_followed_stored_and_charged(shift, key, sandbox):
    task_id = film(key, "a fox runs")
    assert shift.work(task_id) == "succeeded"
    (asset,) = assets(task_id)
    assert (asset.kind, asset.content_type) == ("video", "video/mp4")
    assert asset.duration_seconds == pytest.approx(2, abs=0.1)
    assert task(task_id).actual_micros == 200_000
    assert sandbox.audit()["by_prompt"] == {"a fox runs": 1}


def test_a_running_film_is_a_row_and_not_a_thread(shift, key):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    shift.poll()
    assert task(task_id).status == "running"
    assert call(task_id).state == "accepted"
    assert shift.execution.in_hand == frozenset()


BAD_ANSWERS = {  # how the task ends, its call's state, and how many jobs were bought
    "[fail]": ("TASK_UPSTREAM_ERROR", "done", 1),
    "[moderated]": ("TASK_CONTENT_REJECTED", "refused", 0),
    "[moderated-output]": ("TASK_CONTENT_REJECTED", "done", 1),
    "[status=400]": ("TASK_UPSTREAM_REJECTED", "refused", 0),
    "[status=500]": ("TASK_OUTCOME_UNKNOWN", "unknown", 0),
    "[garbage]": ("TASK_OUTCOME_UNKNOWN", "unknown", 1),
    "[reset]": ("TASK_OUTCOME_UNKNOWN", "unknown", 1),
    "[status=403]": ("TASK_UPSTREAM_REJECTED", "refused", 0),
}


def test_a_bad_answer_ends_the_task_and_releases_its_hold(shift, key, sandbox):
    for word, (error, state, jobs) in BAD_ANSWERS.items():
        task_id = film(key, f"a fox runs {word}")
        assert shift.work(task_id) == error, word
        assert (task(task_id).status, task(task_id).actual_micros) == ("failed", 0), word
        assert Hold.objects.get(reference=task_id).state == "released", word
        assert call(task_id).state == state, word
        assert sandbox.audit()["by_prompt"].get(f"a fox runs {word}", 0) == jobs, word


def test_faults_of_polls_never_fail_a_task(shift, key, sandbox):
    task_id = film(key, "a fox runs [poll:reset=2][poll:garbage=2][poll:fail=2][poll:rate-limited=2]")
    assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["jobs"] == 1
    assert sandbox.audit()["calls"]["poll"] >= 9


def test_no_status_of_a_gateway_in_front_of_the_polls_fails_a_task(shift, key, sandbox):
    task_id = film(key, "a fox runs")
    shift.execute()
    for faults, status in enumerate((400, 401, 404, 429, 500, 503), start=1):
        outage(sandbox, path="/ark/", method="GET", status=status)
        shift.step()
        assert (task(task_id).status, call(task_id).faults) == ("running", faults), status
    assert shift.work(task_id) == "succeeded"


def test_a_result_that_is_missing_is_asked_for_once_more(shift, key):
    task_id = film(key, "a fox runs")
    shift.execute()
    wait_until(lambda: at_provider(task_id) == "succeeded", what="the job's end")
    forget_at_provider(task_id)
    hurry()
    shift.poll()
    assert (task(task_id).status, call(task_id).faults) == ("running", 1)
    hurry()
    shift.poll()
    assert end_of(task_id) == "TASK_UPSTREAM_ERROR"


def test_each_poll_fault_in_a_row_waits_longer(shift, key):
    task_id = film(key, "a fox runs [held][poll:reset=2]")
    shift.execute()
    for faults in (1, 2, 0):
        shift.step()
        assert call(task_id).faults == faults


def test_a_late_job_is_asked_for_seldom(shift, key):
    film(key, "a fox runs [held]")
    shift.execute()
    hurry()
    (due,) = steps.due(shift.id)
    for answer in (Pending(poll_after=1.0), UpstreamError(ErrorKind.RATE_LIMITED, "wait")):
        plan = polling.next_poll(replace(due, is_late=True, copy_faults=2), answer)
        assert (plan.delay_seconds, plan.copy_faults) == (polling.LATE_POLL_SECONDS, 2)


def test_a_failed_copy_is_tried_again_without_buying_again(shift, key, sandbox):
    task_id = film(key, "a fox runs [download:reset=1][download:fail=2][download:garbage=2]")
    assert shift.work(task_id) == "succeeded"
    assert call(task_id).copy_faults == 5
    assert sandbox.audit()["jobs"] == 1


@pytest.mark.parametrize("status", [202, 404, 425, 429, 500, 503])
def test_a_file_that_is_not_there_yet_is_waited_for(shift, key, sandbox, status):
    task_id = film(key, "a fox runs")
    shift.execute()
    outage(sandbox, path=f"/files/{call(task_id).handle['id']}-0.mp4", status=status, times=9)
    assert shift.work(task_id) == "succeeded"
    assert (call(task_id).copy_faults, sandbox.audit()["jobs"]) == (9, 1)


def test_a_store_that_is_away_is_waited_for(shift, key):
    task_id = film(key, "a fox runs [download:reset=9]")
    assert shift.work(task_id) == "succeeded"
    assert call(task_id).copy_faults == 9


def test_a_copy_that_never_works_is_given_up(shift, key, sandbox):
    for count, word in enumerate(("[download:garbage]", "[download:status=403]", "[download:status=410]"), start=1):
        task_id = film(key, f"a fox runs {word}")
        assert shift.work(task_id) == "TASK_UPSTREAM_ERROR", word
        assert call(task_id).outcome["kind"] == "copy_failed", word
        assert sandbox.audit()["calls"]["download"] == 6 * count, word


def test_a_shorter_film_is_charged_as_reported(shift, key):
    task_id = film(key, "a fox runs [partial]")
    assert shift.work(task_id) == "succeeded"
    assert task(task_id).actual_micros == 100_000
    assert task(task_id).payload.result == {"duration": 1}


def test_jobs_of_one_channel_are_asked_for_together(shift, key, sandbox):
    for n in range(5):
        film(key, f"a fox runs {n} [held]")
    shift.execute()
    before = sandbox.audit()["calls"].get("poll", 0)
    hurry()
    shift.poll()
    assert sandbox.audit()["calls"]["poll"] == before + 1


@pytest.fixture
def asked(monkeypatch):
    """For each job, by the provider's id, the base URL that its polls went to and the end of their credential."""
    found: dict[str, set[tuple[str, str]]] = {}
    adapter = registry.get("ark_content_tasks")
    poll = adapter.poll

    def noted(handles, connection):
        for handle in handles:
            found.setdefault(handle["id"], set()).add((connection.base_url, connection.credentials["api_key"][-4:]))
        return poll(handles, connection)

    monkeypatch.setattr(adapter, "poll", noted)
    return found


def test_a_job_is_followed_where_and_with_what_it_was_bought(shift, key, video_channel, asked):
    add_credential(video_channel, "the-second-credential-5678")
    films = [film(key, "a fox runs"), film(key, "a hen runs")]
    shift.execute()
    bought = {
        call(task_id).handle["id"]: {(video_channel.base_url, call(task_id).credential.last4)} for task_id in films
    }
    video_channel.base_url, video_channel.options = "https://moved.invalid/api/v3", {"poll_seconds": 1}
    video_channel.save()
    assert [shift.work(task_id) for task_id in films] == ["succeeded", "succeeded"]
    assert {last4 for places in bought.values() for _, last4 in places} == {"1234", "5678"}
    assert asked == bought


def test_one_job_that_failed_does_not_fail_its_batch(shift, key):
    films = [film(key, "a fox runs"), film(key, "a hen runs [fail]"), film(key, "an owl flies")]
    assert [shift.work(task_id) for task_id in films] == ["succeeded", "TASK_UPSTREAM_ERROR", "succeeded"]


def test_a_channel_that_hangs_holds_up_no_other(shift, key, plan, sandbox, monkeypatch):
    monkeypatch.setattr("worker.follow.polling.POLLS_PER_CHANNEL", 1)
    channel = make_channel("hanging", "ark_content_tasks", f"{sandbox.url}/ark/api/v3/")
    model = make_model("stuck-video", "video", plan=plan, prices={"*": "0.1"})
    make_route(plan, model, channel, upstream_model="seedance-1")
    stuck = film(key, "stuck [poll:held]", model="stuck-video")
    shift.execute()
    hurry()
    shift.polling.tick()
    wait_until(lambda: sandbox.audit()["calls"].get("poll"), what="the poll that hangs")
    task_id = film(key, "a fox runs")
    shift.execute()
    wait_until(lambda: (hurry(), shift.polling.tick(), task(task_id).status == "succeeded")[-1], what="the other's end")
    assert (task(stuck).status, call(stuck).faults) == ("running", 0)
    sandbox.release()
    assert shift.work(stuck) == "succeeded"


def test_a_handle_may_have_any_keys(shift, key):
    """Those of a finished call's result, too: a plug-in's handle is its own."""
    task_id = film(key, "a fox runs")
    shift.execute()
    Call.objects.update(handle=call(task_id).handle | {"outputs": "mine", "assets": [], "duration": None})
    assert shift.work(task_id) == "succeeded"
    assert call(task_id).result is None


def test_an_adapter_that_is_gone_is_a_poll_fault(shift, key, monkeypatch):
    task_id = film(key, "a fox runs")
    shift.execute()
    monkeypatch.setattr("worker.follow.polling.registry.ADAPTERS", {})
    hurry()
    shift.poll()
    assert call(task_id).faults == 1
    monkeypatch.undo()
    assert shift.work(task_id) == "succeeded"
