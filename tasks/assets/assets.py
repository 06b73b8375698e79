"""Step 12: stores what a provider made as files of ours, and finds them again, also as inputs of later tasks.

The bytes lie in `storage/blobs.py`. `tasks/lifecycle.py` writes the rows, `tasks/assets/retention.py` marks those whose
bytes it has deleted, `tasks/assets/links.py` shows them.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from adapters.base import MAX_OUTPUT_BYTES, StoredFile
from common.errors import AssetExpired, StorageUnavailable, TaskNotFound
from storage import blobs, media_types
from tasks.assets import links, signed_urls
from tasks.models import Asset

logger = logging.getLogger(__name__)

# Few formats of 3D models can be told by magic numbers, so a model may be any file.
ADMITTED = {"image": {"image"}, "video": {"video"}, "audio": {"audio"}, "model": {"model", "archive", "file"}}


class UnusableOutput(Exception):
    """Empty, too large, or not of the kind that was promised; the message is for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAsset:
    """A stored result that no row names yet."""

    kind: str
    storage_key: str
    content_type: str
    size_bytes: int
    sha256: str
    width: int | None
    height: int | None
    duration_seconds: float | None


def store(chunks: Iterable[bytes], *, kind: str, limits: Mapping[str, int] = MAX_OUTPUT_BYTES) -> NewAsset:
    """Stream one output of this kind (image, video, audio, model) into storage; `limits` in bytes by kind.

    Raises UnusableOutput, StorageUnavailable and whatever the chunks raise; then nothing is stored.
    """
    try:
        with blobs.receive(chunks, max_bytes=limits[kind]) as incoming:
            found = media_types.sniff(incoming.head)
            if not incoming.size_bytes or found.kind not in ADMITTED[kind]:
                raise UnusableOutput(f"{incoming.size_bytes} bytes of {found.content_type} are no {kind}")
            facts = media_types.facts(found, incoming.file)
            stored = incoming.keep("results")
    except blobs.TooLarge as error:
        raise UnusableOutput(f"{kind}: {error}") from error
    return NewAsset(
        kind=kind,
        storage_key=stored.key,
        content_type=found.content_type,
        size_bytes=stored.size_bytes,
        sha256=stored.sha256,
        width=facts.width,
        height=facts.height,
        duration_seconds=facts.duration_seconds,
    )


def discard(assets: Iterable[NewAsset]) -> None:
    """Delete what no row will name, because the task ended otherwise. Never raises for a faulty storage."""
    for asset in assets:
        try:
            blobs.delete(asset.storage_key)
        except StorageUnavailable:
            logger.warning("asset %s could not be discarded", asset.storage_key)


def find(task_id: str, position: int, *, key_id: int | None) -> Asset:
    """The row of an asset of a succeeded task, of this key unless None. Raises TaskNotFound and AssetExpired."""
    rows = Asset.objects.filter(task_id=task_id, position=position, task__status="succeeded")
    return _to_read((rows if key_id is None else rows.filter(task__key_id=key_id)).first())


def find_of_film(task_id: str, kind: str, *, key_id: int) -> Asset:
    """The first asset of this kind of a succeeded video task of this key. Raises TaskNotFound and AssetExpired."""
    rows = Asset.objects.filter(task_id=task_id, kind=kind, task__status="succeeded", task__modality="video")
    return _to_read(rows.filter(task__key_id=key_id).order_by("position").first())


def _to_read(asset: Asset | None) -> Asset:
    if asset is None:
        raise TaskNotFound()
    if links.is_gone(asset, timezone.now()):
        raise AssetExpired()
    return asset


def own_asset(key_id: int, url: str) -> str | None:
    """The URL by which a task keeps an asset of this key as its input; None where this is no valid URL of one.

    Valid are our own signed URLs, kept as they are, and the storage's: for such a one the task keeps ours, which tells
    the asset still when it has expired. The storage's signature is not verified, and need not be: the URL opens nothing
    here. It only names an asset that the key may fetch anyway, and credentials that change would make it unverifiable.
    """
    if own := signed_urls.parse_own(url):
        return url if _available(*own, key_id=key_id) else None
    place = blobs.place_of(url)
    if place is None or place.key is None or place.ends_at is None or place.ends_at <= time.time():
        return None
    asset = Asset.objects.filter(storage_key=place.key, task__key_id=key_id, task__status="succeeded").first()
    if asset is None or links.is_gone(asset, timezone.now()):
        return None
    return links.own(asset, expires=int(min(place.ends_at, time.time() + settings.ASSET_URL_TTL)))


def in_storage(url: str) -> bool:
    """Whether a URL leads into the storage of assets itself. Raises StorageUnavailable."""
    return blobs.place_of(url) is not None


def input_url(task_id: str, position: int) -> str | None:
    """A fresh URL of an asset that a task takes as an input; None once it was deleted."""
    asset = _available(task_id, position)
    return links.to(asset, timezone.now())[0] if asset else None


def own_file(task_id: str, position: int) -> StoredFile | None:
    """The bytes of an asset that a task takes as an input; None once they were deleted."""
    asset = _available(task_id, position)
    if asset is None:
        return None
    return StoredFile(
        key=asset.storage_key, content_type=asset.content_type, size_bytes=asset.size_bytes, sha256=asset.sha256
    )


def _available(task_id: str, position: int, *, key_id: int | None = None) -> Asset | None:
    try:
        return find(task_id, position, key_id=key_id)
    except (TaskNotFound, AssetExpired):
        return None
