"""Whom the console's event stream lets in: the session of the cookie. The stream itself is the Task API's, but for its
heartbeat: that is an event, since a comment reaches no script."""

import json

from django.conf import settings
from django.http import parse_cookie

from common.http.asgi import Scope, header
from console import sessions
from tasks.events import readmission
from tasks.events.readmission import Admitted

PATH = "/console/events"


def token_of(scope: Scope) -> str:
    return parse_cookie(header(scope["headers"], b"cookie")).get(sessions.COOKIE, "")


def admitted(scope: Scope) -> Admitted:
    """For as long as nobody signs out. Raises what `sessions.admit` raises."""
    visitor = sessions.admit(token_of(scope))
    return readmission.by_secret(visitor.caller, (sessions.still_open, visitor.session_id))


def heartbeat() -> bytes:
    """Says in how many seconds the next one comes, so that a script knows when the line is dead."""
    return f"event: heartbeat\ndata: {json.dumps({'seconds': settings.SSE_HEARTBEAT})}\n\n".encode()
