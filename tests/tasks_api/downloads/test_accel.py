"""With ASSET_ACCEL every file that we serve is left to the reverse proxy, and every refusal stays ours."""

from typing import Any

import pytest
from django.utils import timezone

from storage import blobs
from tasks.assets import retention, uploads
from tasks.models import Asset, TaskPayload
from tests.rows import IssuedKey, make_task
from tests.storage.samples import film
from tests.tasks_api.downloads.asking import Response, ask
from tests.tasks_api.downloads.test_download import bearer, get, path
from tests.tasks_api.downloads.test_signed_download import public, signed
from tests.tasks_api.videos.asking import make_film, video_id

pytestmark = pytest.mark.django_db(transaction=True)

REDIRECT = "x-accel-redirect"


@pytest.fixture(autouse=True)
def accel(settings: Any) -> None:
    settings.ASSET_ACCEL = "/internal/"


def left_to_proxy(response: Response, key: str) -> bool:
    """Whether it names this file instead of its bytes."""
    return (response.status, response.body, response.headers.get(REDIRECT)) == (200, b"", f"/internal/{key}")


def test_a_signed_link_and_a_key_lead_to_the_file(image: Asset, key: IssuedKey) -> None:
    for response in (ask(public(image)["url"]), get(image, key), get(image, key)):
        assert left_to_proxy(response, image.storage_key)


def test_the_headers_are_those_that_come_with_the_bytes(image: Asset, key: IssuedKey, settings: Any) -> None:
    left = dict(get(image, key).headers)
    settings.ASSET_ACCEL = ""
    sent = dict(get(image, key).headers)
    assert left.pop(REDIRECT)
    assert left.pop("content-length") == "0"
    assert sent.pop("content-length") == str(image.size_bytes)
    assert left == sent


def test_head_and_ranges_are_the_proxys(video: Asset, key: IssuedKey) -> None:
    for method, headers in (("HEAD", {}), ("GET", {"Range": "bytes=0-3"}), ("GET", {"Range": "bytes=-5"})):
        response = get(video, key, method=method, **headers)
        assert left_to_proxy(response, video.storage_key)
        assert "content-range" not in response.headers


def test_films_of_the_videos_api_are_left_to_it(folder: Any, key: IssuedKey) -> None:
    task = make_film(key)
    response = ask(f"/v1/videos/{video_id(task)}/content", headers=bearer(key))
    assert left_to_proxy(response, Asset.objects.get(task=task).storage_key)


def test_uploaded_inputs_are_left_to_it(folder: Any, key: IssuedKey) -> None:
    file = blobs.put_input(film(), "video/mp4")
    task = make_task(key, "running")
    stored = {name: getattr(file, name) for name in ("key", "content_type", "size_bytes", "sha256")}
    TaskPayload.objects.update_or_create(task=task, defaults={"params": {"inputs": [{"stored": stored}]}})
    assert left_to_proxy(ask(uploads.url(task.pk, 0, file)), file.key)


def test_a_name_that_has_to_be_quoted_is(image: Asset, key: IssuedKey, folder: Any) -> None:
    (folder / image.storage_key).rename(folder / "50% off?")
    Asset.objects.update(storage_key="50% off?")
    assert get(image, key).headers[REDIRECT] == "/internal/50%25%20off%3F"


def test_refusals_and_what_the_client_has_name_no_file(
    image: Asset, video: Asset, key: IssuedKey, other_key: IssuedKey
) -> None:
    answers = {
        401: ask(path(image)),
        403: ask(signed(image)[:-1]),
        404: get(image, other_key),
        405: get(image, key, method="POST"),
        416: get(video, key, Range=f"bytes={len(film())}-"),
        304: get(image, key, If_None_Match=f'"{image.sha256}"'),
    }
    for status, response in answers.items():
        assert (response.status, REDIRECT in response.headers) == (status, False)


def test_bytes_that_were_deleted_are_410_at_once(image: Asset, key: IssuedKey) -> None:
    link = signed(image)
    assert left_to_proxy(ask(link), image.storage_key)
    retention.delete_now(key.record.pk, image.task_id)
    assert [ask(link).status, get(image, key).status] == [410, 410]
    Asset.objects.update(deleted_at=None, created_at=timezone.now())
    assert get(image, key).error == "TASK_STORAGE_UNAVAILABLE"
