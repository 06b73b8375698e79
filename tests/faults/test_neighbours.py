"""One account repeats a request that a provider refuses, and takes the channel from no other (contract, section 15).

The provider refuses by a word of the prompt, whoever asks. The neighbour calls beside it, and counts what succeeds.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from tests.adapters.raw_server import RawServer, answer, raw_server
from tests.documented_faults import AFFORD, MUST_VERIFY, OWN_SIZE, of_openai, of_openrouter
from tests.processes import TestStack
from tests.relay.calling import completion
from tools.children import PATIENCE, wait_until

ENOUGH = 0.95
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CATALOG = """
version: 1
models:
  - {{name: fox, modality: image, default_plan: standard, pricing: {{mode: image_matrix, prices: {{"1K": 0.01}}}},
     params: {{image_size: {{values: ["1K"], default: "1K"}}, n: {{max: 1}}}}}}
  - {{name: owl, modality: image, default_plan: standard, pricing: {{mode: image_matrix, prices: {{"1K": 0.01}}}},
     params: {{image_size: {{values: ["1K"], default: "1K"}}, n: {{max: 1}}}}}}
channels:
  - name: studio
    adapter: openai_images
    base_url: {url}/v1
    credentials: {{api_key: sk-upstream-1234}}
    models:
      - {{model: fox, modality: image, upstream_model: gpt-fox}}
      - {{model: owl, modality: image, upstream_model: gpt-owl}}
plans:
  - name: standard
    routes:
      - {{model: fox, modality: image, channel: studio}}
      - {{model: owl, modality: image, channel: studio}}
groups:
  - name: text
    platform: openai
    channels: [{{base_url: "{url}/v1", credentials: {{api_key: sk-upstream-1234}}}}]
    prices: {{"gpt-*": {{input: 1, output: 1, max_output_tokens: 100}}}}
