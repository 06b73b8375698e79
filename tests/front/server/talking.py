"""What the server says on a raw connection."""

import http.client
import json
import re
import socket
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from typing import Any

HOST = b"Host: 127.0.0.1\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One response."""

    status: int
    headers: Message
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        return dict(json.loads(self.body)["error"])


def said(connection: socket.socket) -> Said:
    """The next response on the connection."""
    with closing(http.client.HTTPResponse(connection)) as response:
        response.begin()
        return Said(status=response.status, headers=response.headers, body=response.read())


def statuses(connection: socket.socket) -> list[int]:
    """Those of all responses until the server ends the connection."""
    with connection.makefile("rb") as received:
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d\d\d) ", received.read())]


def is_closed(connection: socket.socket) -> bool:
    """Waits for the server's end of the connection; what it still says is dropped."""
    try:
        while connection.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return True
