"""Results that requests refer to: whose they are, and that their files stay while a live task takes them."""

import pytest
from django.utils import timezone

from adapters.base import ImageRef
from common.errors import AssetInUse, StorageUnavailable
from storage import blobs
from tasks import lifecycle
from tasks.assets import inputs, referred, retention
from tasks.assets.inputs import InputGone
from tasks.lifecycle import Ending
from tasks.models import Asset, Task, TaskPayload
from tasks.request import stored_params
from tests.storage.samples import picture
from tests.tasks import steps

pytestmark = pytest.mark.django_db


def reference(asset):
    return f"asset:{asset.task_id}/{asset.position}"


def film_of(asset, **element):
    frame = {"type": "image", "role": "first_frame", "url": reference(asset), **element}
    return {**steps.VIDEO, "params": {**steps.VIDEO["params"], "inputs": [frame]}}


def picture_of(asset):
    return {**steps.IMAGE, "params": {"prompt": "a fox", "images": [{"image_url": reference(asset)}]}}


def is_kept(asset):
    try:
        blobs.open(asset.storage_key).close()
    except StorageUnavailable:
        return False
    return True


def test_the_file_of_an_own_result_is_found(image, key):
    found = referred.find(key.id, reference(image))
    assert (found.key, found.kind, found.reference) == (image.storage_key, "image", reference(image))
    assert referred.is_there(found)


def test_anothers_result_and_a_deleted_one_are_as_one_that_never_was(image, key, other_key, settings):
    assert referred.find(other_key.id, reference(image)) is None
    assert referred.find(key.id, f"asset:{image.task_id}/1") is None
    assert referred.find(key.id, "asset:nothing") is None
    settings.ASSET_RETENTION = 1
    Asset.objects.update(created_at=timezone.now() - timezone.timedelta(seconds=2))
    assert referred.find(key.id, reference(image)) is None
    settings.ASSET_RETENTION = 0
    Asset.objects.update(deleted_at=timezone.now())
    assert referred.find(key.id, reference(image)) is None


def test_it_is_no_stored_input_of_the_task(image, key, image_model):
    task_id = steps.submitted(key, picture_of(image))
    assert Task.objects.get(id=task_id).input_bytes == 0
    lifecycle.end([Ending.canceled(task_id, 0)])
    assert is_kept(image)


def test_a_refused_submission_leaves_it_alone(image, key, account, video_model):
    type(account).objects.update(balance_micros=0)
    with pytest.raises(AssertionError, match="does not cover"):
        steps.submitted(key, film_of(image))
    assert is_kept(image)


@pytest.mark.parametrize("body_of", [film_of, picture_of])
def test_retention_keeps_it_until_the_task_has_ended(image, key, settings, image_model, video_model, body_of):
    task_id = steps.submitted(key, body_of(image))
    settings.ASSET_RETENTION = 60
    Asset.objects.update(created_at=timezone.now() - timezone.timedelta(seconds=61))
    assert retention.prune().assets == 0
    request = stored_params.load(body_of(image)["modality"], TaskPayload.objects.get(task_id=task_id).params)
    assert inputs.fresh(request) == request
    assert is_kept(image)
    lifecycle.end([Ending.canceled(task_id, 0)])
    assert retention.prune().assets == 1
    assert not is_kept(image)


def test_what_is_held_holds_up_no_other_file(folder, stored, key, settings, video_model):
    first, second, third = (stored(picture("PNG")) for _ in range(3))
    steps.submitted(key, film_of(second))
    settings.ASSET_RETENTION = 60
    Asset.objects.update(created_at=timezone.now() - timezone.timedelta(seconds=61))
    assert retention.prune(batch=1).assets == 2
    assert [is_kept(asset) for asset in (first, second, third)] == [False, True, False]


def test_its_owner_cannot_delete_it_while_a_live_task_takes_it(image, key, video_model):
    task_id = steps.submitted(key, film_of(image))
    with pytest.raises(AssetInUse):
        retention.delete_now(key.id, image.task_id)
    assert is_kept(image)
    lifecycle.end([Ending.canceled(task_id, 0)])
    retention.delete_now(key.id, image.task_id)
    assert not is_kept(image)


def test_a_prompt_that_names_it_holds_nothing(image, key, image_model):
    steps.submitted(key, {**steps.IMAGE, "params": {"prompt": f'like {{"reference": "{reference(image)}"}}'}})
    assert referred.held([key.account.pk]) == set()


def test_where_it_was_deleted_all_the_same_the_request_cannot_be_bought(image, key, image_model, video_model):
    for body in (film_of(image), picture_of(image)):
        task_id = steps.submitted(key, body)
        request = stored_params.load(body["modality"], TaskPayload.objects.get(task_id=task_id).params)
        inputs.fresh(request)
        Asset.objects.update(deleted_at=timezone.now())
        with pytest.raises(InputGone):
            inputs.fresh(request)
        Asset.objects.update(deleted_at=None)


def test_a_channel_without_files_gets_its_url(image, key, image_model):
    request = steps.prepared(key, picture_of(image)).request
    assert inputs.fresh(request) == request
    (given,) = inputs.fresh(request, takes_files=False).images
    assert f"/assets/{image.task_id}/0.png" in given.url
    (judged,) = inputs.judged(request).images
    assert judged.stored is None


def test_a_picture_that_not_all_channels_take_is_judged_as_the_file(folder, stored, key, image_model):
    request = steps.prepared(key, picture_of(stored(picture("PNG")))).request
    (given,) = request.images
    gif = request.with_pictures(lambda _: ImageRef(stored=type(given.stored)(**{**shown(given.stored), **GIF})))
    assert inputs.judged(gif) == gif


GIF = {"content_type": "image/gif"}


def shown(file):
    return {name: getattr(file, name) for name in ("key", "content_type", "size_bytes", "sha256", "reference")}
