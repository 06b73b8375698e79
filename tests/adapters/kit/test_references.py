"""Reference images that a provider wants as bytes: whose fault it is where they cannot be had."""

import errno
import io
import os
import shutil
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from adapters.base import ImageRef, NothingSent
from adapters.kit.references import fetched
from common.outgoing import dial
from common.outgoing.lookup import CUSTOMERS, customer
from tests.adapters.making import PNG, connection_to, left_in, stored
from tests.adapters.raw_server import answer, raw_server
from tests.silence import hanging


def copied(*images: ImageRef, scratch_dir: Path, files: dict[str, bytes] | None = None, payer: str = "") -> list[bytes]:
    connection = connection_to("https://provider.example", files=files, scratch_dir=scratch_dir, payer=payer)
    with fetched(images, connection) as pictures:
        return [picture.path.read_bytes() for picture in pictures]


def test_they_come_from_an_address_and_from_our_storage_in_order(tmp_path: Path) -> None:
    with raw_server(answer(PNG + b"2")) as host:
        images = (ImageRef(stored=stored()), ImageRef(url=host.url))
        assert copied(*images, scratch_dir=tmp_path, files={"one": PNG}) == [PNG, PNG + b"2"]
    assert left_in(tmp_path) == []


def test_a_temporary_folder_that_takes_no_folder_is_our_fault_and_nothing_was_sent(tmp_path: Path) -> None:
    with raw_server(answer(PNG)) as host:
        with pytest.raises(NothingSent, match="file of ours"):
            copied(ImageRef(url=host.url), scratch_dir=tmp_path / "gone")
        assert host.requests == []


def test_without_images_the_answer_needs_a_temporary_folder_all_the_same(tmp_path: Path) -> None:
    assert copied(scratch_dir=tmp_path) == []
    with pytest.raises(NothingSent, match="No such file"):
        copied(scratch_dir=tmp_path / "gone")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("told", "has_place"),
    [
        ({"f_bavail": 0}, False),
        ({"f_favail": 0}, False),
        ({"f_files": 0, "f_favail": 0}, True),  # a file system that counts no files
        ({"f_flag": os.ST_RDONLY}, False),
        ({}, True),
    ],
    ids=["no block", "no file", "files are not counted", "read-only", "place"],
)
def test_a_full_disk_is_known_before_the_paid_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: dict[str, int], has_place: bool
) -> None:
    free = {"f_bavail": 1, "f_files": 9, "f_favail": 1, "f_flag": 0}
    monkeypatch.setattr("os.statvfs", lambda _: SimpleNamespace(**(free | told)))
    with nullcontext() if has_place else pytest.raises(NothingSent):
        copied(scratch_dir=tmp_path)


def test_a_temporary_folder_that_takes_no_file_is_our_fault_and_nothing_was_sent(tmp_path: Path) -> None:
    def behave(connection, request):
        shutil.rmtree(next(tmp_path.iterdir()))
        answer(PNG)(connection, request)

    with raw_server(behave) as host, pytest.raises(NothingSent, match="No such file"):
        copied(ImageRef(url=host.url), scratch_dir=tmp_path)


class Broken(io.BytesIO):
    """A file of ours that opens and cannot be read."""

    def read(self, *_: object) -> bytes:
        raise OSError(errno.EIO, "the disk is broken")

    readinto = read  # type: ignore[assignment]


def test_a_stored_image_that_cannot_be_read_is_our_fault_and_nothing_was_sent(tmp_path: Path) -> None:
    unreadable, missing = {"open_stored": lambda _: Broken()}, {"files": {}}
    for ours in (unreadable, missing):
        connection = connection_to("", scratch_dir=tmp_path, **ours)
        with pytest.raises(NothingSent), fetched([ImageRef(stored=stored())], connection):
            pass
    assert left_in(tmp_path) == []


def test_a_folder_that_cannot_be_deleted_does_not_cost_the_answer(tmp_path: Path) -> None:
    with fetched([ImageRef(stored=stored())], connection_to("", files={"one": PNG}, scratch_dir=tmp_path)):
        (folder,) = tmp_path.iterdir()
        shutil.rmtree(folder)
        folder.write_text("not a folder")


def test_an_account_whose_names_hang_waits_alone_and_nothing_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_server(answer(PNG)) as host, hanging(customer("1"), CUSTOMERS.each):
        image = ImageRef(url=f"http://localhost:{host.port}")
        assert copied(image, scratch_dir=tmp_path, payer="2") == [PNG]
        monkeypatch.setattr(dial, "LOOKUP_SECONDS", 0.01)
        with pytest.raises(NothingSent, match="name lookups of this account hang"):
            copied(image, scratch_dir=tmp_path, payer="1")
        assert len(host.requests) == 1
