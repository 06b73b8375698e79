"""Credentials of the Kling protocol: an API key as it is, or an access key and its secret as a short-lived token."""

import base64
import hashlib
import hmac
import json
import time
from dataclasses import replace
from typing import Any

from adapters.base import Connection
from adapters.kit.http import secret

TOKEN_SECONDS = 1800
CLOCK_SKEW_SECONDS = 5


def signed(connection: Connection) -> Connection:
    """The connection with an `api_key` in every case, so that also a token is kept out of error texts. Raises
    UpstreamError (AUTH)."""
    if connection.credentials.get("api_key") or not connection.credentials.get("access_key"):
        return connection
    key = token(secret(connection, "access_key"), secret(connection, "secret_key"), int(time.time()))
    return replace(connection, credentials={**connection.credentials, "api_key": key})


def token(access_key: str, secret_key: str, now: int) -> str:
    """A JSON Web Token (RFC 7519, HS256) of half an hour; `now` in Unix seconds."""
    claims = {"iss": access_key, "exp": now + TOKEN_SECONDS, "nbf": now - CLOCK_SKEW_SECONDS}
    content = f"{_segment({'alg': 'HS256', 'typ': 'JWT'})}.{_segment(claims)}"
    digest = hmac.new(secret_key.encode(), content.encode(), hashlib.sha256).digest()
    return f"{content}.{_encoded(digest)}"


def _segment(value: dict[str, Any]) -> str:
    return _encoded(json.dumps(value, separators=(",", ":")).encode())


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
