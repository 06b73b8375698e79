"""How receivers misbehave, for `tests.adapters.raw_server`."""

import socket
import struct
import threading

from tests.adapters.raw_server import Behaviour, answer

OK = answer(b"thanks")
FAULT = answer(b"sorry", status="500 Internal Server Error")
GONE = answer(status="410 Gone")


def redirect(url: str) -> Behaviour:
    return answer(status="302 Found", headers={"Location": url})


def hang(until: threading.Event) -> Behaviour:
    """Takes the request and says nothing."""
    return lambda connection, _: until.wait() and None


def drip_head(until: threading.Event) -> Behaviour:
    """One header byte at a time, for ever."""
    return _drip(until, b"HTTP/1.1 200 OK\r\nX-Slow: ")


def drip_body(until: threading.Event) -> Behaviour:
    """One byte of the body at a time, for ever."""
    return _drip(until, b"HTTP/1.1 200 OK\r\n\r\n")


def _drip(until: threading.Event, head: bytes) -> Behaviour:
    def behave(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head)
        while not until.wait(0.05):
            connection.sendall(b"a")

    return behave


def reset(connection: socket.socket, _: bytes) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def endless(status: str) -> Behaviour:
    """A head, and then a body as fast and as long as anybody reads."""

    def behave(connection: socket.socket, _: bytes) -> None:
        connection.sendall(f"HTTP/1.1 {status}\r\nConnection: close\r\n\r\n".encode())
        while True:
            connection.sendall(b"x" * 65536)

    return behave


def bad(until: threading.Event, elsewhere: str) -> list[Behaviour]:
    """One of each."""
    slow = [hang(until), drip_head(until), drip_body(until)]
    return [*slow, redirect(elsewhere), reset, FAULT, GONE, endless("500 Oops")]
