"""The task object in each state: all fields, null where absent; polling with ETag and Retry-After."""

import time
from datetime import timedelta
from functools import partial
from operator import add
from types import SimpleNamespace

import pytest

from callbacks.models import Delivery
from tasks.assets import signed_urls
from tasks.models import Task, TaskEvent
from tasks_api import views
from tests.tasks.steps import age
from tests.tasks_api.asking import REJECTED, TIME, end, image_task, named, start

FIELDS = {
    *("id", "status", "modality", "model", "created_at", "started_at", "finished_at", "estimated_cost", "actual_cost"),
    *("result", "assets", "metadata", "error", "progress", "queue_position", "callback"),
}
ASSET_FIELDS = {
    *("index", "kind", "url", "content_type", "size_bytes", "sha256", "expires_at", "width", "height", "duration"),
}
HOOK = {**image_task(), "callback_url": "https://example.com/hook"}


@pytest.fixture
def task_id(api, image_model) -> str:
    return api.submitted()


@pytest.fixture
def lasting_links(settings) -> None:
    """An ETag changes with the window of the links that it shows: none of these ends while a test runs."""
    settings.ASSET_URL_TTL = 10**10


def test_a_queued_task_has_all_fields_and_null_where_there_is_nothing(api, task_id):
    task = api.task(task_id)
    assert set(task) == FIELDS
    absent = ("started_at", "finished_at", "actual_cost", "result", "metadata", "error", "progress", "callback")
    assert [task[name] for name in absent] == [None] * len(absent)
    assert (task["status"], task["assets"], task["queue_position"]) == ("queued", [], 1)


def test_a_running_task_has_no_position_in_the_queue(api, task_id):
    start(task_id)
    Task.objects.update(progress=40)
    task = api.task(task_id)
    assert set(task) == FIELDS
    assert (task["status"], task["progress"]) == ("running", 40)
    assert (task["queue_position"], task["actual_cost"]) == (None, None)


def test_a_succeeded_task_shows_result_assets_and_cost(api, task_id):
    end(task_id, "succeeded")
    task = api.task(task_id)
    assert set(task) == FIELDS
    assert (task["status"], task["actual_cost"], task["error"]) == ("succeeded", 0.04, None)
    (asset,) = task["assets"]
    assert set(asset) >= ASSET_FIELDS
    assert task["result"] == {"duration": 0, "data": [{name: asset[name] for name in ("index", "kind", "url")}]}


def test_times_are_utc_with_milliseconds_and_z(api, task_id):
    end(task_id, "succeeded")
    task = api.task(task_id)
    for moment in (task["created_at"], task["finished_at"], task["assets"][0]["expires_at"]):
        assert TIME.fullmatch(moment)


def test_asset_urls_are_signed_and_minted_afresh(api, task_id):
    end(task_id, "succeeded")
    url = api.task(task_id)["assets"][0]["url"]
    assert url.startswith(f"https://api.ours.example/assets/{task_id}/0.png?")
    assert signed_urls.parse_own(url) == (task_id, 0)


@pytest.mark.parametrize("status", ["failed", "timeout"])
def test_a_failed_or_timed_out_task_says_why_and_costs_nothing(api, task_id, account, status):
    end(task_id, status, failure=REJECTED)
    task = api.task(task_id)
    assert set(task) == FIELDS
    assert task["error"] == {"type": REJECTED.type, "message": REJECTED.message, "retryable": False}
    assert (task["status"], task["actual_cost"], task["result"], task["assets"]) == (status, 0, None, [])
    account.refresh_from_db()
    assert (account.balance_micros, account.held_micros) == (10_000_000, 0)


def test_a_canceled_task_has_no_error_and_costs_nothing(api, task_id):
    end(task_id, "canceled")
    task = api.task(task_id)
    assert (task["error"], task["actual_cost"], task["queue_position"]) == (None, 0, None)
    assert task["finished_at"] is not None


