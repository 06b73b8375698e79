"""Listeners of the demo: a reader of the event stream, and a receiver that verifies callbacks."""

import hashlib
import hmac
import json
import queue
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class EventStream:
    """Follows GET /v1/tasks/events on a thread; `next` returns the tasks as they change."""

    def __init__(self, base_url: str, key: str) -> None:
        self._events: queue.Queue[dict[str, Any]] = queue.Queue()
        request = urllib.request.Request(
            f"{base_url}/v1/tasks/events", headers={"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
        )
        self._answer = urllib.request.urlopen(request, timeout=60)
        threading.Thread(target=self._read, daemon=True).start()

    def next(self, seconds: float) -> dict[str, Any] | None:
        """Returns the next {id, status, modality, model}; None after a timeout."""
        try:
            return self._events.get(timeout=seconds)
        except queue.Empty:
            return None

    def _read(self) -> None:
        try:
            for line in self._answer:
                if line.startswith(b'data: {"id"'):
                    self._events.put(json.loads(line.removeprefix(b"data: ")))
        except (OSError, ValueError):
            return  # the service has stopped


class CallbackReceiver:
    """A client's endpoint on a free local port; stores callbacks with a valid signature and refuses others."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()
        self._received: queue.Queue[dict[str, Any]] = queue.Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(204 if receiver.accept(self.headers, body) else 400)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Prints nothing: the demo prints what arrives."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/callbacks"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def accept(self, headers: Any, body: bytes) -> bool:
        """Checks the signature: HMAC-SHA256 over delivery, timestamp and raw body, with the Task key."""
        signed = f"{headers['X-SERVICE-Delivery']}.{headers['X-SERVICE-Timestamp']}.".encode() + body
        expected = "v1=" + hmac.new(self._key, signed, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, headers["X-SERVICE-Signature"] or ""):
            return False
        self._received.put(json.loads(body))
        return True

    def next(self, seconds: float) -> dict[str, Any] | None:
        """Returns the next verified callback; None after a timeout."""
        try:
            return self._received.get(timeout=seconds)
        except queue.Empty:
            return None
