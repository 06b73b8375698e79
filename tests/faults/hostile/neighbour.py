"""What a second account does beside the attack, and how long each of it took."""

import math
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests

from tests.adapters.raw_server import raw_server
from tests.callbacks import behaviours
from tests.processes import Client, TestStack
from tests.tasks_api.stream import sse
from tools.children import wait_until

EVENTS = ["queued", "running", "succeeded"]


@dataclass
class Neighbour:
    """Submits, reads, waits, listens and is called back. `seconds` are by what was done; `refused` is what was not 2xx;
    `ended` and `called` are the moments (monotonic) of each task's end and of its callback, by its number."""

    client: Client
    stream: sse.Client
    receiver_url: str = ""
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: list[str] = field(default_factory=list)
    tasks: dict[str, str] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)
    called: dict[str, float] = field(default_factory=dict)

    def work(self, count: int) -> None:
        """Run so many tasks one after the other, then take in what the stream and the callbacks say of them."""
        for number in range(count):
            self.run_one(str(number))
        wait_until(lambda: len(self.called) == count, what="the callbacks")
        for number, at in self.ended.items():
            self.seconds["callback"].append(max(0.0, self.called[number] - at))

    def run_one(self, number: str) -> None:
        params = {"prompt": f"a calm lake {number}"}
        body = {"model": "aurora-image", "params": params, "callback_url": f"{self.receiver_url}/{number}"}
        task_id = self.timed("submit", lambda: self.client.post("/v1/tasks", json=body))["id"]
        task = self.timed("read", lambda: self.client.get(f"/v1/tasks/{task_id}"))
        began = time.monotonic()
        while not task["finished_at"]:
            task = self.asked(lambda: self.client.get(f"/v1/tasks/{task_id}?wait=60"))
        self.seconds["wait"].append(time.monotonic() - began)
        self.tasks[task_id], self.ended[number] = task["status"], time.monotonic()

    def timed(self, what: str, ask: Callable[[], requests.Response]) -> Any:
        began = time.monotonic()
        document = self.asked(ask)
        self.seconds[what].append(time.monotonic() - began)
        return document

    def asked(self, ask: Callable[[], requests.Response]) -> Any:
        """The answer's document; a refusal is noted, and asked again."""
        while not (answer := ask()).ok:
            self.refused.append(f"{answer.status_code} {answer.text[:300]}")
            time.sleep(1)
        return answer.json()

    def heard(self) -> dict[str, list[str]]:
        """What the stream has told of each task."""
        told: dict[str, list[str]] = defaultdict(list)
        for task_id, status in self.stream.seen(len(self.tasks) * len(EVENTS)):
            told[task_id].append(status)
        return told

    def note_call(self, connection: socket.socket, request: bytes) -> None:
        """The receiver's behaviour."""
        self.called.setdefault(request.split(b" ", 2)[1].decode().strip("/"), time.monotonic())
        behaviours.OK(connection, request)


@contextmanager
def neighbour(stack: TestStack, key: str) -> Iterator[Neighbour]:
    """The second account, with its stream open and its receiver up."""
    stream = sse.Client(int(stack.environment["PORT"]), sse.request(key))
    with closing(stream.socket):
        made = Neighbour(client=stack.client(key), stream=stream.placed())
        with raw_server(made.note_call) as receiver:
            made.receiver_url = f"http://receiver.honest.example:{receiver.port}"
            yield made


def p99(seconds: list[float]) -> float:
    """The 99th percentile, by nearest rank."""
    return sorted(seconds)[math.ceil(len(seconds) * 0.99) - 1]