@pytest.mark.parametrize("status", ["succeeded", "failed", "timeout", "canceled"])
def test_every_end_owes_the_callback_a_delivery(api, image_model, status):
    task_id = api.submitted(HOOK)
    end(task_id, status, **({"failure": REJECTED} if status in ("failed", "timeout") else {}))
    delivery = Delivery.objects.get()
    assert (delivery.id, delivery.url, delivery.status) == (f"{task_id}.1", HOOK["callback_url"], "pending")
    callback = api.task(task_id)["callback"]
    assert (callback["status"], callback["attempts"]) == ("pending", 0)
    assert callback["next_attempt_at"].endswith("Z")


def test_no_delivery_is_owed_before_the_end_or_without_a_callback_url(api, image_model):
    start(api.submitted(HOOK))
    end(api.submitted(), "succeeded")
    assert not Delivery.objects.exists()


def test_every_transition_is_an_event(api, task_id):
    end(task_id, "canceled")
    assert list(TaskEvent.objects.order_by("id").values_list("status", flat=True)) == ["queued", "canceled"]


def test_the_wait_before_the_next_look_grows_with_age_from_1_to_10_seconds(api, task_id, monkeypatch):
    created_at = Task.objects.get(id=task_id).created_at
    for seconds, after in ((0, "1"), (11.9, "1"), (12, "2"), (30, "5"), (59.9, "9"), (60, "10"), (86_400, "10")):
        monkeypatch.setattr(
            views, "timezone", SimpleNamespace(now=partial(add, created_at, timedelta(seconds=seconds)))
        )
        assert api.get(f"/v1/tasks/{task_id}").headers["Retry-After"] == after, seconds
    start(task_id)
    assert api.get(f"/v1/tasks/{task_id}").headers["Retry-After"] == "10"


def test_an_ended_task_asks_for_no_other_look(api, task_id):
    end(task_id, "succeeded")
    assert "Retry-After" not in api.get(f"/v1/tasks/{task_id}").headers


def test_an_etag_that_the_client_knows_gives_304_without_a_body(api, task_id, lasting_links):
    age(task_id, "created_at", -3_600)
    etag = api.get(f"/v1/tasks/{task_id}").headers["ETag"]
    response = api.get(f"/v1/tasks/{task_id}", If_None_Match=etag)
    assert (response.status_code, response.content, response.headers["ETag"]) == (304, b"", etag)
    assert response.headers["Retry-After"] == "10"
    assert response.headers["Cache-Control"] == "no-store"


def test_if_none_match_is_a_list_that_is_compared_weakly(api, task_id, lasting_links):
    etag = api.get(f"/v1/tasks/{task_id}").headers["ETag"]
    for header in (f'W/{etag}, "b"', f'"a",{etag}', f" {etag} ", "*"):
        assert api.get(f"/v1/tasks/{task_id}", If_None_Match=header).status_code == 304, header


def test_an_unknown_etag_gives_the_task(api, task_id):
    for header in ("", '""', "x", '"a", "b"', ","):
        assert api.get(f"/v1/tasks/{task_id}", If_None_Match=header).status_code == 200, header


def test_the_etag_changes_in_time_for_the_links_to_live(api, task_id, settings, monkeypatch):
    end(task_id, "succeeded")
    first = api.get(f"/v1/tasks/{task_id}").headers["ETag"]
    half = settings.ASSET_URL_TTL / 2
    monkeypatch.setattr(signed_urls, "time", SimpleNamespace(time=lambda: time.time() + half))
    assert api.get(f"/v1/tasks/{task_id}", If_None_Match=first).status_code == 200


def test_a_wait_that_is_no_number_of_seconds_is_refused(api, task_id):
    for wait in ("", "-1", "1.5", "soon", "1e3", "１", " 1", "0x10"):
        assert named(api.send("GET", f"/v1/tasks/{task_id}?wait={wait}")) == "wait", wait


def test_any_number_of_seconds_is_a_wait(api, task_id):
    for wait in ("0", "60", "61", "9" * 30):
        assert api.get(f"/v1/tasks/{task_id}?wait={wait}").status_code == 200, wait
