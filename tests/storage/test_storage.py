"""Both storages keep, read, delete and check alike."""

import base64
import errno
import hashlib
import os
import re
import time
from collections import Counter
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from adapters.base import FileChunks
from adapters.kit.spool import Spool
from common.errors import StorageUnavailable
from config.settings import asset_storage
from storage import backends, blobs
from storage.backends import Place
from storage.blobs import FILES, Keys
from tests.storage.conftest import BUCKET
from tests.umask import careless, open_to_others, others_may

CONTENT = bytes(range(256)) * 4000


def files_under(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


@pytest.mark.usefixtures("any_storage")
class TestEitherStorage:
    def test_what_was_put_is_read_back_and_described(self) -> None:
        stored = blobs.put([CONTENT[:1000], CONTENT[1000:]], max_bytes=len(CONTENT))
        with blobs.open(stored.key) as file:
            assert file.read() == CONTENT
        assert stored.size_bytes == len(CONTENT)
        assert stored.sha256 == hashlib.sha256(CONTENT).hexdigest()

    def test_keys_are_random_and_spread_over_folders(self) -> None:
        keys = {blobs.put([b"same"], max_bytes=4).key for _ in range(3)}
        assert len(keys) == 3
        assert all(re.fullmatch(r"results/([0-9a-f]{2})/([0-9a-f]{2})/\1\2[0-9a-f]{28}", key) for key in keys)

    def test_an_opened_file_can_be_sought(self) -> None:
        with blobs.open(blobs.put([CONTENT], max_bytes=len(CONTENT)).key) as file:
            assert file.seek(0, 2) == len(CONTENT)
            file.seek(255)
            assert file.read(2) == b"\xff\x00"

    def test_a_range_is_read_in_chunks(self) -> None:
        key = blobs.put([CONTENT], max_bytes=len(CONTENT)).key
        for start, length in ((0, 1), (7, 500_000), (len(CONTENT) - 1, 1), (0, len(CONTENT))):
            reading = blobs.read_range(key, start, length)
            chunks = list(reading)
            reading.close()
            assert b"".join(chunks) == CONTENT[start : start + length]
            assert max(map(len, chunks)) <= blobs.CHUNK_BYTES

    def test_a_small_range_is_read_whole(self) -> None:
        key = blobs.put([CONTENT], max_bytes=len(CONTENT)).key
        for start, length in ((0, 1), (7, 500_000), (len(CONTENT) - 1, 1), (0, len(CONTENT))):
            assert blobs.read(key, start, length) == CONTENT[start : start + length]

    def test_a_small_range_of_a_missing_or_a_shorter_file_is_a_fault(self) -> None:
        key = blobs.put([b"12345"], max_bytes=5).key
        with pytest.raises(StorageUnavailable):
            blobs.read(key, 0, 6)
        blobs.delete(key)
        with pytest.raises(StorageUnavailable):
            blobs.read(key, 0, 5)

    def test_what_is_in_memory_is_read_whole_or_not_at_all(self) -> None:
        key = blobs.put([CONTENT], max_bytes=len(CONTENT)).key
        for start, length in ((0, 1), (7, 500_000), (0, len(CONTENT))):
            assert blobs.read_cached(key, start, length) in (None, CONTENT[start : start + length])
        assert blobs.read_cached(key, 1, len(CONTENT)) is None
        blobs.delete(key)
        assert blobs.read_cached(key, 0, 1) is None

    def test_too_many_bytes_are_refused_before_they_are_all_taken(self) -> None:
        taken = []

        def chunks():
            for _ in range(100):
                taken.append(1)
                yield bytes(1000)

        with pytest.raises(blobs.TooLarge):
            blobs.put(chunks(), max_bytes=5000)
        assert len(taken) == 6

    def test_deleting_twice_is_no_fault(self) -> None:
        key = blobs.put([b"x"], max_bytes=1).key
        blobs.delete(key)
        blobs.delete(key)
        with pytest.raises(StorageUnavailable):
            blobs.open(key)

    def test_a_range_of_a_missing_file_fails_when_it_is_opened(self) -> None:
        with pytest.raises(StorageUnavailable):
            blobs.read_range("results/00/00/" + "0" * 32, 0, 10)

    def test_a_blob_keeps_the_type_it_was_given(self) -> None:
        blob = blobs.put_input(b"\x89PNG", "image/png")
        assert (blob.content_type, blob.size_bytes) == ("image/png", 4)
        assert blob.key.startswith("inputs/")
        with blobs.open(blob.key) as file:
            assert file.read() == b"\x89PNG"

    def test_check_is_content_with_a_storage_that_works(self) -> None:
        backends.health().check()

    def test_what_the_chunks_raise_comes_through(self) -> None:
        def chunks():
            yield b"a"
            raise ConnectionResetError("the provider hung up")

        with pytest.raises(ConnectionResetError):
            blobs.put(chunks(), max_bytes=10)


def test_a_folder_takes_many_files_before_the_next() -> None:
    keys = Keys()
    folders = [keys.new("results").rpartition("/")[0] for _ in range(4 * FILES)]
    assert len(set(folders)) == 4
    assert set(Counter(folders).values()) == {FILES}


def test_a_file_of_a_folder_is_at_hand_while_it_is_there(folder: Path) -> None:
    key = blobs.put([b"12345"], max_bytes=5).key
    assert blobs.is_at_hand(key)
    blobs.delete(key)
    assert not blobs.is_at_hand(key)


def test_a_file_system_that_does_not_say_what_is_in_memory_is_asked_no_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> int:
        asked.append(1)
        raise OSError(errno.EOPNOTSUPP, "not over a network")

    asked: list[int] = []
    monkeypatch.setattr(os, "preadv", refuse)
    key = blobs.put([b"12345"], max_bytes=5).key
    assert [blobs.read_cached(key, 0, 5), blobs.read_cached(key, 0, 5), len(asked)] == [None, None, 1]
    assert blobs.read(key, 0, 5) == b"12345"


def test_nothing_in_a_bucket_is_at_hand(s3: str) -> None:
    assert not blobs.is_at_hand(blobs.put([b"12345"], max_bytes=5).key)


def test_a_failed_put_leaves_no_file(folder: Path) -> None:
    with pytest.raises(blobs.TooLarge):
        blobs.put([b"12345"], max_bytes=4)
    assert files_under(folder) == []


def test_only_whole_files_lie_under_final_keys(folder: Path) -> None:
    def chunks():
        yield b"half"
        assert [path.suffix for path in files_under(folder)] == [".part"]
        yield b"half"

    stored = blobs.put(chunks(), max_bytes=8)
    assert files_under(folder) == [folder / stored.key]


def test_a_folder_that_somebody_has_deleted_is_made_again(folder: Path) -> None:
    keys = []
    for _ in range(3):
        rmtree(folder, ignore_errors=True)
        keys.append(blobs.put([b"x"], max_bytes=1).key)
    assert files_under(folder) == [folder / keys[-1]]


def test_stored_files_are_for_their_owner_alone(folder: Path) -> None:
    with careless():
        blobs.put([b"x"], max_bytes=1)
        incoming = blobs.incoming_dir()
        assert incoming is not None
        encoded = base64.b64encode(b"answer").decode()
        with Spool(incoming) as spool:
            path = spool.picture(encoded)
            assert path is not None
        with path.open("rb", buffering=0) as file:
            blobs.put(FileChunks(file, path, 1000), max_bytes=6)
    assert len(files_under(folder)) == 3
    assert open_to_others(folder.parent) == []


def test_folders_of_an_older_version_become_so(folder: Path) -> None:
    for name in ("results/3f", "inputs/3f", "incoming"):
        (folder / name).mkdir(parents=True)
    for path in folder.rglob("*"):
        path.chmod(0o755)
    folder.chmod(0o755)
    blobs.put([b"x"], max_bytes=1)
    assert not any(others_may(folder / name) for name in ("results", "inputs", "incoming"))
    assert others_may(folder)  # it may be somebody else's, too


class TestFilesAtHand:
    """Files that were written into the storage's own folder."""

    @pytest.fixture
    def at_hand(self, folder: Path) -> Path:
        incoming = blobs.incoming_dir()
        assert incoming is not None
        path = incoming / "answer.part"
        path.write_bytes(CONTENT)
        return path

    @staticmethod
    def put(path: Path, max_bytes: int = len(CONTENT)) -> blobs.Stored:
        with path.open("rb", buffering=0) as file:
            return blobs.put(FileChunks(file, path, 1000), max_bytes=max_bytes)

    def test_one_is_stored_without_being_copied_and_stays_until_it_is_deleted(
        self, folder: Path, at_hand: Path
    ) -> None:
        first, second = self.put(at_hand), self.put(at_hand)
        assert at_hand.stat().st_nlink == 3
        at_hand.unlink()
        assert (folder / first.key).read_bytes() == (folder / second.key).read_bytes() == CONTENT
        assert (first.size_bytes, first.sha256) == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())

    def test_where_files_have_one_name_only_it_is_copied(
        self, folder: Path, at_hand: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(errno.EPERM, "hard links are not supported")

        monkeypatch.setattr("os.link", refuse)
        stored = self.put(at_hand)
        assert (folder / stored.key).read_bytes() == at_hand.read_bytes() == CONTENT
        assert sorted(files_under(folder)) == sorted([at_hand, folder / stored.key])

    def test_one_of_elsewhere_is_copied(self, folder: Path, tmp_path: Path) -> None:
        elsewhere = tmp_path / "answer"
        elsewhere.write_bytes(CONTENT)
        stored = self.put(elsewhere)
        assert (elsewhere.stat().st_nlink, files_under(folder)) == (1, [folder / stored.key])

    def test_one_that_is_too_large_is_refused(self, folder: Path, at_hand: Path) -> None:
        with pytest.raises(blobs.TooLarge):
            self.put(at_hand, max_bytes=len(CONTENT) - 1)
        assert files_under(folder) == [at_hand]

    def test_one_whose_folder_cannot_be_made_durable_is_not_stored(
        self, folder: Path, at_hand: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(folder: Path) -> None:
            raise OSError(errno.EIO, "the disk is broken")

        monkeypatch.setattr("storage.files.sync_folder", fail)
        with pytest.raises(StorageUnavailable):
            self.put(at_hand)
        assert files_under(folder) == [at_hand]


def test_a_file_that_was_cut_short_is_refused(folder: Path) -> None:
    stored = blobs.put([b"12345"], max_bytes=5)
    (folder / stored.key).write_bytes(b"123")
    with pytest.raises(StorageUnavailable):
        blobs.read_range(stored.key, 0, 5)


def test_a_file_that_shrinks_while_it_is_read_is_a_fault(folder: Path) -> None:
    stored = blobs.put([b"12345"], max_bytes=5)
    reading = blobs.read_range(stored.key, 0, 5)
    (folder / stored.key).write_bytes(b"")
    with pytest.raises(StorageUnavailable):
        next(reading)
    reading.close()


@pytest.mark.parametrize("key", ["../secret", "/etc/passwd", "results/../../secret"])
def test_a_key_cannot_leave_the_folder(folder: Path, key: str) -> None:
    with pytest.raises(StorageUnavailable):
        blobs.open(key)


def test_files_have_no_presigned_urls(folder: Path) -> None:
    key = blobs.put([b"x"], max_bytes=1).key
    assert blobs.presigned_url(key, seconds=60, content_type="image/png", disposition="inline") is None


def test_a_folder_has_no_addresses(folder: Path) -> None:
    assert blobs.place_of("http://127.0.0.1:9000/darkroom-tests/results/x") is None


def test_a_presigned_url_tells_its_key_and_its_end(s3: str) -> None:
    url = blobs.presigned_url("results/00/00/x", seconds=60, content_type="image/png", disposition="inline")
    assert url is not None
    head, _, query = url.partition("?")
    reordered = f"{head}?{'&'.join(reversed(query.split('&')))}"
    for spelled in (url, reordered):
        place = blobs.place_of(spelled)
        assert place is not None
        assert place.key == "results/00/00/x"
        assert place.ends_at is not None
        assert 0 < place.ends_at - time.time() <= 60


def test_what_of_the_bucket_is_not_ours_or_not_presigned_is_told(s3: str) -> None:
    signed = "X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-Signature=0"
    root = f"{s3}/{BUCKET}"
    assert blobs.place_of(f"{root}/elsewhere/x?{signed}") == Place(key=None, ends_at=1_767_225_660)
    assert blobs.place_of(f"{root}/studio/x") == Place(key="x", ends_at=None)
    assert blobs.place_of(f"{root}/studio/a%62") == Place(key="ab", ends_at=None)
    assert blobs.place_of(f"{root}/studio/x%00") == Place(key=None, ends_at=None)
    assert blobs.place_of(f"{root}/studio/x?{signed.replace('Signature=0', 'Signature=')}") == Place(
        key="x", ends_at=None
    )
    week = 1_767_225_600 + 7 * 86_400
    assert blobs.place_of(f"{root}/studio/x?{signed.replace('=60', '=999999')}") == Place(key="x", ends_at=week)
    for wrong in ("=-1", "=1e3", "=%C2%B2", "="):
        assert blobs.place_of(f"{root}/studio/x?{signed.replace('=60', wrong)}") == Place(key="x", ends_at=None)
    for date in ("20260101", "20269901T000000Z"):
        assert blobs.place_of(f"{root}/studio/x?{signed.replace('20260101T000000Z', date)}") == Place(
            key="x", ends_at=None
        )


def test_other_buckets_and_hosts_are_elsewhere(s3: str) -> None:
    for url in (
        f"{s3}/other/studio/x",
        f"{s3}/{BUCKET}",
        f"http://127.0.0.1:1/{BUCKET}/studio/x",
        "no URL",
        "http://[",
    ):
        assert blobs.place_of(url) is None, url


@pytest.mark.parametrize(
    ("storage", "addresses"),
    [
        (
            "s3://films?region=eu-west-1",
            [
                "https://films.s3.amazonaws.com/k",
                "https://s3.amazonaws.com/films/k",
                "https://films.s3.eu-west-1.amazonaws.com/k",
                "https://s3.eu-west-1.amazonaws.com/films/k",
            ],
        ),
        (
            "s3://films?endpoint=https://minio.example/book&region=x",
            ["https://minio.example/book/films/k", "https://films.minio.example/book/k"],
        ),
    ],
)
def test_a_bucket_is_known_by_path_and_by_host(s3: str, settings: Any, storage: str, addresses: list[str]) -> None:
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(storage)}
    for url in addresses:
        assert blobs.place_of(url) == Place(key="k", ends_at=None), url


def test_a_bucket_named_like_its_host_claims_no_other_bucket_there(s3: str, settings: Any) -> None:
    storage = asset_storage("s3://minio?endpoint=https://minio.example.com&region=x")
    settings.STORAGES = {**settings.STORAGES, "assets": storage}
    assert blobs.place_of("https://minio.example.com/minio/k") == Place(key="k", ends_at=None)
    for url in ("https://minio.example.com/films/k", "https://example.com/minio/k"):
        assert blobs.place_of(url) is None, url


def test_sweep_takes_only_old_temporary_files(folder: Path) -> None:
    stored = blobs.put([b"x"], max_bytes=1)
    left = folder / "incoming" / "left-behind.part"
    left.write_bytes(b"of a killed process")
    assert blobs.sweep(older_than_seconds=3_600) == 0
    assert blobs.sweep(older_than_seconds=-3_600) == 1
    assert files_under(folder) == [folder / stored.key]


def test_sweep_goes_on_where_a_file_is_gone_since_it_was_listed(folder: Path) -> None:
    blobs.put([b"12345"], max_bytes=5)
    incoming = blobs.incoming_dir()
    assert incoming is not None
    (incoming / "gone.part").symlink_to(incoming / "elsewhere")
    (incoming / "old.part").write_bytes(b"half")
    assert blobs.sweep(older_than_seconds=-3_600) == 1


def test_sweep_of_a_storage_that_was_never_used_finds_nothing(folder: Path) -> None:
    assert blobs.sweep(older_than_seconds=0) == 0
