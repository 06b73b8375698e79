"""`/assets/{task}/{index}.{ext}`: the bytes, for whoever holds the signed URL."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from django.utils import timezone

from tasks.assets import links, signed_urls
from tasks.assets.signed_urls import Grant
from tasks.models import Asset, ServiceState
from tests.storage.conftest import StoreAsset
from tests.storage.samples import film, picture
from tests.tasks_api.downloads.asking import ask
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


def row_of(asset: Asset) -> dict[str, Any]:
    return Asset.objects.filter(pk=asset.pk).values().get()


def public(asset: Asset) -> dict[str, Any]:
    return links.public(asset.task_id, row_of(asset))


def signed(asset: Asset, *, seconds: int = 600) -> str:
    grant = Grant(task_id=asset.task_id, index=asset.position, expires=int(time.time()) + seconds)
    return signed_urls.mint(grant, "png")


def test_the_public_url_serves_the_bytes_without_a_key(image: Asset) -> None:
    response = ask(public(image)["url"])
    assert (response.status, response.body) == (200, picture("PNG"))
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_it_takes_ranges_and_head(video: Asset) -> None:
    response = ask(public(video)["url"], headers={"Range": "bytes=0-3"})
    assert (response.status, response.body) == (206, film()[:4])
    assert ask(public(video)["url"], method="HEAD").headers["content-length"] == str(len(film()))


def test_caches_keep_it_no_longer_than_the_url_works(image: Asset) -> None:
    kept, _, seconds = ask(signed(image, seconds=7_200)).headers["cache-control"].partition("=")
    assert kept == "private, max-age"
    assert 3_600 < int(seconds) <= 7_200


def test_caches_keep_it_no_longer_than_the_bytes_are_kept(image: Asset, settings: Any) -> None:
    settings.ASSET_RETENTION = 3_600
    assert 0 < int(ask(signed(image, seconds=7_200)).headers["cache-control"].partition("=")[2]) <= 3_600


def test_wrong_expired_and_unknown_look_the_same(image: Asset) -> None:
    good = signed(image)
    unknown = good.replace(image.task_id, "task_" + "0" * 26)
    answers = [ask(url) for url in (good[:-1], signed(image, seconds=-1), unknown, "/assets/x", "/assets/")]
    assert {answer.status for answer in answers} == {403}
    assert {answer.error for answer in answers} == {"TASK_ASSET_URL_INVALID"}
    assert len({answer.body for answer in answers}) == 1


def test_it_works_while_the_task_api_is_switched_off(image: Asset) -> None:
    ServiceState.objects.update(api_disabled=True)
    assert ask(signed(image)).status == 200


def test_deleted_bytes_are_410(image: Asset) -> None:
    told = public(image)["url"]
    Asset.objects.update(deleted_at=timezone.now())
    assert ask(signed(image)).error == "TASK_ASSET_EXPIRED"
    assert ask(told).status == 410


def test_other_methods_are_405(image: Asset) -> None:
    response = ask(signed(image), method="POST")
    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")


class TestPublic:
    def test_it_shows_what_the_contract_lists(self, video: Asset) -> None:
        shown = public(video)
        assert shown["duration"] == pytest.approx(2, abs=0.1)
        assert (shown["index"], shown["kind"], shown["content_type"]) == (0, "video", "video/mp4")
        assert (shown["size_bytes"], shown["sha256"]) == (len(film()), video.sha256)
        assert (shown["width"], shown["height"]) == (64, 48)

    def test_the_url_expires_after_its_life_time(self, image: Asset, settings: Any) -> None:
        settings.ASSET_URL_TTL = 3600
        row = row_of(image) | {"created_at": "2026-11-21 09:00:00.250"}
        moment = datetime(2026, 11, 21, 10, tzinfo=UTC)
        shown = links.public(image.task_id, row, now=moment)
        assert shown["expires_at"] == "2026-11-21T11:00:00.000Z"
        assert shown["retained_until"] == "2026-11-28T09:00:00.250Z"
        assert f"expires={int(moment.timestamp()) + 3600}&" in shown["url"]

    def test_it_expires_no_later_than_the_bytes(self, image: Asset, settings: Any) -> None:
        settings.ASSET_RETENTION = 3_600
        shown = public(image)
        assert shown["expires_at"] == shown["retained_until"]

    def test_bytes_that_are_kept_for_ever_have_no_end(self, image: Asset, settings: Any) -> None:
        settings.ASSET_RETENTION = 0
        assert public(image)["retained_until"] is None

    def test_bytes_that_retention_is_about_to_delete_have_no_url(self, image: Asset, settings: Any) -> None:
        settings.ASSET_RETENTION = 60
        row = row_of(image)
        before, after = (image.created_at + timedelta(seconds=seconds) for seconds in (59, 60))
        assert links.public(image.task_id, row, now=before)["url"]
        assert links.public(image.task_id, row, now=after)["url"] is None

    def test_every_answer_mints_anew(self, image: Asset) -> None:
        row = row_of(image)
        now = timezone.now()
        later = links.public(image.task_id, row, now=now + timedelta(seconds=5))
        assert later["url"] != links.public(image.task_id, row, now=now)["url"]


class TestS3:
    def test_the_url_is_presigned_and_serves_type_and_name(self, s3: str, stored: StoreAsset) -> None:
        asset = stored(picture("PNG"))
        url = public(asset)["url"]
        assert url.startswith(s3)
        response = requests.get(url, timeout=PATIENCE)
        assert response.content == picture("PNG")
        assert response.headers["Content-Type"] == "image/png"
        assert response.headers["Content-Disposition"] == f'inline; filename="{asset.task_id}-0.png"'

    def test_it_expires_no_later_than_the_bytes(self, s3: str, stored: StoreAsset, settings: Any) -> None:
        settings.ASSET_RETENTION = 7_200
        seconds = urlsplit(public(stored(picture("PNG")))["url"]).query.partition("X-Amz-Expires=")[2].partition("&")[0]
        assert 3_600 < int(seconds) <= 7_200

    def test_a_deleted_asset_has_no_url(self, s3: str, stored: StoreAsset) -> None:
        asset = stored(picture("PNG"))
        Asset.objects.update(deleted_at=timezone.now())
        assert public(asset)["url"] is None
