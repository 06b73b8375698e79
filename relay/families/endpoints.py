"""Addresses and credential headers of the three platforms.

The base URL of an openai channel ends in its version (`…/v1`, `…/api/v3`); that of the others is only the host. A
dialect of another platform is spoken at the host, on the dialect's own path.
"""

import re
from collections.abc import Callable, Collection, Mapping

from adapters.base import ErrorKind, UpstreamError
from relay.families.base import Endpoint

VERSION = re.compile(r"/v\d+[a-z0-9]*$")
CREDENTIAL_HEADERS: Mapping[str, Callable[[str], tuple[str, str]]] = {
    "openai": lambda secret: ("Authorization", f"Bearer {secret}"),
    "anthropic": lambda secret: ("x-api-key", secret),
    "gemini": lambda secret: ("x-goog-api-key", secret),
}
PASSED_ON = ("content-type", "accept")


def openai_url(endpoint: Endpoint, path: str) -> str:
    """Returns the URL of an OpenAI path, given from after the version: `/chat/completions`."""
    base = endpoint.base_url.rstrip("/")
    return base + path if endpoint.platform == "openai" else f"{base}/v1{path}"


def host_url(endpoint: Endpoint, path: str) -> str:
    """Returns the URL of another platform's path, given from the host on: `/v1/messages`."""
    base = endpoint.base_url.rstrip("/")
    return (VERSION.sub("", base) if endpoint.platform == "openai" else base) + path


def headers(
    endpoint: Endpoint, client: Mapping[str, str], *, platform: str, passed_on: Collection[str] = ()
) -> dict[str, str]:
    """Returns the headers of every call: the credential in the forms of the dialect's platform and of the channel's
    own, and the client's headers that are passed on (lower-case names). Raises UpstreamError (AUTH) without a usable
    credential."""
    secret = _secret(endpoint)
    own = {name: client[name] for name in (*PASSED_ON, *passed_on) if client.get(name)}
    own.setdefault("content-type", "application/json")
    own.setdefault("accept", "*/*")
    credentials = dict(CREDENTIAL_HEADERS[name](secret) for name in (endpoint.platform, platform))
    return {**own, **credentials}


def _secret(endpoint: Endpoint) -> str:
    secret = endpoint.credentials.get("api_key", "")
    if not secret or not all("!" <= character <= "~" for character in secret):
        raise UpstreamError(ErrorKind.AUTH, "the channel's credentials have no usable api_key")
    return secret
