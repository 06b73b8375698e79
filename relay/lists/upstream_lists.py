"""Asks a channel for its models, in its platform's format."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeGuard

from adapters.base import UpstreamError
from adapters.relay.adapter import ANTHROPIC_VERSION
from catalog.relay_channels import Candidate
from common import redaction
from common.concurrency import threads
from relay.families import endpoints
from relay.families.base import Endpoint
from relay.families.fields import mappings
from relay.wire import upstream

SECONDS = 5.0
MOST_BYTES = 4 * 1024 * 1024
MOST_NAMES = 5_000
LONGEST_NAME = 200
# Errors from an invalid list.
FAULTS = (UpstreamError, TimeoutError, ValueError, LookupError, TypeError, AttributeError, RecursionError)

logger = logging.getLogger("darkroom.relay")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformList:
    """A platform's list of models: its path, and how its names are read. All its channels speak `dialect`."""

    dialect: str
    url: Callable[[Endpoint], str]
    names: Callable[[Any], Iterable[str]]


def _listed(models: Any, name: str) -> list[str]:
    """Returns the models' names where they have one. Raises TypeError for an invalid list."""
    names = [found for model in mappings(models) if is_name(found := model.get(name))]
    if not names and models != []:
        raise TypeError("the list of models is invalid")
    return names


def is_name(value: Any) -> TypeGuard[str]:
    """Tells whether a client could request a model of this name."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable() and value == value.strip()


PLATFORMS = {
    "openai": PlatformList(
        dialect="chat",
        url=lambda endpoint: endpoints.openai_url(endpoint, "/models"),
        names=lambda document: _listed(document["data"], "id"),
    ),
    "anthropic": PlatformList(
        dialect="messages",
        url=lambda endpoint: endpoints.host_url(endpoint, "/v1/models?limit=1000"),
        names=lambda document: _listed(document["data"], "id"),
    ),
    "gemini": PlatformList(
        dialect="generate_content",
        url=lambda endpoint: endpoints.host_url(endpoint, "/v1beta/models?pageSize=1000"),
        names=lambda document: (name.removeprefix("models/") for name in _listed(document["models"], "name")),
    ),
}


async def list_names(candidate: Candidate, platform: str) -> list[str] | None:
    """Returns the names that the channel lists within five seconds, at most 5,000; None without an answer."""
    channel, listed = candidate.link.channel, PLATFORMS[platform]
    endpoint = Endpoint(
        platform=platform, base_url=channel.base_url, credentials=candidate.credentials, upstream_model=""
    )
    try:
        async with asyncio.timeout(SECONDS):
            document = await threads.compute(_document, await _fetched(listed.url(endpoint), endpoint))
        return list(filter(None, listed.names(document)))[:MOST_NAMES]
    except FAULTS as error:
        said = redaction.clean(f"{type(error).__name__}: {error}")
        logger.warning("channel %s does not list its models: %s", channel.name, said)
        return None


def _document(raw: bytes) -> Any:
    """Parses the list, ignoring numbers, so that one with more digits than Python reads spoils nothing."""
    return json.loads(raw, parse_int=float)


async def _fetched(url: str, endpoint: Endpoint) -> bytes:
    version = ANTHROPIC_VERSION if endpoint.platform == "anthropic" else {}
    headers = endpoints.headers(endpoint, version, platform=endpoint.platform, passed_on=version.keys())
    reply = await upstream.get(url, headers)
    try:
        read = b""
        while len(read) <= MOST_BYTES and (piece := await reply.read()):
            read += piece
    finally:
        reply.close()
    if reply.status != 200 or len(read) > MOST_BYTES:
        raise ValueError(f"status {reply.status}, {len(read)} bytes")
    return read
