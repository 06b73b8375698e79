"""The files of Data URLs live as long as somebody may need them, and count as long as nobody has paid."""

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from common.errors import QueueLimitExceeded
from storage import blobs
from tasks import lifecycle, paid_calls
from tasks.assets import retention, stored_inputs
from tasks.intake import submission
from tasks.lifecycle import Ending
from tasks.models import Call, Task, TaskPayload
from tasks.paid_calls import CallEnd
from tasks.unknown import resolve
from tests.rows import IssuedKey
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url
from worker.heal import deadlines

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folder", "image_model")]

BY = "ada"
BYTES = 16
PICTURE = {"prompt": "a fox", "images": [{"image_url": data_url()}, {"image_url": "https://example.org/a.png"}]}


@pytest.fixture
def queued(key: IssuedKey) -> Callable[[], str]:
    """Makes a queued task with one stored input; returns its id."""
    return lambda: steps.submitted(key, params=PICTURE)


@pytest.fixture
def running(queued, worker: str) -> Callable[[], Any]:
    """The same, claimed."""

    def run() -> Any:
        task_id = queued()
        return next(task for task in steps.claimed(worker) if task.id == task_id)

    return run


@pytest.fixture
def unknown(running, worker: str) -> Callable[[], str]:
    """Makes a task that ended without an outcome; returns its id."""

    def lose() -> str:
        task = running()
        end = CallEnd(id=steps.intended(task, worker), state="unknown", outcome={"kind": "ambiguous"})
        assert steps.end(task, "failed", call=end)
        return str(task.id)

    return lose


def path(task_id: str) -> Path:
    (key,) = stored_inputs.keys_of(TaskPayload.objects.get(task_id=task_id).params)
    return Path(blobs.backends.current().backend.path(key))


def is_stored(task_id: str) -> bool:
    return path(task_id).is_file()


def counted(task_id: str) -> int:
    return Task.objects.get(id=task_id).input_bytes


def janitor() -> None:
    deadlines.discard_inputs(threading.Event())


def held_on(task_id: str) -> Path:
    """The storage does not let go of the task's file."""
    file = path(task_id)
    file.unlink()
    file.mkdir()
    return file


def test_a_live_task_keeps_its_inputs_and_counts_them(queued, running):
    for task_id in (running().id, queued()):
        assert counted(task_id) == BYTES
        janitor()
        assert is_stored(task_id)


def test_a_canceled_task_loses_its_inputs_at_once_and_keeps_its_params(queued):
    task_id = queued()
    lifecycle.end([Ending.canceled(task_id, 0)])
    assert (is_stored(task_id), counted(task_id)) == (False, 0)
    assert TaskPayload.objects.get(task_id=task_id).params["prompt"] == "a fox"


@pytest.mark.parametrize("status", ["failed", "timeout"])
def test_a_task_that_fails_loses_its_inputs_at_once(running, worker, status):
    task = running()
    end = CallEnd(id=steps.intended(task, worker), state="refused", outcome={"kind": "content_policy"})
    assert steps.end(task, status, call=end)
    assert (is_stored(task.id), counted(task.id)) == (False, 0)


def test_a_charged_task_keeps_its_inputs_uncounted_until_the_end_of_their_retention(running):
    task = running()
    assert steps.end(task)
    janitor()
    assert (is_stored(task.id), counted(task.id)) == (True, 0)
    file, old = path(task.id), timezone.now() - timedelta(days=31)
    old_id = "task_" + "0" * 26
    Task.objects.filter(id=task.id).update(finished_at=old)
    assert retention.due().payloads == 0  # by its id it is young
    copy = Task.objects.get(id=task.id)
    copy.pk, copy.idempotency_key = old_id, None
    copy.save(force_insert=True)
    TaskPayload.objects.filter(task_id=task.id).update(task_id=old_id)
    assert retention.prune().payloads == 1
    assert not file.exists()


def test_a_success_that_costs_nothing_is_no_charge(running):
    task = running()
    assert steps.end(task, "succeeded", success=steps.success(0))
    assert (is_stored(task.id), counted(task.id)) == (False, 0)


