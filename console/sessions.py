"""Sessions of the console: opened with a key's secret, found by a random cookie, authenticated at every request.

A session grants nothing itself: it names a secret and has the rights that the secret has at that moment.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from accounts import authentication
from accounts.authentication import Admission, Caller
from common.errors import AuthenticationError
from console.models import Session

COOKIE, PATH = "darkroom_console", "/console"
MOST_OF_A_KEY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Authenticated key of a session, with its name and the last characters of its secret."""

    session_id: int
    key_name: str
    last4: str
    admission: Admission

    @property
    def caller(self) -> Caller:
        return self.admission.caller


def begin(secret: str) -> str:
    """Open a session and return the cookie's token; end the key's oldest sessions beyond the limit. Raises like
    `authentication.admit`."""
    caller = authentication.admit(f"Bearer {secret}").caller
    now, token = timezone.now(), secrets.token_urlsafe(32)
    Session.objects.filter(expires_at__lt=now).delete()
    Session.objects.create(
        digest=digest(token),
        key_id=caller.key_id,
        secret_id=caller.secret_id,
        expires_at=now + timedelta(seconds=settings.SESSION_COOKIE_AGE),
    )
    newest = Session.objects.filter(key_id=caller.key_id).order_by("-pk").values_list("pk", flat=True)
    if crowded_out := list(newest[MOST_OF_A_KEY:]):
        Session.objects.filter(pk__in=crowded_out).delete()
    return token


def authenticate(token: str, *, idempotency_key: str | None = None) -> Visitor:
    """Authenticate the session's secret as if it had just been presented. Raises like `authentication.admit`, and
    AuthenticationError if the session does not exist."""
    found = Session.objects.filter(digest=digest(token), expires_at__gt=timezone.now()).select_related("key", "secret")
    session = found.first()
    if session is None:
        raise AuthenticationError()
    admission = authentication.admit_secret(session.secret.digest, idempotency_key=idempotency_key)
    caller = admission.caller
    authentication.remember(session.digest, key_id=caller.key_id, account_id=caller.account_id)
    return Visitor(session_id=session.pk, key_name=session.key.name, last4=session.secret.last4, admission=admission)


def still_open(session_ids: Iterable[int]) -> frozenset[int]:
    """Select the sessions that are neither signed out nor expired, in one statement."""
    found = Session.objects.filter(pk__in=tuple(session_ids), expires_at__gt=timezone.now())
    return frozenset(found.values_list("pk", flat=True))


def end(token: str) -> None:
    """End a session; its token is invalid from now on."""
    Session.objects.filter(digest=digest(token)).delete()


def digest(token: str) -> str:
    """Digest a token, by which its session is found. 256 random bits need no salt."""
    return authentication.digest(f"console {token}") if token else ""
