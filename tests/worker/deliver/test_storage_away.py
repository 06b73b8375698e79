"""A result that was paid for outlives a storage that is away."""

import time
from types import SimpleNamespace

import pytest

from tests.threads import joined
from tests.worker.driving import assets, beside, call, film, picture, task
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_bytes_are_kept_until_storage_is_back(shift, key, image_model, root, caplog):
    task_id = picture(key, "a fox")
    root.take_away()
    executing = beside(shift.execute)
    wait_until(lambda: "a result could not be copied" in caplog.text, what="a copy that storage refused")
    root.bring_back()
    joined(executing)
    assert task(task_id).status == "succeeded"
    assert len(assets(task_id)) == 1


def test_after_a_fault_the_bytes_are_written_again_and_not_taken_as_they_are(shift, key, image_model, root, caplog):
    task_id = picture(key, "a fox")
    (root.path / "results").write_bytes(b"not a folder")
    executing = beside(shift.execute)
    wait_until(lambda: "a result could not be copied" in caplog.text, what="a copy that storage refused")
    (first,) = (root.path / "incoming").iterdir()
    inode = first.stat().st_ino
    with first.open("rb"):  # so that nobody else gets its number
        (root.path / "results").unlink()
        joined(executing)
        stored = (root.path / assets(task_id)[0].storage_key).stat()
    assert (stored.st_ino == inode, stored.st_nlink) == (False, 1)
    assert list((root.path / "incoming").iterdir()) == []


def test_a_film_is_copied_once_storage_is_back(shift, key, video_model, root, sandbox):
    task_id = film(key, "a fox runs")
    root.take_away()
    shift.execute()
    wait_until(lambda: shift.step() or call(task_id).copy_faults >= 8, what="failed copies")
    assert task(task_id).status == "running"
    root.bring_back()
    assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["jobs"] == 1


def test_bytes_that_cannot_be_stored_15_minutes_after_the_deadline_are_given_up(
    shift, key, image_model, root, sandbox, monkeypatch
):
    task_id = picture(key, "a fox")
    root.take_away()
    # The deadline, and the time after it, pass with the paid call.
    passed = SimpleNamespace(monotonic=lambda: time.monotonic() + 3600 * sandbox.audit()["jobs"])
    monkeypatch.setattr("worker.deliver.copies.time", passed)
    shift.execute()
    assert (task(task_id).status, task(task_id).error["type"]) == ("failed", "TASK_STORAGE_UNAVAILABLE")
    assert task(task_id).actual_micros == 0
    assert call(task_id).state == "done"


def test_an_input_that_cannot_be_read_now_is_read_later(shift, key, image_model, root, sandbox):
    task_id = picture(key, "a fox", images=[{"image_url": DOT}])
    moved = root.path.rename(root.path.with_name("moved"))
    root.take_away()
    shift.execute()
    assert task(task_id).status == "queued"
    assert sandbox.audit()["calls"] == {}
    root.bring_back()
    moved.rename(root.path)
    assert shift.work(task_id) == "succeeded"


DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