def test_an_unknown_outcome_keeps_its_inputs_and_counts_them_until_it_is_written_off(unknown):
    task_id = unknown()
    janitor()
    assert (is_stored(task_id), counted(task_id)) == (True, BYTES)
    resolve.mark_lost(Call.objects.get().pk, by=BY)
    assert (is_stored(task_id), counted(task_id)) == (False, 0)


def test_an_outcome_that_becomes_known_frees_the_inputs(unknown):
    task_id = unknown()
    assert paid_calls.resolve(CallEnd(id=Call.objects.get().pk, state="done", outcome={"resolved": "attached"}))
    janitor()
    assert (is_stored(task_id), counted(task_id)) == (False, 0)


def test_a_retry_has_the_inputs_again_until_one_has_succeeded(unknown, worker):
    task_id = unknown()
    first = resolve.retry(task_id, by=BY)
    lifecycle.end([Ending.canceled(first, 0)])
    janitor()
    assert (is_stored(first), is_stored(task_id), counted(task_id)) == (False, True, BYTES)
    second = resolve.retry(task_id, by=BY)
    (task,) = steps.claimed(worker)
    assert (task.id, counted(second)) == (second, BYTES)
    janitor()
    assert is_stored(task_id)
    assert steps.end(task)
    janitor()
    assert (is_stored(second), is_stored(task_id), counted(task_id)) == (True, False, 0)


def test_a_call_without_an_answer_keeps_the_inputs_until_there_is_one(running, worker):
    task = running()
    call_id = steps.intended(task, worker)
    lifecycle.end([Ending.timed_out(task.id, task.attempt, call_id)])
    janitor()
    assert is_stored(task.id)
    paid_calls.close(CallEnd(id=call_id, state="refused", outcome={"kind": "invalid_request"}))
    janitor()
    assert (is_stored(task.id), counted(task.id)) == (False, 0)


def test_a_job_that_the_provider_has_needs_no_inputs(running, worker):
    task = running()
    lifecycle.end([Ending.timed_out(task.id, task.attempt, steps.accepted(task, worker))])
    assert not is_stored(task.id)


def test_what_a_fault_left_is_deleted_later_and_keeps_no_other(queued, monkeypatch):
    monkeypatch.setattr(stored_inputs, "BATCH", 1)
    tasks = [queued() for _ in range(3)]
    directory = held_on(tasks[0])
    lifecycle.end([Ending.canceled(task_id, 0) for task_id in tasks])
    assert [counted(task_id) for task_id in tasks] == [BYTES, 0, 0]
    other = queued()
    Task.objects.filter(id=other).update(status="canceled", finished_at=timezone.now(), actual_micros=0)  # and died
    janitor()
    assert [counted(task_id) for task_id in (tasks[0], other)] == [BYTES, 0]
    directory.rmdir()
    janitor()
    assert (counted(tasks[0]), stored_inputs.due()) == (0, 0)


def test_a_storage_that_is_away_does_not_change_an_end(queued, folder):
    task_id = queued()
    away = folder.rename(folder.with_name("away"))
    folder.write_bytes(b"not a folder")
    assert lifecycle.end([Ending.canceled(task_id, 0)]) == {task_id}
    janitor()
    assert counted(task_id) == BYTES
    folder.unlink()
    away.rename(folder)
    janitor()
    assert (is_stored(task_id), counted(task_id)) == (False, 0)


def test_who_ends_many_tasks_leaves_most_to_the_janitor(queued, monkeypatch):
    monkeypatch.setattr(stored_inputs, "AT_ONCE", 2)
    monkeypatch.setattr(stored_inputs, "BATCH", 2)
    tasks = [queued() for _ in range(7)]
    lifecycle.end([Ending.canceled(task_id, 0) for task_id in tasks])
    assert sum(map(is_stored, tasks)) == stored_inputs.due() == 5
    janitor()
    assert not any(map(is_stored, tasks))


