"""Outputs become assets whole and of the promised kind, or not at all."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.base import MAX_OUTPUT_BYTES, ErrorKind, UpstreamError
from common.errors import StorageUnavailable
from storage import blobs
from tasks.assets import assets
from tasks.assets.assets import UnusableOutput
from tests.storage.samples import film, picture

HTML = b"<!doctype html><title>502 Bad Gateway</title>"


def files_under(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


@pytest.mark.usefixtures("any_storage")
def test_a_film_is_stored_with_all_its_facts() -> None:
    content = film()
    made = assets.store([content[:100], content[100:]], kind="video")
    assert (made.kind, made.content_type, made.size_bytes) == ("video", "video/mp4", len(content))
    assert (made.width, made.height) == (64, 48)
    assert made.duration_seconds == pytest.approx(2, abs=0.1)
    assert made.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.usefixtures("any_storage")
def test_an_image_is_stored_byte_for_byte() -> None:
    made = assets.store([picture("WEBP")], kind="image")
    with blobs.open(made.storage_key) as file:
        assert file.read() == picture("WEBP")
    assert (made.content_type, made.width, made.height, made.duration_seconds) == ("image/webp", 64, 48, None)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("video", HTML),
        ("video", picture("PNG")),
        ("image", film()),
        ("image", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("image", b""),
        ("model", b""),
        ("audio", b'{"error": "gone"}'),
    ],
    ids=["html", "picture", "film", "svg", "empty image", "empty model", "json"],
)
def test_what_was_not_promised_is_refused(folder: Path, kind: str, content: bytes) -> None:
    with pytest.raises(UnusableOutput):
        assets.store([content], kind=kind)
    assert files_under(folder) == []


def test_a_model_may_be_of_a_format_without_magic(folder: Path) -> None:
    made = assets.store([b"solid cube\nendsolid"], kind="model")
    assert (made.kind, made.content_type) == ("model", "application/octet-stream")


def test_an_output_over_its_cap_is_refused(folder: Path) -> None:
    with pytest.raises(UnusableOutput):
        assets.store([picture("PNG"), bytes(1000)], kind="image", limits={"image": 1000})
    assert files_under(folder) == []


def test_the_caps_are_those_of_the_kinds() -> None:
    assert MAX_OUTPUT_BYTES["image"] == 64 * 2**20
    assert MAX_OUTPUT_BYTES["video"] == 2 * 2**30
    assert MAX_OUTPUT_BYTES["model"] == 512 * 2**20


def test_a_download_that_breaks_off_leaves_nothing(folder: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield picture("PNG")
        raise UpstreamError(ErrorKind.TRANSIENT, "the connection broke")

    with pytest.raises(UpstreamError):
        assets.store(chunks(), kind="image")
    assert files_under(folder) == []


@pytest.mark.usefixtures("any_storage")
def test_discarded_assets_are_gone() -> None:
    made = [assets.store([picture("PNG")], kind="image") for _ in range(2)]
    assets.discard(made)
    for asset in made:
        with pytest.raises(StorageUnavailable):
            blobs.open(asset.storage_key)


def test_discarding_never_raises(folder: Path) -> None:
    made = assets.store([picture("PNG")], kind="image")
    folder.rename(folder.with_name("away"))
    folder.write_bytes(b"not a folder")
    assets.discard([made])
