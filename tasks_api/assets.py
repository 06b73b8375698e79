"""Downloads of assets, with a key or by a signed URL, on the asynchronous side: a slow client holds neither a thread
nor a database connection. `tasks/gate.py` and `tasks/assets/` say who may have what.
"""

import asyncio
import re
import time
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace

from django.http import QueryDict

from common.concurrency import threads
from common.errors import ApiError, MethodNotAllowed, TaskNotFound
from common.http import rates
from common.http.asgi import Headers, Receive, Scope, Send, dialect_of, disconnected, error_answer, joined, values
from storage import blobs, media_types
from storage.blobs import Reading
from tasks import gate
from tasks.assets import assets, links, signed_urls, uploads
from tasks.assets.signed_urls import UrlRefused
from tasks.models import Asset, Task
from tasks_api import byte_ranges, queries, submission_paths
from tasks_api.byte_ranges import ByteRange
from tasks_api.openai import video_contents

KEYED_PATH = re.compile(r"/v1/tasks/(task_[0-9a-z]{26})/assets/(0|[1-9][0-9]{0,3})")
SAFE: Headers = (
    (b"accept-ranges", b"bytes"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"referrer-policy", b"no-referrer"),
)
NO_STORE: Headers = ((b"cache-control", b"no-store"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """An asset that this request may have, and how long a cache may."""

    asset: Asset
    cache_control: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadResponse:
    """The head of a response, and the bytes that follow it: opened before anything is promised."""

    status: int
    headers: Headers
    reading: Reading | None = None


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI: GET and HEAD of `/v1/tasks/{id}/assets/{index}`, `/v1/videos/{id}/content` and
    `/assets/{task}/{index}.{ext}`."""
    try:
        reply = await _reply(scope, await _admitted(scope))
    except ApiError as error:
        answer = error_answer(error, dialect=dialect_of(scope), headers=NO_STORE)
        await (replace(answer, body=b"") if scope["method"] == "HEAD" else answer).send(send)
        return
    with closing(reply.reading) if reply.reading else nullcontext():
        await send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers)})
        if reply.reading and scope["method"] == "GET":
            await _stream(reply.reading, receive, send)
        else:
            await send({"type": "http.response.body", "body": b""})


async def _admitted(scope: Scope) -> Download:
    """Raises the ApiError that the client is to see. What follows takes the share of the asset's account."""
    by_signature = scope["path"].startswith("/assets/")
    download, account_id = await (_by_signature(scope) if by_signature else threads.call(_by_key, scope))
    threads.share.set(threads.of_account(account_id))
    return download


async def _by_signature(scope: Scope) -> tuple[Download, int]:
    _refuse_other_methods(scope)
    grant = signed_urls.verify(scope["path"], scope["query_string"].decode("latin-1"))
    if grant is None:
        raise UrlRefused()
    find = uploads.find if grant.is_input else _find
    asset, account_id = await threads.call(find, grant.task_id, grant.index)
    until = links.retained_until(asset)
    end = min(grant.expires, until.timestamp()) if until else grant.expires
    return Download(asset=asset, cache_control=f"private, max-age={max(int(end - time.time()), 0)}"), account_id


def _find(task_id: str, index: int) -> tuple[Asset, int]:
    """The asset, and the account whose share its reading takes."""
    asset = assets.find(task_id, index, key_id=None)
    return asset, Task.objects.values_list("account_id", flat=True).get(pk=task_id)


def _by_key(scope: Scope) -> tuple[Download, int]:
    caller = gate.admit(joined(scope["headers"], b"authorization")).caller
    submission_paths.refuse_without_scope(scope["path"], caller)
    rates.check("read", caller.key_id)
    _refuse_other_methods(scope)
    asset = _keyed(scope["path"], QueryDict(scope["query_string"]), caller.key_id)
    return Download(asset=asset, cache_control="private, no-cache"), caller.account_id


def _keyed(path: str, query: QueryDict, key_id: int) -> Asset:
    """Raises TaskNotFound, InvalidRequest, AssetExpired."""
    if path.startswith(video_contents.ROOM):
        return video_contents.find(path, query, key_id)
    match = KEYED_PATH.fullmatch(path)
    if match is None:
        raise TaskNotFound()
    queries.single_values(query, ())
    return assets.find(match[1], int(match[2]), key_id=key_id)


def _refuse_other_methods(scope: Scope) -> None:
    if scope["method"] not in ("GET", "HEAD"):
        raise MethodNotAllowed("Assets can be read with GET and HEAD.", headers={"Allow": "GET, HEAD"})


async def _reply(scope: Scope, download: Download) -> DownloadResponse:
    """Raises StorageUnavailable and RangeNotSatisfiable."""
    asset, etag = download.asset, f'"{download.asset.sha256}"'
    headers = (*SAFE, (b"etag", etag.encode()), (b"cache-control", download.cache_control.encode()))
    if byte_ranges.is_known(values(scope["headers"], b"if-none-match"), etag):
        return DownloadResponse(status=304, headers=headers)
    part = _part(scope, asset, etag)
    if part:
        headers += ((b"content-range", part.content_range(asset.size_bytes).encode()),)
    chosen = part or ByteRange(start=0, length=asset.size_bytes)
    reading = await threads.compute(blobs.read_range, asset.storage_key, chosen.start, chosen.length)
    headers += _entity_headers(asset, chosen.length)
    return DownloadResponse(status=206 if part else 200, headers=headers, reading=reading)


def _part(scope: Scope, asset: Asset, etag: str) -> ByteRange | None:
    if scope["method"] == "HEAD":  # ranges are defined for GET alone
        return None
    ranges, if_range = values(scope["headers"], b"range"), values(scope["headers"], b"if-range")
    return byte_ranges.select(ranges, if_range, etag=etag, size=asset.size_bytes)


def _entity_headers(asset: Asset, length: int) -> Headers:
    return (
        (b"content-type", media_types.of(asset.content_type).content_type.encode()),
        (b"content-length", str(length).encode()),
        (b"content-disposition", links.disposition(asset).encode()),
    )


async def _stream(reading: Reading, receive: Receive, send: Send) -> None:
    """Send chunk by chunk until the end or until the client has left.

    A fault of the storage is raised: the response stays short of its Content-Length, so that the server cuts the
    connection and the client sees it.
    """
    leaving = asyncio.ensure_future(disconnected(receive))
    try:
        while reading.remaining and not leaving.done():
            chunk = await threads.compute(next, reading)
            await send({"type": "http.response.body", "body": chunk, "more_body": reading.remaining > 0})
    finally:
        leaving.cancel()
