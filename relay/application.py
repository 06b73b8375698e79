"""Serves the companion endpoints for general keys: authenticates the key, checks what it may call, and hands on the
call.

Order of checks: key (401), binding (403), method (405), group (403), platform (404), rate (429), encoding (415), then
the body. The declared body size was judged before all of them. Every general key may read the lists.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from accounts import keys
from accounts.authentication import BEARER
from accounts.models import ApiKey
from catalog.groups import IMAGES, GroupEntry
from common.errors import (
    ApiError,
    EndpointUnsupported,
    ImagesUnsupported,
    MethodNotAllowed,
    PermissionRefused,
    TaskNotFound,
    UnsupportedMediaType,
    UpgradeRequired,
)
from common.http import rates
from common.http.asgi import Answer, Receive, Scope, Send, header, joined, values
from common.http.front_body import Body
from relay import admission, unserved, usage
from relay.admission import RelayAdmission, RelayCaller
from relay.calls import serving
from relay.families import registry
from relay.families.base import CallPath, Family
from relay.families.messages import COUNT_TOKENS
from relay.lists import model_lists

GENERAL = keys.PREFIXES[ApiKey.Binding.GENERAL.value]
IMAGES_PATH = "/v1/images/"
RESPONSES_PATH = "/v1/responses"
NO_GROUP = "This API key belongs to no group, and may not call this endpoint."
OTHER_METHOD = "This path does not take that method."

Lookup = Callable[[Scope, RelayAdmission], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayEntry:
    """A call that its caller may make, with the group that offers it and the dialect that it speaks."""

    caller: RelayCaller
    group: GroupEntry
    family: Family
    path: CallPath


def serves(scope: Scope) -> bool:
    """Tells whether the request is for the relay. An image call is if its key names itself a general one."""
    path = scope["path"]
    if registry.find_family("POST", path) is None:
        return _lookup(path) is not None
    return not path.startswith(IMAGES_PATH) or _is_general(scope)


def _lookup(path: str) -> Lookup | None:
    if path == usage.PATH:
        return usage.answer
    return model_lists.answer if model_lists.PATH.fullmatch(path) else None


def _is_general(scope: Scope) -> bool:
    match = BEARER.fullmatch(joined(scope["headers"], b"authorization"))
    return bool(match and match[1].startswith(GENERAL))


async def opened_for(scope: Scope) -> int | None:
    """Returns the account that may send a large body with a request that `serves` accepted; None if the request is
    refused whatever its body."""
    try:
        return _entered(scope, await _admitted(scope)).caller.account_id
    except ApiError:
        return None


async def serve(scope: Scope, body: Body, receive: Receive, send: Send) -> None:
    """ASGI application for a request that `serves` accepted and whose body has arrived; closes the body."""
    try:
        if registry.find_family("POST", scope["path"]) is not None:
            await _call(scope, body, receive, send)
            return
        answer = await _looked_up(scope, await _admitted(scope))
        await answer.send(send)
    finally:
        body.close()


async def _call(scope: Scope, body: Body, receive: Receive, send: Send) -> None:
    entry = _entered(scope, await _admitted(scope))
    rates.check("relay", entry.caller.key_id)
    _require_plain(scope)
    await serving.serve(entry.caller, entry.group, entry.family, entry.path, scope, body, receive, send)


async def _admitted(scope: Scope) -> RelayAdmission:
    return await admission.admit(joined(scope["headers"], b"authorization"))


async def _looked_up(scope: Scope, admitted: RelayAdmission) -> Answer:
    """Answers a GET of a list. Raises PathNotServed for Google methods that nobody serves."""
    lookup = _lookup(scope["path"])
    if lookup is None or (scope["method"] == "POST" and ":" in scope["path"]):
        raise unserved.refuse_verb(scope["path"])
    if scope["method"] not in ("GET", "HEAD"):
        raise MethodNotAllowed(OTHER_METHOD, headers={"Allow": "GET, HEAD"})
    rates.check("read", admitted.caller.key_id)
    return await lookup(scope, admitted)


def _entered(scope: Scope, admitted: RelayAdmission) -> RelayEntry:
    """Checks the call up to its body. Raises TaskNotFound, MethodNotAllowed, and the refusals of its group."""
    found = registry.find_family("POST", scope["path"])
    if found is None:
        raise TaskNotFound("Unknown path.")
    if scope["method"] != "POST":
        raise _other_method(scope)
    family, path = found
    group = _serving(admitted.group, family, path)
    query, content_type = scope["query_string"].decode("latin-1"), joined(scope["headers"], b"content-type")
    betas = [beta.strip() for said in values(scope["headers"], b"anthropic-beta") for beta in said.split(",")]
    path = replace(path, query=query, content_type=content_type, betas=tuple(filter(None, betas)))
    return RelayEntry(caller=admitted.caller, group=group, family=family, path=path)


def _other_method(scope: Scope) -> ApiError:
    """Returns the refusal of any method but POST. A WebSocket handshake is a GET; a proxy may drop `Upgrade`, but keeps
    the handshake's own fields."""
    headers = scope["headers"]
    asks = "websocket" in joined(headers, b"upgrade").lower() or header(headers, b"sec-websocket-version")
    if scope["method"] == "GET" and scope["path"] == RESPONSES_PATH and asks:
        return UpgradeRequired()
    return MethodNotAllowed(OTHER_METHOD, headers={"Allow": "POST"})


def _require_plain(scope: Scope) -> None:
    """Raises UnsupportedMediaType for a compressed body: bodies go upstream as they came, and are never unpacked."""
    if joined(scope["headers"], b"content-encoding").lower() not in ("", "identity"):
        raise UnsupportedMediaType("Content-Encoding: only identity is accepted.")


def _serving(group: GroupEntry | None, family: Family, path: CallPath) -> GroupEntry:
    """Returns the key's group if it may make this call. Raises ImagesUnsupported, PermissionRefused,
    EndpointUnsupported."""
    if family.name == IMAGES:
        if group is None or IMAGES not in group.dialects:
            raise ImagesUnsupported()
        return group
    if group is None:
        raise PermissionRefused(NO_GROUP)
    if family.name not in group.dialects or (path.path == COUNT_TOKENS and group.platform == "openai"):
        raise EndpointUnsupported()
    return group
