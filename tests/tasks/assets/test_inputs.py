"""Own assets as inputs: usable again at execution, however long the task has waited."""

import pytest
from django.utils import timezone

from adapters.base import ImageRef, MediaInput, StoredFile, TaskRequest
from tasks.assets import assets, inputs, signed_urls
from tasks.assets.inputs import InputGone
from tasks.assets.signed_urls import Grant
from tasks.models import Asset
from tasks.shown import representation
from tests.tasks import steps

FOREIGN = "https://cdn.example.com/a.png"


@pytest.fixture
def own_url(key, image_model, worker) -> str:
    """The signed URL of the picture of a succeeded task."""
    task = steps.start(key, worker)
    steps.end(task)
    found = representation.find_one(key.id, task.id)
    url: str = representation.represent(found)["assets"][0]["url"]
    return url


def frame(url: str) -> TaskRequest:
    return TaskRequest(modality="video", inputs=(MediaInput(type="image", role="first_frame", url=url),))


def picture(url: str) -> TaskRequest:
    return TaskRequest(modality="image", images=(ImageRef(url=url),))


def mask(url: str) -> TaskRequest:
    return TaskRequest(modality="image", images=(ImageRef(url=FOREIGN),), mask=ImageRef(url=url))


def test_foreign_urls_stay_as_they_are(db):
    for request in (frame(FOREIGN), picture(FOREIGN), mask(FOREIGN)):
        assert inputs.fresh(request) == request


def test_an_own_asset_of_a_video_task_gets_a_valid_url(own_url, key):
    (element,) = inputs.fresh(frame(own_url)).inputs
    assert assets.own_asset(key.id, element.url)
    assert element.role == "first_frame"


def test_an_expired_own_url_is_renewed(own_url, key):
    task_id, index = signed_urls.parse_own(own_url)
    expired = signed_urls.mint(Grant(task_id=task_id, index=index, expires=1), "png")
    assert not assets.own_asset(key.id, expired)
    (element,) = inputs.fresh(frame(expired)).inputs
    assert assets.own_asset(key.id, element.url)


def test_an_own_asset_of_an_image_task_is_read_from_storage(own_url):
    (image,) = inputs.fresh(picture(own_url)).images
    assert image.url is None
    assert (image.stored.key, image.stored.size_bytes, image.stored.content_type) == ("results/0", 100, "image/png")


def test_an_own_asset_may_be_a_mask(own_url, key):
    request = inputs.fresh(mask(own_url))
    assert (request.images[0].url, request.mask.stored.key) == (FOREIGN, "results/0")
    assert assets.own_asset(key.id, inputs.fresh(mask(own_url), takes_files=False).mask.url)


def test_stored_data_urls_stay_as_they_are(db):
    stored = StoredFile(key="inputs/0", content_type="image/png", size_bytes=9, sha256="a" * 64)
    request = TaskRequest(modality="image", images=(ImageRef(stored=stored),))
    assert inputs.fresh(request) == request


@pytest.mark.parametrize("request_of", [frame, picture, mask])
def test_a_deleted_own_asset_is_gone(own_url, request_of):
    Asset.objects.update(deleted_at=timezone.now())
    with pytest.raises(InputGone):
        inputs.fresh(request_of(own_url))
