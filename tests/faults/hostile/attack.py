"""What one hostile account does at once, with all that its keys may do: names that nobody answers for, receivers that
never answer, tasks that are cancelled as soon as they are submitted, the largest replays, connections that begin and
never go on, waits and streams without end. All of it goes to this machine, and ends with the block."""

import base64
import itertools
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import requests

from tests.processes import TestStack
from tests.storage.samples import picture

PORTS = 40
REPLAYERS = 8
REPLAY_BYTES = 30 * 2**20
WAITS = 30
STREAMS = 10
OPENED_AT_ONCE = 100
PAUSE_SECONDS = 0.02
TIMEOUT_SECONDS = 60
HEAD = "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"


@dataclass
class Attack:
    """One account's attack on a running stack. `done` counts what it did and what came of it."""

    stack: TestStack
    keys: Sequence[str]
    ports: Sequence[int]
    half_open: int
    over: threading.Event = field(default_factory=threading.Event)
    done: Counter[str] = field(default_factory=Counter)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def parts(self) -> list[Callable[[], None]]:
        """Each runs in a thread of its own."""
        key, last = self.keys[0], self.keys[-1]
        repeated: list[Callable[[], None]] = [partial(self.owe_a_callback, key) for key in self.keys]
        repeated += [partial(self.name_silent_images, key) for key in self.keys]
        repeated += [partial(self.replay, key, large_body())] * REPLAYERS
        begun = [Begun(self, [half_head(key)] * self.half_open), Begun(self, self.waits_and_streams(last))]
        return [*(partial(self.repeat, step) for step in repeated), *(each.keep for each in begun)]

    def repeat(self, step: Callable[[], None]) -> None:
        while not self.over.wait(PAUSE_SECONDS):
            with suppress(requests.RequestException):
                step()

    def callback_url(self) -> str:
        """A receiver under a name and a port of its own; half of the names, nobody answers for."""
        number = next(self.numbers)
        zone = "tarpit" if number % 2 else "silent"
        return f"http://h{number}.{zone}.example:{self.ports[number % len(self.ports)]}/"

    def owe_a_callback(self, key: str) -> None:
        """Submit and cancel: it owes a callback and costs nothing."""
        answer = self.submit(key, {"prompt": "owed"}, callback_url=self.callback_url())
        self.done[f"submit {answer.status_code}"] += 1
        if answer.status_code == 202:
            self.post(key, f"/v1/tasks/{answer.json()['id']}/cancel")

    def name_silent_images(self, key: str) -> None:
        """A task whose reference images lie where no name server answers."""
        names = [f"http://i{next(self.numbers)}.silent.example/a.png" for _ in range(4)]
        answer = self.submit(key, {"prompt": "names", "images": [{"image_url": name} for name in names]})
        self.done[f"names {answer.status_code}"] += 1

    def replay(self, key: str, body: bytes) -> None:
        """The largest body, again and again under one Idempotency-Key."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": "again"}
        answer = self.post(key, "/v1/tasks", data=body, headers=headers)
        self.done[f"replay {answer.status_code}"] += 1

    def waits_and_streams(self, key: str) -> list[bytes]:
        """Waits for a task that never ends and streams, more of each than a key may have."""
        task_id = self.submit(key, {"prompt": "never [held]"}).json()["id"]
        head = HEAD.format(method="GET", path="{path}", key=key) + "\r\n"
        wait, stream = head.format(path=f"/v1/tasks/{task_id}?wait=60"), head.format(path="/v1/tasks/events")
        return [wait.encode()] * WAITS + [stream.encode()] * STREAMS

    def submit(self, key: str, params: dict[str, object], **more: str) -> requests.Response:
        return self.post(key, "/v1/tasks", json={"model": "aurora-image", "params": params, **more})

    def post(self, key: str, path: str, headers: dict[str, str] | None = None, **options: object) -> requests.Response:
        sent = {"Authorization": f"Bearer {key}", **(headers or {})}
        return requests.post(f"{self.stack.base_url}{path}", headers=sent, timeout=TIMEOUT_SECONDS, **options)  # type: ignore[arg-type]


class Begun:
    """Connections that send their first bytes and read what comes; what the server closes is opened again."""

    def __init__(self, attack: Attack, first_bytes: Sequence[bytes]) -> None:
        self.attack = attack
        self.wanted = dict(enumerate(first_bytes))
        self.open: dict[int, socket.socket] = {}

    def keep(self) -> None:
        self.attack.repeat(self.reopen)
        for one in self.open.values():
            one.close()

    def reopen(self) -> None:
        self.open = {place: one for place, one in self.open.items() if not is_closed(one)}
        missing = [place for place in self.wanted if place not in self.open]
        for place in missing[:OPENED_AT_ONCE]:
            with suppress(OSError):
                self.open[place] = self.connect(self.wanted[place])
                self.attack.done["connections"] += 1

    def connect(self, first: bytes) -> socket.socket:
        port = int(self.attack.stack.environment["PORT"])
        one = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_SECONDS)
        one.sendall(first)
        one.setblocking(False)
        return one


def is_closed(one: socket.socket) -> bool:
    """Whether the server has closed it; then it is closed here too. What came is thrown away."""
    try:
        while one.recv(65536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass
    one.close()
    return True


def half_head(key: str) -> bytes:
    return HEAD.format(method="POST", path="/v1/tasks", key=key).encode()


def large_body() -> bytes:
    """A submission near the largest that is taken, with one reference image."""
    image = picture("PNG")
    image += bytes((REPLAY_BYTES - len(image)) * 3 // 4)
    images = [{"image_url": f"data:image/png;base64,{base64.b64encode(image).decode()}"}]
    return json.dumps({"model": "aurora-image", "params": {"prompt": "again", "images": images}}).encode()


@contextmanager
def tarpits(count: int) -> Iterator[list[int]]:
    """Ports that take connections and say nothing: the kernel accepts, and nobody reads."""
    with ExitStack() as until_end:
        here = ("127.0.0.1", 0)
        pits = [until_end.enter_context(socket.create_server(here, backlog=4096)) for _ in range(count)]
        yield [pit.getsockname()[1] for pit in pits]


@contextmanager
def attacking(stack: TestStack, keys: Sequence[str], *, half_open: int) -> Iterator[Attack]:
    """The attack, under way until the block ends."""
    with tarpits(PORTS) as ports:
        attack = Attack(stack=stack, keys=keys, ports=ports, half_open=half_open)
        threads = [threading.Thread(target=part, daemon=True) for part in attack.parts()]
        for thread in threads:
            thread.start()
        try:
            yield attack
        finally:
            attack.over.set()
            for thread in threads:
                thread.join()
