"""Step 9: what a provider made becomes files of ours, later shown, linked and found again.

The bytes lie in `storage/blobs.py`; rows are written by `tasks/lifecycle.py` and deleted bytes are marked by
`tasks/assets/retention.py`.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from adapters.base import StoredFile
from common import sql
from common.errors import AssetExpired, StorageUnavailable, TaskNotFound
from storage import blobs, media_types
from tasks.assets import signed_urls
from tasks.assets.signed_urls import Grant
from tasks.models import Asset

logger = logging.getLogger(__name__)

MEBIBYTE = 1024 * 1024
MAX_BYTES = {"image": 64 * MEBIBYTE, "video": 2048 * MEBIBYTE, "audio": 64 * MEBIBYTE, "model": 512 * MEBIBYTE}
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


def store(chunks: Iterable[bytes], *, kind: str, limits: Mapping[str, int] = MAX_BYTES) -> NewAsset:
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
    asset = (rows if key_id is None else rows.filter(task__key_id=key_id)).first()
    if asset is None:
        raise TaskNotFound()
    if is_gone(asset, timezone.now()):
        raise AssetExpired()
    return asset


def own_asset(key_id: int, url: str) -> bool:
    """Whether this is a valid signed URL of ours to an asset of this key: admitted as an input of its next task."""
    own = signed_urls.parse_own(url)
    return own is not None and _available(*own, key_id=key_id) is not None


def input_url(task_id: str, position: int) -> str | None:
    """A fresh URL of an asset that a task takes as an input; None once it was deleted."""
    asset = _available(task_id, position)
    return _link(asset, timezone.now())[0] if asset else None


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


def public(task_id: str, row: Mapping[str, Any], *, now: datetime | None = None) -> dict[str, Any]:
    """The element of `assets[]`, its URL minted for this answer; `expires_at` is when that URL stops working.

    `row` has the columns of Asset but for its task; moments may be text, as raw statements return them.
    """
    moments = {name: row[name] and sql.as_moment(row[name]) for name in ("created_at", "deleted_at")}
    asset = Asset(**{**row, **moments, "task_id": task_id})
    url, expires_at = _link(asset, now or timezone.now())
    until = retained_until(asset)
    return {
        "index": asset.position,
        "kind": asset.kind,
        "url": url,
        "content_type": asset.content_type,
        "size_bytes": asset.size_bytes,
        "sha256": asset.sha256,
        "width": asset.width,
        "height": asset.height,
        "duration": asset.duration_seconds,
        "expires_at": _iso(expires_at),
        "retained_until": _iso(until) if until else None,
    }


def retained_until(asset: Asset) -> datetime | None:
    """When ASSET_RETENTION ends, or ended; None where bytes are kept for ever."""
    if asset.deleted_at:
        return asset.deleted_at
    retention: int = settings.ASSET_RETENTION
    return asset.created_at + timedelta(seconds=retention) if retention else None


def is_gone(asset: Asset, now: datetime) -> bool:
    """Deleted, or due to be: what retention promised holds at once, not only after its next run."""
    until = retained_until(asset)
    return until is not None and until <= now


def disposition(asset: Asset) -> str:
    """Content-Disposition with a name made by us; only media are shown in a browser."""
    found = media_types.of(asset.content_type)
    shown = "inline" if found.kind not in ("archive", "file") else "attachment"
    return f'{shown}; filename="{asset.task_id}-{asset.position}.{found.extension}"'


def _link(asset: Asset, now: datetime) -> tuple[str, datetime]:
    """A URL and the moment at which it stops working. One of deleted bytes is our own, so that it answers 410."""
    found, until = media_types.of(asset.content_type), retained_until(asset)
    expires = int(now.timestamp()) + settings.ASSET_URL_TTL
    expires_at = min(filter(None, (datetime.fromtimestamp(expires, UTC), until)))
    seconds = int((expires_at - now).total_seconds())
    url = None
    if seconds > 0:
        url = blobs.presigned_url(
            asset.storage_key, seconds=seconds, content_type=found.content_type, disposition=disposition(asset)
        )
    own = Grant(task_id=asset.task_id, index=asset.position, expires=expires)
    return url or signed_urls.mint(own, found.extension), expires_at


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
