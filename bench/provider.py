"""A provider in its own process, as fast as Python allows: `python -m bench.provider`, then GET /_/report.

It implements three protocols as far as their adapters need: `openai_images` below /images (pictures at once or after a
delay, as base64 or by URL), `ark_content_tasks` below /batch (films polled in batches) and `openai_videos` below
/single (one poll per job). Jobs that it never sold run until POST /_/set finishes them, so a benchmark can put
thousands of open jobs into the database alone. It records the time of each poll.
"""

import argparse
import asyncio
import base64
import json
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from urllib.parse import parse_qsl

from bench.lateness import Polls
from bench.pictures import FILM, png

BACKLOG = 4096
BATCH = "/batch/contents/generations/tasks"


class ProviderState:
    """State shared by all connections; `set` changes it between two runs."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connections = 0
        self.open = self.most_open = 0
        self.requests = Counter[str]()
        self.names = count(1)
        self.set(delay=0.0, picture_bytes=0, by_url=False, every=10.0)

    def set(
        self,
        *,
        delay: float | None = None,
        picture_bytes: int | None = None,
        by_url: bool | None = None,
        every: float | None = None,
        judge: bool = False,
        finish: list[str] | None = None,
    ) -> None:
        if delay is not None:
            self.delay = delay
        if picture_bytes is not None:
            self.picture = png(picture_bytes)
        if by_url is not None:
            self.by_url = by_url
        if every is not None:
            self.polls = Polls(every)
            self.finished: dict[str, float] = {}
        if judge:
            self.polls.judge_from_now()
        item = (
            {"url": f"{self.url}/picture.png"} if self.by_url else {"b64_json": base64.b64encode(self.picture).decode()}
        )
        self.bought = json.dumps({"created": 1, "data": [item]}).encode()
        for job in finish or ():
            self.finished.setdefault(job, 0.0)

    def status_of(self, job: str) -> dict[str, object]:
        """Returns the job's status in the form of both protocols. Records when a result was first reported."""
        if job not in self.finished:
            return {"id": job, "status": "running"}
        if not self.finished[job]:
            self.finished[job] = time.time()
            self.polls.forget([job])
        film = f"{self.url}/film.mp4"
        return {"id": job, "status": "succeeded", "content": {"video_url": film}, "url": film, "duration": 5}

    def polled(self, jobs: list[str]) -> list[dict[str, object]]:
        self.polls.note(jobs, time.monotonic())
        return [self.status_of(job) for job in jobs]

    def report(self) -> dict[str, object]:
        return {
            **self.polls.report(time.monotonic()),
            "connections": self.connections,
            "most_open": self.most_open,
            "requests": dict(self.requests),
            "told_at": {job: at for job, at in self.finished.items() if at},
            "cpu": time.process_time(),
        }


def answer(state: ProviderState, method: str, target: str, body: bytes) -> tuple[bytes, str, float]:
    """Returns the body, its type, and the delay in seconds."""
    path, _, query = target.partition("?")
    state.requests[f"{method} {path.split('/')[1]}"] += 1
    if path == "/_/set":
        state.set(**json.loads(body))
        return b"{}", "application/json", 0.0
    if path == "/_/report":
        return json.dumps(state.report()).encode(), "application/json", 0.0
    if path == "/images/images/generations":
        return state.bought, "application/json", state.delay
    if path == "/picture.png":
        return state.picture, "image/png", 0.0
    if path == "/film.mp4":
        return FILM, "video/mp4", 0.0
    return json.dumps(job_answer(state, method, path, query)).encode(), "application/json", 0.0


def job_answer(state: ProviderState, method: str, path: str, query: str) -> dict[str, object]:
    """Answers the two protocols with jobs."""
    if method == "POST":
        return {"id": f"job-{next(state.names)}", "status": "queued"}
    if path == BATCH:
        jobs = [value for name, value in parse_qsl(query) if name == "filter.task_ids"]
        return {"items": state.polled(jobs), "total": len(jobs)}
    (shown,) = state.polled([path.rpartition("/")[2]])
    return shown


class Exchanges(asyncio.Protocol):
    """A kept-alive connection: one request after another."""

    def __init__(self, state: ProviderState) -> None:
        self.state = state
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.state.connections += 1
        self.state.open += 1
        self.state.most_open = max(self.state.most_open, self.state.open)

    def connection_lost(self, exc: Exception | None) -> None:
        self.state.open -= 1

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while parsed := split(self.buffer):
            method, target, headers, body, self.buffer = parsed
            content, kind, delay = answer(self.state, method, target, body)
            send = self._sending(content, kind, closes=b"connection: close" in headers)
            if delay:
                asyncio.get_running_loop().call_later(delay, send)
            else:
                send()

    def _sending(self, content: bytes, kind: str, *, closes: bool) -> Callable[[], None]:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n".encode()

        def send() -> None:
            self.transport.write(head + content)
            if closes:
                self.transport.close()

        return send


def split(buffer: bytes) -> tuple[str, str, bytes, bytes, bytes] | None:
    """Splits off a request: method, target, lower-case headers, body and the rest; None while it is incomplete. Assumes
    that a chunked body is one chunk: adapters send small ones."""
    head, found, rest = buffer.partition(b"\r\n\r\n")
    if not found:
        return None
    line, _, raw = head.partition(b"\r\n")
    method, target, _ = line.decode().split(" ", 2)
    headers = raw.lower()
    if b"transfer-encoding: chunked" in headers:
        body, ends, rest = rest.partition(b"0\r\n\r\n")
        return (method, target, headers, body, rest) if ends else None
    _, named, value = headers.partition(b"content-length:")
    length = int(value.partition(b"\r\n")[0]) if named else 0
    if len(rest) < length:
        return None
    return method, target, headers, rest[:length], rest[length:]


async def serve(port: int) -> None:
    listening = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    state = ProviderState(url)
    server = await asyncio.get_running_loop().create_server(lambda: Exchanges(state), sock=listening, backlog=BACKLOG)
    print(f"provider listening on {url}", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
