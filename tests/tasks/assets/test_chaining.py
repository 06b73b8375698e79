"""An own asset as the input of the next task: only of the same key, and signed afresh."""

import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings
from django.utils import timezone

from storage import blobs
from tasks.assets import assets, links, signed_urls
from tasks.assets.signed_urls import Grant
from tasks.models import Asset
from tests.rows import IssuedKey
from tests.storage.conftest import StoreAsset
from tests.storage.samples import picture

pytestmark = pytest.mark.django_db


def signed(asset: Asset, *, seconds: int = 600) -> str:
    grant = Grant(task_id=asset.task_id, index=asset.position, expires=int(time.time()) + seconds)
    return signed_urls.mint(grant, "png")


def test_a_keys_own_asset_is_admitted(image: Asset, key: IssuedKey, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert assets.own_asset(key.id, signed(image))


def test_another_keys_asset_is_not(image: Asset, other_key: IssuedKey) -> None:
    assert not assets.own_asset(other_key.id, signed(image))


def test_deleted_assets_are_not(image: Asset, key: IssuedKey) -> None:
    Asset.objects.update(deleted_at=timezone.now())
    assert not assets.own_asset(key.id, signed(image))


def test_forged_expired_and_foreign_urls_cost_no_query(
    image: Asset, key: IssuedKey, django_assert_num_queries: Any
) -> None:
    urls = [signed(image)[:-1], signed(image, seconds=-1), "https://api.ours.example/assets/x", "https://example.org/"]
    with django_assert_num_queries(0):
        assert not any(assets.own_asset(key.id, url) for url in urls)


def test_at_execution_the_url_is_fresh(image: Asset) -> None:
    old = signed(image, seconds=-1)
    own = signed_urls.parse_own(old, expired_too=True)
    assert own == (image.task_id, 0)
    fresh = assets.input_url(*own)
    assert fresh is not None
    assert signed_urls.parse_own(fresh) == own


def test_at_execution_the_bytes_are_at_hand(image: Asset) -> None:
    file = assets.own_file(image.task_id, 0)
    assert file is not None
    assert (file.key, file.content_type, file.size_bytes) == (image.storage_key, "image/png", image.size_bytes)


def test_with_s3_it_is_a_presigned_url(s3: str, stored: StoreAsset) -> None:
    url = assets.input_url(stored(picture("PNG")).task_id, 0)
    assert url is not None
    assert url.startswith(s3)


def presigned(asset: Asset, *, seconds: int = 600) -> str:
    url = blobs.presigned_url(asset.storage_key, seconds=seconds, content_type="image/png", disposition="inline")
    assert url is not None
    return url


def test_a_presigned_url_of_s3_is_kept_as_an_own_url(s3: str, stored: StoreAsset, key: IssuedKey) -> None:
    asset = stored(picture("PNG"))
    shown, _ = links.to(asset, timezone.now())
    assert shown.startswith(s3)
    kept = assets.own_asset(key.id, shown)
    assert kept is not None
    assert signed_urls.parse_own(kept) == (asset.task_id, 0)


def test_a_presigned_url_of_another_key_or_of_nothing_or_of_yesterday_is_not_kept(
    s3: str, stored: StoreAsset, key: IssuedKey, other_key: IssuedKey
) -> None:
    asset = stored(picture("PNG"))
    url = presigned(asset)
    assert assets.own_asset(key.id, url)
    refused = [url.partition("?")[0], url.replace("results/", "inputs/"), url.replace("X-Amz-Date=2", "X-Amz-Date=1")]
    for case in (*refused, url.replace("/studio/", "/")):
        assert assets.in_storage(case)
        assert not assets.own_asset(key.id, case), case
    assert not assets.own_asset(other_key.id, url)
    assert not assets.own_asset(key.id, url.replace("?", "%00?"))  # no key has it, and PostgreSQL would take none
    Asset.objects.update(deleted_at=timezone.now())
    assert not assets.own_asset(key.id, url)


def test_the_url_that_is_kept_ends_no_later_than_one_of_ours(s3: str, stored: StoreAsset, key: IssuedKey) -> None:
    kept = assets.own_asset(key.id, presigned(stored(picture("PNG"))).replace("X-Amz-Date=2", "X-Amz-Date=9"))
    assert kept is not None
    expires = int(parse_qs(urlsplit(kept).query)["expires"][0])
    assert expires <= time.time() + settings.ASSET_URL_TTL


def test_deleted_bytes_have_neither_url_nor_file(image: Asset) -> None:
    Asset.objects.update(deleted_at=timezone.now())
    assert assets.input_url(image.task_id, 0) is None
    assert assets.own_file(image.task_id, 0) is None
