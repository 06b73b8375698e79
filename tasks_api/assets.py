"""Downloads of assets, with a key or by a signed URL, on the asynchronous side: a slow client holds neither a thread
nor a database connection. `accounts/authentication.py` and `tasks/assets/` say who may have what,
`tasks_api/downloads.py` sends it.
"""

import re
import time
from collections.abc import Callable
from dataclasses import replace

from django.http import QueryDict
from django.utils import timezone

from common.concurrency import promises, threads
from common.errors import ApiError, AssetExpired, MethodNotAllowed, TaskNotFound, UrlRefused
from common.http import rates
from common.http.asgi import Answer, Headers, Receive, Scope, Send, dialect_of, error_answer
from tasks.assets import links, lookups, signed_urls, uploads
from tasks.assets.links import AnyAsset
from tasks.assets.lookups import Place, Result
from tasks_api import authentication, downloads, queries
from tasks_api.downloads import Download
from tasks_api.openai import video_contents

KEYED_PATH = re.compile(r"/v1/tasks/(task_[0-9a-z]{26})/assets/(0|[1-9][0-9]{0,3})")
SIGNED = "/assets/"
NO_STORE: Headers = ((b"cache-control", b"no-store"),)
REVALIDATED = "private, no-cache"

CacheControl = Callable[[AnyAsset], str]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI: GET and HEAD of `/v1/tasks/{id}/assets/{index}`, `/v1/videos/{id}/content` and
    `/assets/{task}/{index}.{ext}`."""
    try:
        reply = await downloads.reply(scope, await _admitted(scope))
    except ApiError as error:
        reply = error_answer(error, dialect=dialect_of(scope), headers=NO_STORE)
        if scope["method"] == "HEAD":
            reply = replace(reply, body=b"")
    if isinstance(reply, Answer):
        await reply.send(send)
    else:
        await reply.send(receive, send)


async def _admitted(scope: Scope) -> Download:
    """Raises the ApiError that the client is to see. What follows takes the share of the asset's account."""
    return await (_by_signature if scope["path"].startswith(SIGNED) else _by_key)(scope)


async def _by_signature(scope: Scope) -> Download:
    _refuse_other_methods(scope)
    grant = signed_urls.verify(scope["path"], scope["query_string"].decode("latin-1"))
    if grant is None:
        raise UrlRefused()

    def cache_control(asset: AnyAsset) -> str:
        until = links.retained_until(asset)
        end = min(grant.expires, until.timestamp()) if until else grant.expires
        return f"private, max-age={max(int(end - time.time()), 0)}"

    place = (grant.task_id, grant.index)
    if not grant.is_input:
        return await _found(scope, place, cache_control)
    asset, account_id = await threads.call(uploads.find, *place)
    threads.share.set(threads.of_account(account_id))
    return Download(asset=asset, cache_control=cache_control(asset))


async def _by_key(scope: Scope) -> Download:
    caller = await authentication.caller_of(scope)
    rates.check("read", caller.key_id)
    _refuse_other_methods(scope)
    threads.share.set(threads.of_account(caller.account_id))
    query = QueryDict(scope["query_string"])
    if scope["path"].startswith(video_contents.ROOM):
        film = await threads.call(video_contents.find, scope["path"], query, caller.key_id)
        return Download(asset=film, cache_control=REVALIDATED)
    match = KEYED_PATH.fullmatch(scope["path"])
    if match is None:
        raise TaskNotFound()
    queries.single_values(query, ())
    return await _found(scope, (match[1], int(match[2])), lambda _: REVALIDATED, key_id=caller.key_id)


async def _found(scope: Scope, place: Place, cache_control: CacheControl, *, key_id: int | None = None) -> Download:
    """A result, of this key unless None. Raises TaskNotFound and AssetExpired."""
    known = lookups.known(place) if downloads.is_plain(scope) else None
    result: Result | None = known or await promises.awaited(lookups.find(place))
    if result is None or key_id not in (None, result.key_id):
        raise TaskNotFound()
    if links.is_gone(result, timezone.now()):
        raise AssetExpired()
    threads.share.set(threads.of_account(result.account_id))
    return Download(asset=result, cache_control=cache_control(result), is_known=known is not None)


def _refuse_other_methods(scope: Scope) -> None:
    if scope["method"] not in ("GET", "HEAD"):
        raise MethodNotAllowed("Assets can be read with GET and HEAD.", headers={"Allow": "GET, HEAD"})
