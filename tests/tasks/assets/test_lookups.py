"""Results are read together, and what was read stays known for a moment, while its file is there."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from storage import blobs
from tasks.assets import lookups
from tasks.assets.lookups import Place, Result
from tasks.models import Asset
from tests.rows import IssuedKey, make_task
from tests.storage.conftest import StoreAsset
from tests.storage.samples import picture

pytestmark = pytest.mark.django_db


def place_of(asset: Asset) -> Place:
    return asset.task_id, asset.position


def read(asset: Asset) -> Result:
    (found,) = lookups.find_all([place_of(asset)])
    assert found is not None
    return found


def test_one_statement_finds_all_that_are_asked_for_together(
    folder: Any, stored: StoreAsset, key: IssuedKey, django_assert_num_queries: Any
) -> None:
    first, second = stored(picture("PNG")), stored(picture("GIF"))
    running = stored(picture("PNG"))
    Asset.objects.filter(pk=running.pk).update(task=make_task(key, "running"))
    running.refresh_from_db()
    wanted = [place_of(second), (first.task_id, 1), place_of(running), place_of(first), place_of(second)]
    with django_assert_num_queries(1):
        found = lookups.find_all(wanted)
    assert [each and each.storage_key for each in found] == [
        second.storage_key, None, None, first.storage_key, second.storage_key,
    ]  # fmt: skip


def test_a_result_says_what_its_row_says(image: Asset, key: IssuedKey) -> None:
    found = read(image)
    for name in ("task_id", "position", "storage_key", "content_type", "size_bytes", "sha256", "deleted_at"):
        assert getattr(found, name) == getattr(image, name), name
    image.refresh_from_db()
    assert abs(found.created_at - image.created_at) < timedelta(milliseconds=1)
    assert (found.key_id, found.account_id) == (key.record.pk, key.record.account_id)
    Asset.objects.update(deleted_at=timezone.now())
    assert read(image).deleted_at


def test_it_is_known_until_its_moment_has_passed(image: Asset, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lookups.known(place_of(image)) is None
    monkeypatch.setattr(lookups, "KNOWN_SECONDS", 10**9)
    lookups.remember(read(image))
    assert lookups.known(place_of(image)) == read(image)
    monkeypatch.setattr(lookups, "KNOWN_SECONDS", -1)
    lookups.remember(read(image))
    assert lookups.known(place_of(image)) is None


def test_it_is_not_known_without_its_file(image: Asset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "KNOWN_SECONDS", 10**9)
    lookups.remember(read(image))
    blobs.delete(image.storage_key)
    assert lookups.known(place_of(image)) is None


def test_a_file_that_two_rows_name_is_not_known_for_it_outlives_one_of_them(
    image: Asset, key: IssuedKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "KNOWN_SECONDS", 10**9)
    values = {name: getattr(image, name) for name in ("kind", "storage_key", "content_type", "size_bytes", "sha256")}
    Asset.objects.create(task=make_task(key), position=0, **values)
    lookups.remember(read(image))
    assert lookups.known(place_of(image)) is None


def test_nothing_of_a_bucket_is_known(s3: str, stored: StoreAsset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "KNOWN_SECONDS", 10**9)
    asset = stored(picture("PNG"))
    lookups.remember(read(asset))
    assert lookups.known(place_of(asset)) is None
