"""Sessions of the console: opened with a secret, found by a random cookie, admitted anew at every request.

A session opens nothing by itself. It names a secret, and whatever that opens at this moment, the session does.
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
    """Who looks at a page: an admitted key, with its name and the end of the secret that was given."""

    session_id: int
    key_name: str
    last4: str
    admission: Admission

    @property
    def caller(self) -> Caller:
        return self.admission.caller


def begin(secret: str) -> str:
    """Open a session and return the cookie's token; the key's oldest one ends where it has too many. Raises what
    `authentication.admit` raises."""
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


def admit(token: str, *, idempotency_key: str | None = None) -> Visitor:
    """Let the session's secret in, as if it had just been given. Raises what `authentication.admit` raises,
    AuthenticationError also where there is no such session any more."""
    found = Session.objects.filter(digest=digest(token), expires_at__gt=timezone.now()).select_related("key", "secret")
    session = found.first()
    if session is None:
        raise AuthenticationError()
    admission = authentication.admit_secret(session.secret.digest, idempotency_key=idempotency_key)
    caller = admission.caller
    authentication.remember(session.digest, key_id=caller.key_id, account_id=caller.account_id)
    return Visitor(session_id=session.pk, key_name=session.key.name, last4=session.secret.last4, admission=admission)


def still_open(session_ids: Iterable[int]) -> frozenset[int]:
    """Those of the sessions that nobody has signed out of and that have not expired. One statement."""
    found = Session.objects.filter(pk__in=tuple(session_ids), expires_at__gt=timezone.now())
    return frozenset(found.values_list("pk", flat=True))


def end(token: str) -> None:
    """Sign out. The token opens nothing from now on."""
    Session.objects.filter(digest=digest(token)).delete()


def digest(token: str) -> str:
    """What a session is found by. 256 random bits need no salt."""
    return authentication.digest(f"console {token}") if token else ""
