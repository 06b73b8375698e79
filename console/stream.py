"""Whom the console's event stream lets in: the session of the cookie. The stream itself is the Task API's."""

from django.http import parse_cookie

from common.asgi import Scope, header
from console import sessions
from tasks.gate import Caller

PATH = "/console/events"


def token_of(scope: Scope) -> str:
    return parse_cookie(header(scope["headers"], b"cookie")).get(sessions.COOKIE, "")


def admitted(scope: Scope) -> Caller:
    """Raises what `sessions.admit` raises."""
    return sessions.admit(token_of(scope)).caller
