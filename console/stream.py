"""Authentication and heartbeat of the console's event stream. The stream is the Task API's, except that the heartbeat
is an event, as scripts cannot see comments."""

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
    """Authenticate a stream by its session cookie, until sign-out. Raises like `sessions.authenticate`."""
    visitor = sessions.authenticate(token_of(scope))
    return readmission.by_secret(visitor.caller, (sessions.still_open, visitor.session_id))


def heartbeat() -> bytes:
    """Build a heartbeat event with the interval in seconds, so that a script detects a dead connection."""
    return f"event: heartbeat\ndata: {json.dumps({'seconds': settings.SSE_HEARTBEAT})}\n\n".encode()
