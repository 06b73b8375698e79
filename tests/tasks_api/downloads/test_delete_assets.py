"""`DELETE /v1/tasks/{id}/assets`: the files of an ended task go now, and nothing else of it."""

import pytest

from adapters.base import ImageRef, TaskRequest
from common import moments
from storage import blobs
from tasks.assets import inputs, retention
from tasks.assets.inputs import InputGone
from tasks.assets.retention import Pruned
from tasks.models import Asset, Task
from tests.rows import make_task
from tests.storage.samples import picture
from tests.tasks.assets.test_retention import exists
from tests.tasks_api.asking import error_of, refused
from tests.tasks_api.downloads.asking import ask
from tests.tasks_api.downloads.test_download import bearer, path
from tests.tasks_api.downloads.test_signed_download import signed

pytestmark = pytest.mark.django_db(transaction=True)


def delete(api, task_id):
    return api.send("DELETE", f"/v1/tasks/{task_id}/assets")


@pytest.fixture(params=["folder", "s3"])
def stored_asset(request, stored):
    request.getfixturevalue(request.param)
    return stored(picture("PNG"))


def test_the_files_go_and_later_downloads_are_410(api, key, stored_asset):
    before, link = Task.objects.values().get(), signed(stored_asset)
    answer = delete(api, stored_asset.task_id)
    assert (answer.status_code, answer.content) == (204, b"")
    assert not exists(stored_asset.storage_key)
    by_key, by_link = ask(path(stored_asset), headers=bearer(key)), ask(link)
    assert [(found.status, found.error) for found in (by_key, by_link)] == [(410, "TASK_ASSET_EXPIRED")] * 2
    assert Task.objects.values().get() == before


def test_a_second_time_and_a_task_without_files_are_204_and_change_nothing(api, image, make_task):
    assert delete(api, image.task_id).status_code == 204
    image.refresh_from_db()
    assert delete(api, image.task_id).status_code == 204
    assert Asset.objects.get().deleted_at == image.deleted_at
    for status in ("failed", "timeout", "canceled"):
        assert delete(api, make_task(status).id).status_code == 204, status


def test_a_live_task_is_a_409_that_names_its_status(api, make_task):
    for status in ("queued", "running"):
        answer = delete(api, make_task(status).id)
        assert refused(answer) == (409, "TASK_NOT_CANCELABLE")
        assert status in error_of(answer)["message"]


def test_a_foreign_tasks_files_stay(other_api, image):
    assert refused(delete(other_api, image.task_id)) == (404, "TASK_NOT_FOUND")
    assert exists(image.storage_key)


def test_the_task_shows_when_its_files_were_deleted(api, image):
    delete(api, image.task_id)
    image.refresh_from_db()
    task = api.task(image.task_id)
    (asset,) = task["assets"]
    assert asset["retained_until"] == asset["expires_at"] == moments.iso(image.deleted_at)
    assert asset["url"] is task["result"]["data"][0]["url"] is None


def test_a_link_from_before_is_a_410(api, image):
    (asset,) = api.task(image.task_id)["assets"]
    delete(api, image.task_id)
    assert ask(asset["url"]).status == 410


def test_a_file_that_another_tasks_row_names_stays_until_that_goes_too(api, key, image):
    values = {field: getattr(image, field) for field in ("kind", "storage_key", "content_type", "size_bytes", "sha256")}
    other = Asset.objects.create(task=make_task(key), position=0, **values)
    assert delete(api, image.task_id).status_code == 204
    assert exists(image.storage_key)
    assert delete(api, other.task_id).status_code == 204
    assert not exists(image.storage_key)


def test_a_process_that_dies_between_file_and_row_leaves_what_the_next_deletes(api, image, settings):
    blobs.delete(image.storage_key)
    assert delete(api, image.task_id).status_code == 204
    assert Asset.objects.get().deleted_at
    settings.ASSET_RETENTION = 1
    assert retention.prune() == Pruned()


def test_a_file_that_the_storage_does_not_let_go_is_a_503_and_can_be_deleted_later(api, image, folder):
    (folder / image.storage_key).unlink()
    (folder / image.storage_key).mkdir()
    assert refused(delete(api, image.task_id)) == (503, "TASK_STORAGE_UNAVAILABLE")
    assert Asset.objects.get().deleted_at is None
    (folder / image.storage_key).rmdir()
    assert delete(api, image.task_id).status_code == 204


def test_a_task_that_takes_a_deleted_file_as_an_input_finds_it_gone(api, image):
    picture_of_it = TaskRequest(modality="image", images=(ImageRef(url=signed(image)),))
    inputs.fresh(picture_of_it)
    delete(api, image.task_id)
    with pytest.raises(InputGone):
        inputs.fresh(picture_of_it)
