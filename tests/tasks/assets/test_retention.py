"""What has been kept long enough is deleted once, and nothing else ever."""

import json
from dataclasses import asdict
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from adapters.base import StoredFile
from common import ids
from common.errors import StorageUnavailable
from storage import blobs
from tasks.assets import retention
from tasks.assets.retention import Pruned
from tasks.models import Asset, Task, TaskPayload
from tests.rows import IssuedKey, make_task
from tests.storage.conftest import StoreAsset
from tests.storage.samples import picture

pytestmark = pytest.mark.django_db

DAYS_8, DAYS_31 = timedelta(days=8), timedelta(days=31)


def exists(key: str) -> bool:
    try:
        blobs.open(key).close()
    except StorageUnavailable:
        return False
    return True


def age(asset: Asset, by: timedelta) -> None:
    Asset.objects.filter(pk=asset.pk).update(created_at=timezone.now() - by)


def payload(key: IssuedKey, *files: StoredFile, ended_ago: timedelta = DAYS_31, **fields: Any) -> TaskPayload:
    """A payload whose task was submitted and ended so long ago."""
    moment = timezone.now() - ended_ago
    task = make_task(key, id=ids.task_id_floor(moment.timestamp() - 60), finished_at=moment, **fields)
    images = [{"stored": asdict(file)} for file in files] + [{"image_url": "https://example.org/a.png"}]
    return TaskPayload.objects.create(task=task, params={"prompt": "a fox", "images": images})


def blob() -> StoredFile:
    return blobs.put_input(picture("PNG"), "image/png")


def report(*arguments: str) -> dict[str, Any]:
    output = StringIO()
    call_command("prune_assets", "--json", *arguments, stdout=output)
    found: dict[str, Any] = json.loads(output.getvalue())
    return found


@pytest.mark.usefixtures("any_storage")
def test_only_assets_past_their_retention_lose_their_bytes(stored: StoreAsset) -> None:
    old, young = stored(picture("PNG")), stored(picture("GIF"))
    age(old, DAYS_8)
    assert retention.prune(100) == Pruned(assets=1, payloads=0)
    assert (exists(old.storage_key), exists(young.storage_key)) == (False, True)
    old.refresh_from_db()
    assert old.deleted_at is not None


def test_a_second_run_finds_nothing(image: Asset) -> None:
    age(image, DAYS_8)
    retention.prune(100)
    image.refresh_from_db()
    first = image.deleted_at
    assert retention.prune(100) == Pruned(assets=0, payloads=0)
    image.refresh_from_db()
    assert image.deleted_at == first


def test_zero_keeps_for_ever(image: Asset, key: IssuedKey, settings: Any) -> None:
    settings.ASSET_RETENTION = settings.PAYLOAD_RETENTION = 0
    age(image, timedelta(days=9999))
    payload(key, ended_ago=timedelta(days=9999))
    assert retention.prune(100) == Pruned(assets=0, payloads=0)


def test_the_oldest_go_first_and_no_more_than_a_batch_at_a_time(folder: Path, stored: StoreAsset) -> None:
    made = [stored(picture("PNG")) for _ in range(3)]
    for days, asset in zip((9, 11, 10), made, strict=True):
        age(asset, timedelta(days=days))
    batches = retention.batches(2)
    assert next(batches) == Pruned(assets=2)
    assert [exists(asset.storage_key) for asset in made] == [True, False, False]
    assert list(batches) == [Pruned(assets=1)]


def test_it_works_until_nothing_is_due(folder: Path, stored: StoreAsset, key: IssuedKey) -> None:
    moment = timezone.now() - DAYS_8
    made = [stored(picture("PNG")) for _ in range(5)]
    Asset.objects.update(created_at=moment)
    files = [blob() for _ in range(5)]
    for day, file in enumerate(files):
        payload(key, file, ended_ago=DAYS_31 + timedelta(days=day))
    assert retention.prune(2) == Pruned(assets=5, payloads=5)
    assert not any(exists(name) for name in [*(a.storage_key for a in made), *(file.key for file in files)])
    assert retention.due() == Pruned()


def test_bytes_that_are_gone_already_are_marked_all_the_same(image: Asset) -> None:
    age(image, DAYS_8)
    blobs.delete(image.storage_key)
    assert retention.prune(100).assets == 1


def test_a_fault_of_the_storage_marks_only_what_was_deleted(folder: Path, stored: StoreAsset) -> None:
    first, second = stored(picture("PNG")), stored(picture("PNG"))
    age(first, timedelta(days=10))
    age(second, timedelta(days=9))
    (folder / second.storage_key).unlink()
    (folder / second.storage_key).mkdir()
    with pytest.raises(StorageUnavailable):
        retention.prune(100)
    assert list(Asset.objects.filter(deleted_at=None)) == [second]
    (folder / second.storage_key).rmdir()
    assert retention.prune(100).assets == 1


@pytest.mark.usefixtures("any_storage")
def test_payloads_are_emptied_and_their_data_urls_deleted(key: IssuedKey) -> None:
    files = blob(), blob(), blob()
    old = payload(key, *files[:2])
    old.params["mask"] = {"stored": asdict(files[2])}
    old.save()
    assert retention.prune(100) == Pruned(assets=0, payloads=1)
    old.refresh_from_db()
    assert old.params is None
    assert old.pruned_at is not None
    assert not any(exists(file.key) for file in files)