"""
SAME, OTHER = ("gpt-fox", "fox"), ("gpt-owl", "owl")


@dataclass(frozen=True)
class Repeated:
    """What the provider answers to the word, and whether calls of the model itself are spared, too."""

    status: int
    body: Any
    spares_model: bool = True
    retry_after: str = ""


REPEATED = {
    "moderated": Repeated(403, of_openrouter(403, "Your input was flagged", flagged_input="x")),
    "too-large": Repeated(429, of_openai("rate_limit_exceeded", OWN_SIZE, "tokens"), retry_after="3600"),
    "too-many": Repeated(402, of_openrouter(402, AFFORD)),
    "bare-401": Repeated(401, "<html>no</html>"),
    "bad-key": Repeated(401, of_openai("invalid_api_key")),
    "bare-402": Repeated(402, "<html>no</html>"),
    "no-quota": Repeated(429, of_openai("insufficient_quota")),
    "bare-403": Repeated(403, "<html>no</html>"),
    "firewall": Repeated(403, of_openai(None, "Request blocked.")),
    "limited": Repeated(429, of_openai("rate_limit_exceeded"), spares_model=False, retry_after="3600"),
    "unopened": Repeated(403, of_openai(None, MUST_VERIFY), spares_model=False),
}


def provider(connection: Any, request: bytes) -> None:
    """Refuses what has one of the words in it, whoever asks; a probe passes."""
    word = next((word for word in REPEATED if f"[{word}]".encode() in request), "")
    headers = {"Content-Type": "application/json", "Connection": "close"}
    if word:
        told = REPEATED[word]
        body = told.body if isinstance(told.body, str) else json.dumps(told.body)
        headers |= {"Retry-After": told.retry_after} if told.retry_after else {}
        answer(body.encode(), status=f"{told.status} No", headers=headers)(connection, request)
    elif request.startswith(b"GET "):
        answer(b'{"data": []}', headers=headers)(connection, request)
    elif b"/images/" in request.partition(b"\r\n")[0]:
        answer(json.dumps({"data": [{"b64_json": PIXEL}]}).encode(), headers=headers)(connection, request)
    else:
        answer(json.dumps(completion()).encode(), headers=headers)(connection, request)


@dataclass(frozen=True)
class Customer:
    """An account with a key for relayed calls and one for tasks."""

    stack: TestStack
    general: str
    task: str

    def relays(self, model: str, prompt: str) -> int:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
        return self._post("/v1/chat/completions", self.general, body).status_code

    def submits(self, model: str, prompt: str) -> str:
        """The task's id."""
        submitted = self._post(
            "/v1/tasks", self.task, {"model": model, "modality": "image", "params": {"prompt": prompt}}
        )
        return str(submitted.json()["id"])

    def status(self, task_id: str) -> str:
        return str(self.stack.client(self.task).get(f"/v1/tasks/{task_id}").json()["status"])

    def _post(self, path: str, key: str, body: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {key}"}
        return requests.post(f"{self.stack.base_url}{path}", json=body, headers=headers, timeout=PATIENCE)


@pytest.fixture
def upstream() -> Iterator[RawServer]:
    with raw_server(provider) as server:
        yield server


@pytest.fixture
def service(stack: TestStack, upstream: RawServer) -> TestStack:
    stack.load_catalog(CATALOG.format(url=upstream.url))
    stack.start_web(WEB_CONCURRENCY="2", RATE_LIMITS="off")
    stack.start_worker()
    return stack


def customer(stack: TestStack, name: str) -> Customer:
    stack.manage("create_account", name, "--credit", "100", "--max-queued", "1000")
    general = stack.manage_json("create_key", name, "--binding", "general", "--group", "text")["key"]
    task = stack.manage_json("create_key", name, "--max-queued", "1000")["key"]
    return Customer(stack, str(general), str(task))


@contextmanager
def repeating(attacker: Customer, word: str, *, tasks: int) -> Iterator[list[str]]:
    """As fast as its answers come, on two threads; so many tasks beside its relayed calls. Its tasks' ids."""
    ended, prompt = threading.Event(), f"a fox [{word}]"
    submitted = [attacker.submits(SAME[1], prompt) for _ in range(tasks)]
    began = threading.Semaphore(0)

    def repeat() -> None:
        while not ended.is_set():
            attacker.relays(SAME[0], prompt)
            began.release()

    threads = [threading.Thread(target=repeat, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):  # it is well under way
            assert began.acquire(timeout=PATIENCE)
        yield submitted
    finally:
        ended.set()
        for thread in threads:
            thread.join(PATIENCE)


def succeeded(one: Customer, models: list[tuple[str, str]], *, calls: int, tasks: int) -> float:
    """The part of a neighbour's calls and tasks that succeed."""
    submitted = [one.submits(models[number % len(models)][1], "an owl") for number in range(tasks)]
    statuses = [one.relays(models[number % len(models)][0], "an owl") for number in range(calls)]
    wait_until(lambda: all(map(has_ended, map(one.status, submitted))), what="the neighbour's tasks")
    good = statuses.count(200) + [one.status(task_id) for task_id in submitted].count("succeeded")
    return good / (calls + tasks)


def has_ended(status: str) -> bool:
    return status in ("succeeded", "failed", "canceled", "timeout")


def unharmed(attacker: Customer, neighbour: Customer, word: str, *, calls: int, tasks: int) -> None:
    models = [SAME, OTHER] if REPEATED[word].spares_model else [OTHER]
    with repeating(attacker, word, tasks=tasks):
        assert succeeded(neighbour, models, calls=calls, tasks=tasks) >= ENOUGH, word


def test_no_refused_request_takes_a_channel_from_a_neighbour(service: TestStack) -> None:
    """The short form: each refusal after the other, at the same channels; those that spare no model come last."""
    attacker, neighbour = customer(service, "attacker"), customer(service, "neighbour")
    for word in REPEATED:
        unharmed(attacker, neighbour, word, calls=20, tasks=2)
    assert service.manage_json("check_ledger")["breaches"] == []


@pytest.mark.soak
@pytest.mark.parametrize("word", REPEATED)
def test_no_request_that_is_refused_for_long_takes_a_channel_from_a_neighbour(service: TestStack, word: str) -> None:
    unharmed(customer(service, "attacker"), customer(service, "neighbour"), word, calls=600, tasks=40)
    assert service.manage_json("check_ledger")["breaches"] == []
