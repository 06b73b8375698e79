"""A TCP server on 127.0.0.1 that answers each request with what a test wants, well-formed or not."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Behaviour = Callable[[socket.socket, bytes], None]


@dataclass
class RawServer:
    port: int
    requests: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def answer(body: bytes = b"", *, status: str = "200 OK", headers: dict[str, str] | None = None) -> Behaviour:
    """A plain complete answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return lambda connection, _: connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def read_request(connection: socket.socket) -> bytes:
    """The head and, by its Content-Length, the body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += (piece := connection.recv(65536))
        if not piece:
            return received
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length and (piece := connection.recv(65536)):
        body += piece
    return head + b"\r\n\r\n" + body


def first_bytes(connection: socket.socket) -> bytes:
    """What comes first, of whatever protocol it is."""
    return connection.recv(65536)


@contextmanager
def raw_server(
    *behaviours: Behaviour,
    tls: ssl.SSLContext | None = None,
    read: Callable[[socket.socket], bytes] = read_request,
) -> Iterator[RawServer]:
    """One behaviour for each connection, the last one for all that follow."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = RawServer(port=listener.getsockname()[1])
    waiting = list(behaviours)

    def serve(connection: socket.socket, behave: Behaviour) -> None:
        with suppress(OSError), connection:
            plain = tls.wrap_socket(connection, server_side=True) if tls else connection
            with plain:
                request = read(plain)
                server.requests.append(request)
                behave(plain, request)

    def listen() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                behave = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                threading.Thread(target=serve, args=(connection, behave), daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
