"""The response to whoever may have a file: its head, and its bytes, whole where they are few, else piece by piece.

With ASSET_ACCEL the bytes are the reverse proxy's work: it serves the file that `X-Accel-Redirect` names.
"""

import asyncio
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import quote

from django.conf import settings

from common.concurrency import threads
from common.errors import StorageUnavailable
from common.http.asgi import Answer, Headers, Receive, Scope, Send, disconnected, values
from storage import blobs, media_types
from storage.blobs import Reading
from tasks.assets import links, lookups
from tasks.assets.lookups import Result
from tasks.models import Asset
from tasks_api import byte_ranges
from tasks_api.byte_ranges import ByteRange

SMALL_BYTES = 1024 * 1024
"""What is read at once, and is in memory until its client has it."""

SAFE: Headers = (
    (b"accept-ranges", b"bytes"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"referrer-policy", b"no-referrer"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file that this request may have, and how long a cache may. `is_known`: this process had it some seconds ago."""

    asset: Asset | Result
    cache_control: str
    is_known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedReply:
    """The head of a response, and the bytes that follow it: opened before anything is promised."""

    status: int
    headers: Headers
    reading: Reading

    async def send(self, receive: Receive, send: Send) -> None:
        """Chunk by chunk until the end or until the client has left.

        A fault of the storage is raised: the response stays short of its Content-Length, so that the server cuts the
        connection and the client sees it.
        """
        with closing(self.reading) as reading:
            await send({"type": "http.response.start", "status": self.status, "headers": list(self.headers)})
            leaving = asyncio.ensure_future(disconnected(receive))
            try:
                while reading.remaining and not leaving.done():
                    chunk = await threads.compute(next, reading)
                    await send({"type": "http.response.body", "body": chunk, "more_body": reading.remaining > 0})
            finally:
                leaving.cancel()


def is_plain(scope: Scope) -> bool:
    """Whether the request can be answered by the bytes alone."""
    return bool(scope["method"] == "GET") and not values(scope["headers"], b"if-none-match")


async def reply(scope: Scope, download: Download) -> Answer | StreamedReply:
    """Raises StorageUnavailable and RangeNotSatisfiable."""
    asset, etag = download.asset, f'"{download.asset.sha256}"'
    headers = (*SAFE, (b"etag", etag.encode()), (b"cache-control", download.cache_control.encode()))
    if byte_ranges.is_known(values(scope["headers"], b"if-none-match"), etag):
        return Answer(status=304, headers=headers, body=b"")
    part = _part(scope, asset, etag)
    if settings.ASSET_ACCEL:
        return await _left_to_proxy(download, headers)
    if part:
        headers += ((b"content-range", part.content_range(asset.size_bytes).encode()),)
    chosen = part or ByteRange(start=0, length=asset.size_bytes)
    status, headers = 206 if part else 200, headers + _entity_headers(asset, chosen.length)
    if scope["method"] == "GET" and chosen.length <= SMALL_BYTES:
        return Answer(status=status, headers=headers, body=await _read(download, chosen))
    reading = await threads.compute(blobs.read_range, asset.storage_key, chosen.start, chosen.length)
    if scope["method"] == "GET":
        return StreamedReply(status=status, headers=headers, reading=reading)
    reading.close()
    return Answer(status=status, headers=headers, body=b"")


async def _read(download: Download, chosen: ByteRange) -> bytes:
    """On a thread where the bytes may have to be waited for: not if they were read some seconds ago."""
    wanted = download.asset.storage_key, chosen.start, chosen.length
    if download.is_known:
        return blobs.read(*wanted)
    body = blobs.read_cached(*wanted)
    if body is None:
        body = await threads.compute(blobs.read, *wanted)
    _remember(download)
    return body


async def _left_to_proxy(download: Download, headers: Headers) -> Answer:
    """All but the bytes. The proxy serves ranges, and says how many bytes there are. Raises StorageUnavailable."""
    key = download.asset.storage_key
    if not download.is_known:
        if not await threads.compute(blobs.is_at_hand, key):
            raise StorageUnavailable()
        _remember(download)
    place = f"{settings.ASSET_ACCEL}{quote(key)}"
    headers += (*_entity_headers(download.asset, 0), (b"x-accel-redirect", place.encode()))
    return Answer(status=200, headers=headers, body=b"")


def _remember(download: Download) -> None:
    if isinstance(download.asset, Result):
        lookups.remember(download.asset)


def _part(scope: Scope, asset: Asset | Result, etag: str) -> ByteRange | None:
    if scope["method"] == "HEAD":  # ranges are defined for GET alone
        return None
    ranges, if_range = values(scope["headers"], b"range"), values(scope["headers"], b"if-range")
    return byte_ranges.select(ranges, if_range, etag=etag, size=asset.size_bytes)


def _entity_headers(asset: Asset | Result, length: int) -> Headers:
    return (
        (b"content-type", media_types.of(asset.content_type).content_type.encode()),
        (b"content-length", str(length).encode()),
        (b"content-disposition", links.disposition(asset).encode()),
    )
