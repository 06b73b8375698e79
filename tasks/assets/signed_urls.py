"""Signed URLs of assets: whoever holds one may fetch that asset without a key, until it expires.

Signed over task, index and expiry with a key of its own, derived from SECRET_KEY; checked without the database.
"""

import hashlib
import hmac
import re
import time
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.utils.crypto import constant_time_compare

SALT = "darkroom.asset-urls"
INPUT = "input-"  # before the index of an uploaded input
PATH = re.compile(rf"/assets/(task_[0-9a-z]{{26}})/({INPUT})?(0|[1-9][0-9]{{0,3}})\.[0-9a-z]{{1,5}}")
QUERY = re.compile(r"expires=([1-9][0-9]{0,11})&signature=([0-9a-f]{64})")
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a genuine URL admits to; `expires` is Unix time and may have passed. `is_input`: to an upload of the task,
    not to a result."""

    task_id: str
    index: int
    expires: int
    is_input: bool = False

    @property
    def place(self) -> str:
        return f"{self.task_id}/{INPUT if self.is_input else ''}{self.index}"


def mint(grant: Grant, extension: str) -> str:
    """The URL that proves this grant; `extension` is only for the eye."""
    query = f"expires={grant.expires}&signature={_signature(grant)}"
    return f"{settings.PUBLIC_BASE_URL}/assets/{grant.place}.{extension}?{query}"


def verify(path: str, query: str) -> Grant | None:
    """The grant of a decoded path below the base URL and a raw query; None if forged, malformed or expired."""
    grant = _genuine(path, query)
    return grant if grant and time.time() < grant.expires else None


def parse_own(url: str, *, expired_too: bool = False) -> tuple[str, int] | None:
    """(task id, index) of a genuine URL of an asset on our own origin; None for every other text.

    Whose asset it is stays open. `expired_too` is for a URL that was valid when its task was submitted.
    """
    base = urlsplit(settings.PUBLIC_BASE_URL)
    try:
        parts = urlsplit(url)
        is_ours = _origin(parts) == _origin(base)
    except ValueError:
        return None
    if not is_ours or parts.username is not None or parts.fragment or not parts.path.startswith(base.path):
        return None
    grant = (_genuine if expired_too else verify)(parts.path.removeprefix(base.path), parts.query)
    return (grant.task_id, grant.index) if grant and not grant.is_input else None


def window(now: float | None = None) -> int:
    """Changes every ASSET_URL_TTL/2: mixed into the ETag of what shows minted URLs, it lets nobody keep dead links.

    `now` is Unix time.
    """
    return int((time.time() if now is None else now) // max(settings.ASSET_URL_TTL / 2, 1))


def _genuine(path: str, query: str) -> Grant | None:
    place, claim = PATH.fullmatch(path), QUERY.fullmatch(query)
    if not place or not claim:
        return None
    grant = Grant(task_id=place[1], index=int(place[3]), expires=int(claim[1]), is_input=bool(place[2]))
    return grant if constant_time_compare(claim[2], _signature(grant)) else None


def _signature(grant: Grant) -> str:
    signed = f"{grant.place}/{grant.expires}".encode()
    return hmac.digest(_key(settings.SECRET_KEY), signed, "sha256").hex()


@lru_cache(maxsize=2)
def _key(secret: str) -> bytes:
    """As Django's `salted_hmac` derives it, which takes longer than to sign."""
    return hashlib.sha256((SALT + secret).encode()).digest()


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    """Raises ValueError for a port that is none."""
    return parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme)
