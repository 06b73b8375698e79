"""One sandbox, forgetful between tests, a client that speaks two of its protocols, and adapters for the others."""

import base64
import json
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from sandbox.server import Sandbox
from tests.sandbox.driving import Caller
from tools.children import PATIENCE, wait_until

IMAGES = "/openai/v1/images/generations"
TASKS = "/ark/api/v3/contents/generations/tasks"


@dataclass(frozen=True)
class Client:
    """Calls to one sandbox with one key."""

    sandbox: Sandbox
    key: str = "any"

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.key}"} | options.pop("headers", {})
        return requests.request(method, self.sandbox.url + path, headers=headers, timeout=PATIENCE, **options)

    def image(self, prompt: str, /, **fields: Any) -> requests.Response:
        return self.call("POST", IMAGES, json={"model": "gpt-image-2", "prompt": prompt} | fields)

    def edit(self, files: list[tuple[str, Any]], **fields: Any) -> requests.Response:
        form = {"model": "gpt-image-2", "prompt": "a fox"} | fields
        return self.call("POST", "/openai/v1/images/edits", data=form, files=files)

    def video(self, prompt: str, media: tuple[Any, ...] = (), **fields: Any) -> requests.Response:
        content = [{"type": "text", "text": prompt}, *media]
        body = {"model": "seedance", "content": content, "duration": 1, "ratio": "16:9"} | fields
        return self.call("POST", TASKS, json=body)

    def poll(self, job: str = "", **query: Any) -> requests.Response:
        return self.call("GET", TASKS + (f"/{job}" if job else ""), params=query)

    def delete(self, job: str) -> requests.Response:
        return self.call("DELETE", f"{TASKS}/{job}")

    def finished(self, prompt: str, **fields: Any) -> dict[str, Any]:
        """The job as it is once it has ended; here it takes no time."""
        job = self.video(prompt, **fields).json()["id"]

        def ended() -> dict[str, Any] | None:
            shown: dict[str, Any] = self.poll(job).json()
            return None if shown["status"] in ("queued", "running") else shown

        return wait_until(ended) or {}

    def get(self, url: str) -> requests.Response:
        """What is behind a URL, without a key."""
        return requests.get(url, timeout=PATIENCE)

    @contextmanager
    def sent(self, method: str, path: str, body: Any = None) -> Iterator[socket.socket]:
        """A connection over which this request went, its answer still to be read."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {self.key}\r\n"
        with socket.create_connection(("127.0.0.1", urlsplit(self.sandbox.url).port), timeout=PATIENCE) as connection:
            connection.sendall(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
            yield connection


def is_silent(connection: socket.socket) -> bool:
    """Whether nothing has come over it, not even its end."""
    return not select.select([connection], [], [], 0)[0]


def first_picture(response: requests.Response) -> bytes:
    """The bytes of the first item."""
    return base64.b64decode(response.json()["data"][0]["b64_json"])


@pytest.fixture(scope="session")
def running_sandbox() -> Iterator[Sandbox]:
    with Sandbox(video_seconds=0) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running_sandbox: Sandbox) -> Iterator[Sandbox]:
    running_sandbox.reset()
    yield running_sandbox
    running_sandbox.release()


@pytest.fixture
def client(sandbox: Sandbox) -> Client:
    return Client(sandbox)


@pytest.fixture
def caller(sandbox: Sandbox, tmp_path: Path) -> Callable[..., Caller]:
    """Makes what speaks one protocol to the sandbox: adapter, path, modality and model."""
    return partial(Caller, sandbox, tmp_path)
