"""A client of the synchronous image calls on a connection of its own, which it can leave."""

import http.client
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.processes import TestStack
from tools.children import PATIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """An answer: its status, its headers by their names in small letters, and the document."""

    status: int
    headers: Mapping[str, str]
    document: Mapping[str, Any]


class Call:
    """A picture that was asked for. `receive_buffer`: bytes that the system keeps for a client that does not read."""

    def __init__(
        self, stack: TestStack, key: str, prompt: str, *, model: str = "aurora-image", receive_buffer: int = 0
    ) -> None:
        address = ("127.0.0.1", int(stack.environment["PORT"]))
        self._connection = http.client.HTTPConnection(*address, timeout=PATIENCE)
        self._connection.sock = socket.socket()
        if receive_buffer:
            self._connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._connection.sock.settimeout(PATIENCE)
        self._connection.sock.connect(address)
        body = json.dumps({"model": model, "prompt": prompt})
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._connection.request("POST", "/v1/images/generations", body, headers)

    def head(self) -> http.client.HTTPResponse:
        """The answer, of which the body is not read yet. Raises what a connection that breaks raises."""
        return self._connection.getresponse()

    def heard(self) -> Heard:
        """The whole answer."""
        answer = self.head()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        heard = Heard(status=answer.status, headers=headers, document=json.load(answer))
        self.leave()
        return heard

    def leave(self) -> None:
        self._connection.close()
