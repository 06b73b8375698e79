"""Clients of the event stream, written by hand: one that is read frame by frame, and a crowd read by one thread."""

import json
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tools.children import PATIENCE, wait_until

PATH = "/v1/tasks/events"


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands between two blank lines, and when it was read (Unix time)."""

    text: str
    at: float

    @property
    def fields(self) -> list[tuple[str, str]]:
        return [tuple(line.split(": ", 1)) for line in self.text.split("\n") if not line.startswith(":")]  # type: ignore[misc]

    @property
    def event(self) -> str:
        return dict(self.fields).get("event", "")

    @property
    def id(self) -> int:
        return int(dict(self.fields)["id"])

    @property
    def data(self) -> Any:
        return json.loads(dict(self.fields)["data"])

    @property
    def seen(self) -> tuple[str, str]:
        return self.data["id"], self.data["status"]


class Parser:
    """Takes the bytes of one response apart: head, chunks, frames."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.is_complete = False
        self._raw = b""

    def feed(self, received: bytes) -> list[Frame]:
        self._raw += received
        if not self.status and not self._take_head():
            return []
        if "content-length" in self.headers:
            self.body += self._raw
            self._raw = b""
            return []
        self._take_chunks()
        *texts, self.body = self.body.split(b"\n\n")
        return [Frame(text.decode(), time.time()) for text in texts]

    def _take_head(self) -> bool:
        head, found, rest = self._raw.partition(b"\r\n\r\n")
        if found:
            first, *lines = head.decode("latin-1").split("\r\n")
            self.status = int(first.split()[1])
            self.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
            self._raw = rest
        return bool(found)

    def _take_chunks(self) -> None:
        while b"\r\n" in self._raw:
            size_line, _, rest = self._raw.partition(b"\r\n")
            size = int(size_line, 16)
            if len(rest) < size + 2:
                return
            self.body += rest[:size]
            self._raw = rest[size + 2 :]
            self.is_complete = self.is_complete or size == 0


def request(secret: str, *, query: str = "", cursor: object = None, method: str = "GET", **headers: str) -> bytes:
    lines = [f"{method} {PATH}{query} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {secret}"]
    if cursor is not None:
        lines.append(f"Last-Event-ID: {cursor}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


class Client:
    """One stream, read by the test itself."""

    def __init__(self, port: int, sent: bytes, *, receive_buffer: int = 0) -> None:
        self.parser = Parser()
        self.frames: list[Frame] = []
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(sent)

    def read(self) -> bool:
        """Take in what comes next; false at the end of the connection."""
        received = self.socket.recv(65_536)
        self.frames += self.parser.feed(received)
        return bool(received)

    def head(self) -> "Client":
        while not self.parser.status:
            assert self.read()
        return self

    def error(self) -> dict[str, str]:
        """The error of a refused request."""
        while len(self.head().parser.body) < int(self.parser.headers["content-length"]):
            assert self.read()
        return json.loads(self.parser.body)["error"]

    def next(self) -> Frame:
        while not self.frames:
            assert self.read(), "the connection has ended"
            assert self.frames or not self.parser.is_complete, "the stream has ended"
        return self.frames.pop(0)

    def events(self, count: int) -> list[Frame]:
        """The next frames that are events, without comments."""
        found: list[Frame] = []
        while len(found) < count:
            if (frame := self.next()).event:
                found.append(frame)
        return found

    def seen(self, count: int) -> list[tuple[str, str]]:
        """(task id, status) of the next events."""
        return [frame.seen for frame in self.events(count)]

    def told(self) -> Frame:
        """The next frame that is no comment."""
        while (frame := self.next()).text.startswith(":"):
            pass
        return frame

    def placed(self) -> "Client":
        """Past the opening of a stream that has nothing to show yet: whatever happens from now on is an event."""
        assert self.head().parser.status == 200
        assert self.next().text == "retry: 3000\n: open"
        assert self.told().text.startswith("id: ")
        return self

    def wait_for_end(self) -> None:
        """Until the response is complete, whatever still comes."""
        while not self.parser.is_complete:
            assert self.read()


@dataclass(eq=False)
class Member:
    """One of a crowd: what it has seen over all its connections, and where it will go on."""

    secret: str
    events: list[Frame] = field(default_factory=list)
    resets: int = 0
    connections: int = 0
    cursor: int | None = None
    parser: Parser = field(default_factory=Parser)

    def take(self, frame: Frame) -> None:
        if frame.event == "task.updated":
            self.events.append(frame)
        elif frame.event == "stream.reset":
            self.resets += 1
        if "id" in dict(frame.fields):
            self.cursor = frame.id


class Crowd:
    """Many streams, read on one thread; whoever is cut comes back with its Last-Event-ID until `closing`."""

    def __init__(self, ports: list[int], secrets: list[str]) -> None:
        self.ports = ports
        self.members = [Member(secret) for secret in secrets]
        self.closing = threading.Event()
        self._waiting = [(0.0, member) for member in self.members]
        self._selector = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._run)

    @contextmanager
    def reading(self) -> Iterator["Crowd"]:
        self._thread.start()
        try:
            yield self
        finally:
            self.closing.set()
            self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def wait_until_open(self) -> None:
        """Until every member has its first cursor."""
        wait_until(lambda: all(member.cursor is not None for member in self.members), what="all streams")

    def _run(self) -> None:
        while not self.closing.is_set():
            now = time.monotonic()
            due = [member for at, member in self._waiting if at <= now]
            self._waiting = [(at, member) for at, member in self._waiting if at > now]
            for member in due[:100]:
                self._connect(member)
            self._waiting += [(now, member) for member in due[100:]]
            for selected, _ in self._selector.select(0.05):
                self._read(selected.fileobj, selected.data)  # type: ignore[arg-type]
        for selected in list(self._selector.get_map().values()):
            selected.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def _connect(self, member: Member) -> None:
        connection = socket.socket()
        try:
            connection.connect(("127.0.0.1", self.ports[self.members.index(member) % len(self.ports)]))
            connection.sendall(request(member.secret, cursor=member.cursor))
        except OSError:
            connection.close()
            self._waiting.append((time.monotonic() + 0.1, member))
            return
        member.parser = Parser()
        member.connections += 1
        connection.setblocking(False)
        self._selector.register(connection, selectors.EVENT_READ, member)

    def _read(self, connection: socket.socket, member: Member) -> None:
        try:
            received = connection.recv(262_144)
        except OSError:
            received = b""
        for frame in member.parser.feed(received):
            member.take(frame)
        if not received or member.parser.is_complete or member.parser.status not in (0, 200):
            self._selector.unregister(connection)
            connection.close()
            self._waiting.append((time.monotonic() + 0.1, member))
