"""A sandbox of its own for each test, and a client that speaks its two protocols."""

import base64
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from sandbox.server import Sandbox

DEADLINE = 10.0
SHORT = 0.3


@dataclass(frozen=True)
class Client:
    """Calls to one sandbox with one key."""

    sandbox: Sandbox
    key: str = "any"

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.key}"} | options.pop("headers", {})
        return requests.request(
            method, self.sandbox.url + path, headers=headers, timeout=options.pop("timeout", DEADLINE), **options
        )

    def image(self, prompt: str, /, timeout: float = DEADLINE, **fields: Any) -> requests.Response:
        body = {"model": "gpt-image-2", "prompt": prompt} | fields
        return self.call("POST", "/openai/v1/images/generations", json=body, timeout=timeout)

    def edit(self, files: list[tuple[str, Any]], **fields: Any) -> requests.Response:
        form = {"model": "gpt-image-2", "prompt": "a fox"} | fields
        return self.call("POST", "/openai/v1/images/edits", data=form, files=files)

    def video(
        self, prompt: str, timeout: float = DEADLINE, media: tuple[Any, ...] = (), **fields: Any
    ) -> requests.Response:
        content = [{"type": "text", "text": prompt}, *media]
        body = {"model": "seedance", "content": content, "duration": 1, "ratio": "16:9"} | fields
        return self.call("POST", "/ark/api/v3/contents/generations/tasks", json=body, timeout=timeout)

    def poll(self, job: str = "", timeout: float = DEADLINE, **query: Any) -> requests.Response:
        path = "/ark/api/v3/contents/generations/tasks" + (f"/{job}" if job else "")
        return self.call("GET", path, params=query, timeout=timeout)

    def delete(self, job: str) -> requests.Response:
        return self.call("DELETE", f"/ark/api/v3/contents/generations/tasks/{job}")

    def finished(self, prompt: str, **fields: Any) -> dict[str, Any]:
        """The job as it is once it has ended."""
        job = self.video(prompt, **fields).json()["id"]
        deadline = time.monotonic() + DEADLINE
        while (shown := self.poll(job).json())["status"] in ("queued", "running"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return dict(shown)


def first_picture(response: requests.Response) -> bytes:
    """The bytes of the first item."""
    return base64.b64decode(response.json()["data"][0]["b64_json"])


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(video_seconds=0.1) as running:
        yield running


@pytest.fixture
def client(sandbox: Sandbox) -> Client:
    return Client(sandbox)