def test_a_worker_that_stops_finishes_the_batch_in_hand(queued, monkeypatch):
    monkeypatch.setattr(stored_inputs, "AT_ONCE", 0)
    monkeypatch.setattr(stored_inputs, "BATCH", 2)
    lifecycle.end([Ending.canceled(queued(), 0) for _ in range(5)])
    stopping = threading.Event()
    stopping.set()
    deadlines.discard_inputs(stopping)
    assert stored_inputs.due() == 3


def test_the_end_of_its_retention_frees_an_unknown_outcome(unknown, monkeypatch):
    task_id = unknown()
    monkeypatch.setattr(retention, "_old_payloads", lambda: TaskPayload.objects.filter(pruned_at=None))
    retention.prune()
    assert counted(task_id) == 0


@pytest.mark.django_db(transaction=True)
def test_a_payload_is_not_emptied_without_freeing_its_bytes(unknown, monkeypatch):
    task_id = unknown()
    monkeypatch.setattr(retention, "_old_payloads", lambda: TaskPayload.objects.filter(pruned_at=None))

    def without_tasks(execute, statement, *rest):
        if statement.startswith('UPDATE "tasks_task" '):
            raise OperationalError("the database went away")
        return execute(statement, *rest)

    with connection.execute_wrapper(without_tasks), pytest.raises(OperationalError):
        retention.prune()
    retention.prune()
    assert counted(task_id) == 0


def test_inputs_are_counted_from_the_submission_to_their_deletion(key, other_key, queued, running, unknown):
    draft = steps.drafted(key, params=PICTURE)
    assert steps.read_standing([draft]).input_bytes == {}
    steps.submitted(other_key, params=PICTURE)
    unknown()
    running()
    canceled = queued()
    assert steps.read_standing([draft]).input_bytes == {key.account.pk: 3 * BYTES}
    lifecycle.end([Ending.canceled(canceled, 0)])
    assert steps.read_standing([draft]).input_bytes == {key.account.pk: 2 * BYTES}
    draft.discard_inputs()


STYLE = "x" * stored_inputs.LARGE_BYTES
STYLED = {**PICTURE, "extra_body": {"style": STYLE}}


def params_of(task_id: str) -> Any:
    return TaskPayload.objects.get(task_id=task_id).params


def test_large_options_count_and_go_with_a_task_that_nobody_pays_for(key: IssuedKey) -> None:
    task_id = steps.submitted(key, params=STYLED)
    assert counted(task_id) == BYTES + len('{"style": ""}') + len(STYLE)
    assert params_of(task_id)["extra_body"] == {"style": STYLE}
    lifecycle.end([Ending.canceled(task_id, 0)])
    assert counted(task_id) == 0
    assert "extra_body" not in params_of(task_id)
    assert params_of(task_id)["prompt"] == "a fox"


def test_small_options_stay_and_do_not_count(key: IssuedKey) -> None:
    task_id = steps.submitted(key, params={**PICTURE, "extra_body": {"style": "vivid"}})
    assert counted(task_id) == BYTES
    lifecycle.end([Ending.canceled(task_id, 0)])
    assert params_of(task_id)["extra_body"] == {"style": "vivid"}


def test_a_mask_is_counted_and_deleted_with_the_images(key, worker):
    task = steps.start(key, worker, params=PICTURE, mask={"image_url": data_url("image/webp")})
    backend = blobs.backends.current().backend
    stored = TaskPayload.objects.get(task_id=task.id).params
    files = [Path(backend.path(picture["stored"]["key"])) for picture in (stored["images"][0], stored["mask"])]
    assert counted(task.id) == sum(file.stat().st_size for file in files) == 2 * BYTES
    steps.end(task, "failed")
    assert [file.exists() for file in files] == [False, False]
    assert counted(task.id) == 0


def test_a_mask_of_a_refused_submission_is_not_kept(key, settings):
    settings.MAX_INPUT_BYTES = BYTES
    draft = steps.drafted(key, params=PICTURE, mask={"image_url": data_url("image/webp")})
    assert len(draft.files) == 2
    assert isinstance(submission.submit_one(draft), QueueLimitExceeded)
    backend = blobs.backends.current().backend
    assert not any(Path(backend.path(file.key)).exists() for file in draft.files)
