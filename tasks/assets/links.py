"""How an asset is shown: its element of `assets[]`, its URL, how long it can be had, its name when it is saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from common import moments, sql
from storage import blobs, media_types
from tasks.assets import signed_urls
from tasks.assets.signed_urls import Grant
from tasks.models import Asset


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetRow:
    """What of an asset is shown, as a raw statement has read it: no object of the ORM, which costs as much again."""

    task_id: str
    position: int
    storage_key: str
    content_type: str
    created_at: datetime
    deleted_at: datetime | None


AnyAsset = Asset | AssetRow


def public(task_id: str, row: Mapping[str, Any], *, now: datetime | None = None) -> dict[str, Any]:
    """The element of `assets[]`, its URL minted for this answer; `expires_at` is when that URL stops working. Deleted
    bytes have none, and `expires_at` is when they were deleted.

    `row` has the columns of Asset but for its task; moments may be text, as raw statements return them.
    """
    asset, now = asset_row(task_id, row), now or timezone.now()
    url, expires_at = to(asset, now)
    until = retained_until(asset)
    return {
        "index": asset.position,
        "kind": row["kind"],
        "url": None if is_gone(asset, now) else url,
        "content_type": asset.content_type,
        "size_bytes": row["size_bytes"],
        "sha256": row["sha256"],
        "width": row["width"],
        "height": row["height"],
        "duration": row["duration_seconds"],
        "expires_at": moments.iso(expires_at),
        "retained_until": moments.iso(until),
    }


def asset_row(task_id: str, row: Mapping[str, Any]) -> AssetRow:
    return AssetRow(
        task_id=task_id,
        position=row["position"],
        storage_key=row["storage_key"],
        content_type=row["content_type"],
        created_at=sql.as_moment(row["created_at"]),
        deleted_at=row["deleted_at"] and sql.as_moment(row["deleted_at"]),
    )


def to(asset: AnyAsset, now: datetime) -> tuple[str, datetime]:
    """A URL and the moment at which it stops working."""
    found, until = media_types.of(asset.content_type), retained_until(asset)
    expires = int(now.timestamp()) + settings.ASSET_URL_TTL
    expires_at = min(filter(None, (datetime.fromtimestamp(expires, UTC), until)))
    seconds = int((expires_at - now).total_seconds())
    url = None
    if seconds > 0:
        url = blobs.presigned_url(
            asset.storage_key, seconds=seconds, content_type=found.content_type, disposition=disposition(asset)
        )
    return url or own(asset, expires=expires), expires_at


def own(asset: AnyAsset, *, expires: int) -> str:
    """Our own signed URL, whatever the storage may sign; `expires` is Unix time."""
    grant = Grant(task_id=asset.task_id, index=asset.position, expires=expires)
    return signed_urls.mint(grant, media_types.of(asset.content_type).extension)


def retained_until(asset: AnyAsset) -> datetime | None:
    """When ASSET_RETENTION ends, or ended; None where bytes are kept for ever."""
    if asset.deleted_at:
        return asset.deleted_at
    retention: int = settings.ASSET_RETENTION
    return asset.created_at + timedelta(seconds=retention) if retention else None


def is_gone(asset: AnyAsset, now: datetime) -> bool:
    """Deleted, or due to be: what retention promised holds at once, not only after its next run."""
    until = retained_until(asset)
    return until is not None and until <= now


def disposition(asset: AnyAsset) -> str:
    """Content-Disposition with a name made by us; only media are shown in a browser."""
    found = media_types.of(asset.content_type)
    shown = "inline" if found.kind not in ("archive", "file") else "attachment"
    return f'{shown}; filename="{asset.task_id}-{asset.position}.{found.extension}"'
