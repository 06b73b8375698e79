"""Load generator of our own, used without wrk: processes with raw sockets, each with one request in flight."""

import contextlib
import multiprocessing
import secrets
import selectors
import socket
import socketserver
import threading
import time
from multiprocessing.queues import SimpleQueue
from typing import Any
from urllib.parse import urlsplit

from bench.model import Load, LoadPlan

PROCESSES = 2
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def request_of(plan: LoadPlan, number: int, prefix: str) -> bytes:
    lines = [
        f"{plan.method} {plan.paths[number % len(plan.paths)]} HTTP/1.1",
        f"Host: {urlsplit(plan.url).netloc}",
        f"Authorization: {plan.authorizations[number % len(plan.authorizations)]}",
    ]
    if plan.body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(plan.body.encode())}"]
    if plan.is_unique:
        lines.append(f"Idempotency-Key: {prefix}-{number}")
    return ("\r\n".join(lines) + "\r\n\r\n" + plan.body).encode()


def is_whole(answer: bytes) -> bool:
    """Tells whether the answer has its whole body. Answers without a length end with their connection."""
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return False


class LoadConnection:
    """A connection with one request in flight, reopened when the server closes it."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.socket = socket.create_connection(address)
        self.answer = b""
        self.sent_at = 0.0

    def send(self, request: bytes) -> None:
        self.answer, self.sent_at = b"", time.perf_counter()
        self.socket.sendall(request)

    def reopen(self) -> None:
        self.socket.close()
        self.socket = socket.create_connection(self.address)


def drive(plan: LoadPlan, connections: int, seconds: float, first: int, answers: "SimpleQueue[Any]") -> None:
    """Runs one process: puts (latencies, refused) on the queue."""
    parts = urlsplit(plan.url)
    address, prefix = (str(parts.hostname), parts.port or 80), secrets.token_hex(6)
    selector, number, latencies, refused = selectors.DefaultSelector(), first, [], 0
    for _ in range(connections):
        one = LoadConnection(address)
        selector.register(one.socket, selectors.EVENT_READ, one)
        one.send(request_of(plan, number, prefix))
        number += 1
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for key, _ in selector.select(0.1):
            one = key.data
            piece = one.socket.recv(65_536)
            one.answer += piece
            if piece and not is_whole(one.answer):
                continue
            latencies.append(time.perf_counter() - one.sent_at)
            refused += one.answer[9:10] != b"2"
            if not piece or b"connection: close" in one.answer.lower():
                selector.unregister(one.socket)
                one.reopen()
                selector.register(one.socket, selectors.EVENT_READ, one)
            one.send(request_of(plan, number, prefix))
            number += 1
    answers.put((latencies, refused))


def run(plan: LoadPlan, connections: int, seconds: float) -> Load:
    """Runs the load like `load.run`."""
    answers: SimpleQueue[Any] = multiprocessing.SimpleQueue()
    count = min(PROCESSES, connections)
    processes = [
        multiprocessing.Process(
            target=drive, args=(plan, connections // count + (n < connections % count), seconds, n * 7919, answers)
        )
        for n in range(count)
    ]
    for process in processes:
        process.start()
    found = [answers.get() for _ in processes]
    for process in processes:
        process.join()
    latencies = sorted(latency for part, _ in found for latency in part)
    refused = sum(part for _, part in found)
    return Load(
        answered=len(latencies) - refused,
        refused=refused,
        seconds=seconds,
        p50_ms=percentile(latencies, 50) * 1000,
        p99_ms=percentile(latencies, 99) * 1000,
    )


def percentile(ordered: list[float], share: float) -> float:
    """Returns a percentile of ascending values; 0 for none."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))] if ordered else 0.0


class Trivial(socketserver.BaseRequestHandler):
    """Gives every received piece the same answer."""

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            while self.request.recv(65_536):
                self.request.sendall(ANSWER)


class TrivialServer(socketserver.ThreadingTCPServer):
    """Server that measures the client's own limit."""

    daemon_threads = True
    request_queue_size = 128


def ceiling(connections: int, seconds: float = 1.0) -> Load:
    """Measures the client against a server that does nothing."""
    with TrivialServer(("127.0.0.1", 0), Trivial) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        found = run(LoadPlan(url=url, paths=("/",), authorizations=("none",)), connections, seconds)
        server.shutdown()
    return found
