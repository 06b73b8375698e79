"""The task object in every state, and what it costs to read."""

import json
import re

import pytest

from callbacks.models import Delivery
from common import sql, strict_json
from tasks import cancellation
from tasks.models import Asset, Task
from tasks.shown import representation
from tasks.shown.representation import etag, find_all, find_one, represent
from tests.rows import make_key, make_task
from tests.tasks import steps

HOOK = "https://hooks.example.com/"
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
FIELDS = {
    *("id", "status", "modality", "model", "created_at", "started_at", "finished_at", "estimated_cost", "actual_cost"),
    *("result", "assets", "metadata", "error", "progress", "queue_position", "callback"),
}


def shown(key, task_id: str) -> dict:
    found = find_one(key.id, task_id)
    assert found is not None
    return represent(found)


def test_a_succeeded_task_shows_its_assets_in_order(key, image_model, worker):
    task = steps.start(key, worker)
    steps.end(task, success=steps.success(30_000, assets=4))
    found = shown(key, task.id)
    assert (found["status"], found["actual_cost"], found["progress"]) == ("succeeded", 0.03, 100)
    assert [asset["index"] for asset in found["assets"]] == [0, 1, 2, 3]
    assert (found["assets"][0]["width"], found["assets"][0]["height"], found["assets"][0]["kind"]) == (8, 6, "image")
    assert MOMENT.fullmatch(found["finished_at"])
    assert found["error"] is None


@pytest.mark.parametrize("seconds", [5, 4.2])
def test_a_video_shows_its_billed_seconds(key, video_model, worker, seconds):
    task = steps.start(key, worker, steps.VIDEO)
    film = steps.asset(kind="video", content_type="video/mp4", duration_seconds=4.25)
    steps.end(task, success=steps.Success(actual_micros=420_000, seconds=seconds, assets=(film,)))
    found = shown(key, task.id)
    assert found["result"]["duration"] == seconds
    assert found["assets"][0]["duration"] == 4.25


def test_a_promised_callback_is_pending(key, image_model):
    found = shown(key, steps.submitted(key, callback_url=HOOK))
    assert found["callback"] == {"status": "pending", "attempts": 0, "next_attempt_at": None}


def test_an_owed_callback_shows_its_delivery(key, image_model, worker):
    task = steps.start(key, worker, callback_url=HOOK)
    steps.end(task)
    Delivery.objects.update(attempts=3)
    callback = shown(key, task.id)["callback"]
    assert (callback["status"], callback["attempts"]) == ("pending", 3)
    assert MOMENT.fullmatch(callback["next_attempt_at"])


def test_a_delivered_callback_has_no_next_attempt(key, image_model, worker):
    task = steps.start(key, worker, callback_url=HOOK)
    steps.end(task)
    Delivery.objects.update(status="delivered", attempts=1, next_attempt_at=None)
    assert shown(key, task.id)["callback"] == {"status": "delivered", "attempts": 1, "next_attempt_at": None}


def test_tasks_found_together_stay_their_keys_own(key, other_key):
    mine, other = make_task(key).id, make_task(other_key).id
    wanted = [(key.id, mine), (other_key.id, mine), (key.id, other), (other_key.id, other), (key.id, mine)]
    found = [task and task.id for task in find_all(wanted)]
    assert found == [mine, None, None, other, mine]


def test_the_position_is_counted_in_the_keys_own_queue(account, key, other_key, image_model, worker):
    steps.submitted_many(other_key, 2)
    steps.submitted_many(make_key(account, "sibling"), 2)
    ids = sorted(steps.submitted_many(key, 3))
    assert [shown(key, task_id)["queue_position"] for task_id in ids] == [1, 2, 3]
    cancellation.cancel(key.id, ids[0])
    assert [shown(key, task_id)["queue_position"] for task_id in ids] == [None, 1, 2]


@pytest.mark.parametrize("state", ["queued", "running", "succeeded", "failed"])
def test_reading_a_task_costs_one_statement_whatever_its_state(
    key, image_model, worker, state, django_assert_num_queries
):
    task_id = steps.submitted(key, callback_url=HOOK)
    if state != "queued":
        (task,) = steps.claimed(worker)
        if state == "succeeded":
            steps.end(task, success=steps.success(assets=4))
        elif state == "failed":
            steps.end(task, "failed")
    with django_assert_num_queries(1):
        assert shown(key, task_id)["status"] == state


def test_the_submissions_answer_has_its_six_fields(key, image_model):
    found = find_one(key.id, steps.submitted(key))
    assert set(representation.submission(found)) == FIELDS & {
        *("id", "status", "modality", "model", "created_at", "estimated_cost")
    }


def test_metadata_is_shown_as_it_was_sent(key, image_model):
    for metadata in ({"a": 1.5, "b": 2**62, "c": None, "d": True, "ü": "ä\"'\\"}, {}, None):
        assert shown(key, steps.submitted(key, metadata=metadata))["metadata"] == metadata


def test_a_great_number_in_metadata_is_one_that_a_submission_takes(key, image_model):
    for number in (1e22, 1e308, -1e30, 2**63 - 1, -(2**63)):
        given_back = shown(key, steps.submitted(key, metadata={"mass": number}))["metadata"]
        assert strict_json.loads(json.dumps(given_back).encode()) == {"mass": number}


def test_the_tag_changes_with_whatever_is_shown(key, image_model, worker):
    task_id = steps.submitted(key, callback_url=HOOK)
    tags = [etag(find_one(key.id, task_id))]
    (task,) = steps.claimed(worker)
    tags.append(etag(find_one(key.id, task_id)))
    sql.run("UPDATE tasks_task SET progress = 40")
    tags.append(etag(find_one(key.id, task_id)))
    steps.end(task)
    tags.append(etag(find_one(key.id, task_id)))
    Delivery.objects.update(attempts=1)
    tags.append(etag(find_one(key.id, task_id)))
    Asset.objects.update(deleted_at=Task.objects.get().created_at)
    tags.append(etag(find_one(key.id, task_id)))
    assert len(set(tags)) == len(tags)
    assert all(re.fullmatch(r'"[0-9a-f]{32}"', tag) for tag in tags)
