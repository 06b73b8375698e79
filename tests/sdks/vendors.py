"""One upstream that speaks three vendors' protocols as coding agents need them: first it asks for their shell, then it
ends with a text. Facts: the types of openai 3.57, anthropic 2.14 and google-genai 3.6.
"""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.sdks.agent_turns import Turn, of_generate_content, of_messages, of_responses

GENERATE = re.compile(r"/v1beta/models/(?P<model>[^/]+):(?P<verb>generateContent|streamGenerateContent|countTokens)")
NO_MODEL = "The model does not exist."
UNKNOWN = re.compile(r"missing")
"""Of the names of models that this upstream does not have."""


@dataclass(slots=True)
class Heard:
    """The requests that came, in order: path and body."""

    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def paid(self) -> int:
        """How many of them were answered by a model."""
        return sum("count" not in path for path, _ in self.requests)


class Vendors(ThreadingHTTPServer):
    """`command` is what the agents are asked to run in their shell, `words` what they are told at the end."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.command = ""
        self.words = ""
        self.heard = Heard()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def asked_for(self, command: str, words: str) -> Heard:
        """From here on; what was heard before is forgotten."""
        self.command, self.words, self.heard = command, words, Heard()
        return self.heard


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Vendors

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.requests.append((path, document))
        found = GENERATE.fullmatch(path)
        model = found["model"] if found else document["model"]
        if UNKNOWN.search(model):
            self._tell(HTTPStatus.NOT_FOUND, refused(path))
        elif "count" in path:
            self._tell(HTTPStatus.OK, {"input_tokens": 100, "totalTokens": 100})
        else:
            turn = Turn(model=model, command=self.server.command, words=self.server.words)
            self._answer(path, document, turn)

    def _answer(self, path: str, document: Mapping[str, Any], turn: Turn) -> None:
        if path == "/v1/messages":
            answer = of_messages(document, turn)
        elif path == "/v1/responses":
            answer = of_responses(document, turn)
        else:
            answer = of_generate_content(document, turn)
        if document.get("stream") or ":stream" in path:
            self._stream(answer.events)
        else:
            self._tell(HTTPStatus.OK, answer.whole)

    def _tell(self, status: HTTPStatus, document: Mapping[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(document).encode())

    def _stream(self, events: list[dict[str, Any]]) -> None:
        named = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
        frames = (f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(named, events, strict=True))
        self._send(HTTPStatus.OK, "text/event-stream", "".join(frames).encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing on standard error."""


def refused(path: str) -> dict[str, Any]:
    """That there is no such model, in the words of the path's vendor."""
    if path.startswith("/v1beta/"):
        return {"error": {"code": 404, "message": NO_MODEL, "status": "NOT_FOUND"}}
    if path.startswith("/v1/messages"):
        return {"type": "error", "error": {"type": "not_found_error", "message": NO_MODEL}}
    return {"error": {"message": NO_MODEL, "type": "invalid_request_error", "param": None, "code": "model_not_found"}}


@contextmanager
def opened() -> Iterator[Vendors]:
    """The upstream on a port of its own, until the block ends."""
    with Vendors() as vendors:
        thread = threading.Thread(target=vendors.serve_forever, name="vendors", daemon=True)
        thread.start()
        try:
            yield vendors
        finally:
            vendors.shutdown()
            thread.join()