def test_the_task_and_its_cost_stay(folder: Path, key: IssuedKey) -> None:
    payload(key, actual_micros=40_000)
    before = Task.objects.values().get()
    retention.prune(100)
    assert Task.objects.values().get() == before


@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_live_task_keeps_its_payload_however_old(folder: Path, key: IssuedKey, status: str) -> None:
    file = blob()
    kept = payload(key, file)
    Task.objects.update(status=status, finished_at=None, actual_micros=None)
    assert retention.prune(100).payloads == 0
    kept.refresh_from_db()
    assert kept.params is not None
    assert exists(file.key)


def test_a_task_that_ended_lately_keeps_its_payload(folder: Path, key: IssuedKey) -> None:
    payload(key)
    Task.objects.update(finished_at=timezone.now() - timedelta(days=29))
    assert retention.prune(100).payloads == 0


def test_an_asset_that_served_as_an_input_is_not_deleted_with_the_payload(image: Asset, key: IssuedKey) -> None:
    payload(
        key,
        StoredFile(key=image.storage_key, content_type="image/png", size_bytes=1, sha256=image.sha256),
    )
    assert retention.prune(100).payloads == 1
    assert exists(image.storage_key)


class TestCommand:
    def test_it_deletes_everything_that_is_due(self, folder: Path, stored: StoreAsset, key: IssuedKey) -> None:
        for _ in range(3):
            age(stored(picture("PNG")), DAYS_8)
        payload(key)
        assert report() == {"assets": 3, "payloads": 1, "inputs": 0, "temporary_files": 0, "dry_run": False}
        assert retention.due() == Pruned(assets=0, payloads=0)

    def test_a_dry_run_deletes_nothing(self, image: Asset, key: IssuedKey) -> None:
        age(image, DAYS_8)
        payload(key)
        assert report("--dry-run") == {"assets": 1, "payloads": 1, "inputs": 0, "temporary_files": 0, "dry_run": True}
        assert exists(image.storage_key)
        assert retention.due() == Pruned(assets=1, payloads=1)

    def test_it_tells_in_words(self, image: Asset, capsys: pytest.CaptureFixture[str]) -> None:
        age(image, DAYS_8)
        call_command("prune_assets")
        assert capsys.readouterr().out.splitlines()[:2] == ["assets: 1", "payloads: 0"]

    def test_a_broken_storage_is_an_error(self, image: Asset, folder: Path) -> None:
        age(image, DAYS_8)
        folder.rename(folder.with_name("away"))
        folder.write_bytes(b"not a folder")
        with pytest.raises(CommandError):
            call_command("prune_assets")


@pytest.mark.parametrize("params", [[], "text", {"images": 7}, {"images": [7, {"stored": []}]}], ids=str)
def test_a_payload_of_another_form_keeps_no_later_one(key, params):
    strange = payload(key, ended_ago=DAYS_31 + timedelta(days=1))
    TaskPayload.objects.filter(pk=strange.pk).update(params=params)
    file = blob()
    payload(key, file)
    assert retention.prune(1) == Pruned(assets=0, payloads=2)
    assert not exists(file.key)


def test_a_file_that_the_storage_does_not_let_go_keeps_no_later_one(key):
    files = [blob() for _ in range(3)]
    path = Path(blobs.backends.current().backend.path(files[0].key))
    path.unlink()
    path.mkdir()  # no file: it cannot be unlinked
    for day, file in zip((3, 2, 1), files, strict=True):
        payload(key, file, ended_ago=DAYS_31 + timedelta(days=day))
    with pytest.raises(StorageUnavailable):
        retention.prune(3)
    assert [exists(file.key) for file in files[1:]] == [False, False]
    assert retention.due() == Pruned(assets=0, payloads=1)


def test_many_files_that_the_storage_does_not_let_go_keep_no_later_one(folder, stored):
    made = [stored(picture("PNG")) for _ in range(8)]
    for day, asset in enumerate(made):
        age(asset, DAYS_8 + timedelta(days=9 - day))
    for asset in made[:6]:
        (folder / asset.storage_key).unlink()
        (folder / asset.storage_key).mkdir()
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            retention.prune(1)
        assert retention.due().assets == 6


def test_a_storage_that_is_away_loses_nothing(folder, stored):
    for _ in range(5):
        age(stored(picture("PNG")), DAYS_8)
    folder.rename(folder.with_name("away"))
    folder.write_bytes(b"not a folder")
    with pytest.raises(StorageUnavailable):
        retention.prune(5)
    assert retention.due().assets == 5


def test_an_asset_that_the_storage_does_not_let_go_keeps_no_payload(folder, stored, key):
    asset = stored(picture("PNG"))
    age(asset, DAYS_8)
    (folder / asset.storage_key).unlink()
    (folder / asset.storage_key).mkdir()
    payload(key)
    with pytest.raises(StorageUnavailable):
        retention.prune(3)
    assert retention.due() == Pruned(assets=1, payloads=0)
