"""Uploaded inputs of video tasks: stored as Data URLs are, and deleted with them."""

from pathlib import Path

import pytest

from storage import blobs
from tasks import lifecycle
from tasks.assets import assets, inputs, retention, signed_urls, stored_inputs, uploads
from tasks.lifecycle import Ending
from tasks.models import Call, Task, TaskPayload
from tasks.paid_calls import CallEnd
from tasks.request import stored_params
from tasks.request.values import UnstoredFile
from tasks.unknown import resolve
from tests.storage.samples import picture
from tests.tasks import steps

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folder", "video_model")]
PNG = picture("PNG")


def body():
    frame = {"type": "image", "role": "first_frame", "url": UnstoredFile.of(PNG, "image/png")}
    params = {"prompt": "a fox", "duration": 2, "resolution": "720p", "aspect_ratio": "16:9", "inputs": [frame]}
    return {"model": "comet-video", "modality": "video", "params": params}


@pytest.fixture
def task_id(key):
    return steps.submitted(key, body())


def stored(task_id):
    """The paths of the files that the stored params name."""
    params = TaskPayload.objects.get(task_id=task_id).params
    return [Path(blobs.backends.current().backend.path(name)) for name in stored_inputs.keys_of(params)]


def counted(task_id):
    return Task.objects.get(id=task_id).input_bytes


def test_it_is_a_file_that_counts_and_the_stored_params_hold_no_url(task_id):
    (file,), (kept,) = stored(task_id), TaskPayload.objects.get().params["inputs"]
    assert (file.read_bytes(), counted(task_id)) == (PNG, len(PNG))
    assert sorted(kept) == ["id", "role", "stored", "type"]
    assert kept["stored"]["content_type"] == "image/png"


def test_a_purchase_gets_its_bytes_and_a_signed_url(task_id):
    request = stored_params.load_to_buy("video", TaskPayload.objects.get().params)
    (frame,) = inputs.with_upload_urls(inputs.fresh(request), task_id).inputs
    assert (frame.role, frame.stored.size_bytes) == ("first_frame", len(PNG))
    found, _ = uploads.find(task_id, 0)
    assert (found.storage_key, found.sha256) == (frame.stored.key, frame.stored.sha256)
    assert frame.url.partition("?")[0].endswith(f"/assets/{task_id}/input-0.png")


def test_its_url_is_no_input_of_another_task(task_id, key):
    (frame,) = stored_params.load("video", TaskPayload.objects.get().params).inputs
    url = uploads.url(task_id, 0, frame.stored)
    assert signed_urls.parse_own(url) is None
    assert assets.own_asset(key.id, url) is None


def test_a_storage_that_signs_serves_it_itself(s3, key):
    task_id = steps.submitted(key, body())
    request = stored_params.load_to_buy("video", TaskPayload.objects.get().params)
    (frame,) = inputs.with_upload_urls(request, task_id).inputs
    assert frame.url.startswith(s3)


def test_it_goes_with_a_task_that_nobody_pays_for(task_id):
    (file,) = stored(task_id)
    lifecycle.end([Ending.canceled(task_id, 0)])
    assert (file.exists(), counted(task_id)) == (False, 0)


def test_it_goes_with_a_submission_that_is_refused(key, account, folder):
    type(account).objects.update(balance_micros=0)
    with pytest.raises(AssertionError, match="does not cover"):
        steps.submitted(key, body())
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_of_a_charged_task_it_stays_uncounted_until_its_payload_goes(key, worker, monkeypatch):
    task = steps.start(key, worker, body())
    assert steps.end(task)
    (file,) = stored(task.id)
    assert (file.exists(), counted(task.id)) == (True, 0)
    monkeypatch.setattr(retention, "_old_payloads", lambda: TaskPayload.objects.filter(pruned_at=None))
    assert retention.prune().payloads == 1
    assert not file.exists()


def test_a_retry_of_an_unknown_outcome_has_a_copy(key, worker):
    task = steps.start(key, worker, body())
    end = CallEnd(id=steps.intended(task, worker), state="unknown", outcome={"kind": "ambiguous"})
    assert steps.end(task, "failed", call=end)
    retry = resolve.retry(task.id, by="ada")
    assert stored(retry) != stored(task.id)
    assert [file.read_bytes() for file in (*stored(retry), *stored(task.id))] == [PNG, PNG]
    assert Call.objects.count() == 1
