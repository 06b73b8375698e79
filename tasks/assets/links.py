"""How an asset is shown: its element of `assets[]`, its URL, how long it can be had, its name when it is saved."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from common import moments, sql
from storage import blobs, media_types
from tasks.assets import signed_urls
from tasks.assets.signed_urls import Grant
from tasks.models import Asset


def public(task_id: str, row: Mapping[str, Any], *, now: datetime | None = None) -> dict[str, Any]:
    """The element of `assets[]`, its URL minted for this answer; `expires_at` is when that URL stops working.

    `row` has the columns of Asset but for its task; moments may be text, as raw statements return them.
    """
    times = {name: row[name] and sql.as_moment(row[name]) for name in ("created_at", "deleted_at")}
    asset = Asset(**{**row, **times, "task_id": task_id})
    url, expires_at = to(asset, now or timezone.now())
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
        "expires_at": moments.iso(expires_at),
        "retained_until": moments.iso(until),
    }


def to(asset: Asset, now: datetime) -> tuple[str, datetime]:
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
    return url or own(asset, expires=expires), expires_at


def own(asset: Asset, *, expires: int) -> str:
    """Our own signed URL, whatever the storage may sign; `expires` is Unix time."""
    grant = Grant(task_id=asset.task_id, index=asset.position, expires=expires)
    return signed_urls.mint(grant, media_types.of(asset.content_type).extension)


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
