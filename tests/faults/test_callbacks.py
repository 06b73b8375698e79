"""Callbacks out of real worker processes: killed, stopped, drained, and beside receivers that misbehave."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from standardwebhooks import Webhook

from tests.adapters.raw_server import Behaviour, RawServer, raw_server
from tests.callbacks import behaviours, steps
from tests.databases import Databases
from tests.processes import Client, TestStack
from tools.children import Child, wait_until

CATALOG = """
version: 1
models:
  - {name: aurora-image, modality: image, default_plan: standard, pricing: {mode: image_matrix, prices: {"1K": 0.01}},
     params: {image_size: {values: ["1K"], default: "1K"}, aspect_ratio: {values: ["1:1"], default: "1:1"}, n: {max: 1},
              images: {max: 0}}}
channels:
  - {name: studio, adapter: openai_images, base_url: "http://127.0.0.1:9/v1", credentials: {api_key: sandbox},
     models: [{model: aurora-image, modality: image, upstream_model: gpt-image-2}]}
plans:
  - {name: standard, routes: [{model: aurora-image, modality: image, channel: studio}]}
"""
BODY = {"model": "aurora-image", "modality": "image", "params": {"prompt": "a fox"}}


@pytest.fixture(scope="module")
def service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestStack]:
    """A web process and a key's secret in the environment; workers come and go with the tests."""
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("callbacks"))
        stack.load_catalog(CATALOG)
        stack.environment["KEY"] = stack.create_key()
        stack.start_web()
        yield stack
        stack.stop()


@pytest.fixture
def stack(service: TestStack) -> Iterator[TestStack]:
    yield service
    for worker in service.children[1:]:
        worker.stop()


@pytest.fixture
def client(stack: TestStack) -> Client:
    return stack.client(stack.environment["KEY"])


def canceled(client: Client, callback_url: str) -> str:
    """A task that has ended: its callback is owed."""
    task_id: str = client.post("/v1/tasks", json={**BODY, "callback_url": callback_url}).json()["id"]
    assert client.post(f"/v1/tasks/{task_id}/cancel").json()["status"] == "canceled"
    return task_id


def callback(client: Client, task_id: str) -> dict[str, object]:
    shown: dict[str, object] = client.get(f"/v1/tasks/{task_id}").json()["callback"]
    return shown


def wait_for_status(client: Client, task_id: str, status: str) -> None:
    wait_until(lambda: callback(client, task_id)["status"] == status, what=f"{task_id} {status}")


def received(server: RawServer) -> Counter[str]:
    """How often each delivery came."""
    return Counter(headers(request)["x-service-delivery"] for request in server.requests)


def headers(request: bytes) -> dict[str, str]:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


def start_worker(stack: TestStack, *arguments: str, **environment: str) -> Child:
    """A machine that stands still spoils no attempt of it, and a receiver that hangs is never given up."""
    patient = {"DJANGO_SETTINGS_MODULE": "tests.flows.settings"}
    return stack.start_worker("--lanes", "callbacks", *arguments, **patient, **environment)


def test_a_callback_arrives_signed_and_is_in_the_log(stack, client):
    verifier = Webhook(steps.standard_secret(stack.environment["KEY"]))
    with raw_server(behaviours.FAULT, behaviours.OK) as server:
        task_id = canceled(client, f"{server.url}/done")
        start_worker(stack, CALLBACK_SCHEDULE="0,0")
        wait_for_status(client, task_id, "delivered")
        assert client.post(f"/v1/tasks/{task_id}/redeliver").status_code == 202
        wait_until(lambda: callback(client, task_id)["attempts"] == 3)
    for request in server.requests:
        payload = verifier.verify(request.partition(b"\r\n\r\n")[2], headers(request))
        assert (payload["id"], payload["type"]) == (f"{task_id}.1", "task.canceled")
    log = client.get(f"/v1/tasks/{task_id}/deliveries").json()["data"]
    assert [entry["status_code"] for entry in log] == [500, 200, 200]
    assert stack.environment["KEY"] not in stack.logs()


def killing(stack: TestStack) -> Behaviour:
    """Answers 200, but the worker is killed before it can read that."""

    def behave(connection, request) -> None:
        wait_until(lambda: stack.children[-1].name == "worker", what="the worker to be known")
        worker = stack.children[-1]
        worker.pause()
        behaviours.OK(connection, request)
        worker.kill()

    return behave


def forget_claims(stack: TestStack) -> None:
    """As if the lease of every claim had passed."""
    back = "claimed_at=F('claimed_at') - timedelta(seconds=7200)"
    stack.manage(
        "shell",
        "-c",
        "from datetime import timedelta; from django.db.models import F; from callbacks.models import Delivery; "
        f"Delivery.objects.update({back})",
    )


def test_a_worker_killed_between_2xx_and_recording_delivers_again(stack, client):
    with raw_server(killing(stack), behaviours.OK) as server:
        task_id = canceled(client, server.url)
        start_worker(stack).wait()
        assert callback(client, task_id)["attempts"] == 0
        forget_claims(stack)
        start_worker(stack)
        wait_for_status(client, task_id, "delivered")
        assert received(server) == {f"{task_id}.1": 2}


def test_sigterm_ends_a_worker_whose_receiver_hangs_and_the_next_one_delivers(stack, client):
    """The attempt may take an hour, and the worker ends."""
    over = threading.Event()
    with raw_server(behaviours.hang(over), behaviours.OK) as server:
        task_id = canceled(client, server.url)
        worker = start_worker(stack)
        wait_until(lambda: server.requests)
        worker.terminate()
        assert worker.wait() == 0
        assert callback(client, task_id)["status"] == "pending"
        over.set()
        forget_claims(stack)
        start_worker(stack)
        wait_for_status(client, task_id, "delivered")


def test_a_drained_worker_has_sent_what_was_due(stack, client):
    with raw_server(behaviours.OK) as server:
        tasks = [canceled(client, server.url) for _ in range(3)]
        worker = start_worker(stack, "--drain")
        assert worker.wait() == 0
    assert received(server) == {f"{task_id}.1": 1 for task_id in tasks}


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_workers_killed_at_random_lose_no_callback(stack, client):
    """Twelve kills under load; every delivery comes at least once, under one id, after real leases."""
    with raw_server(behaviours.OK) as server:
        tasks = []
        for _ in range(12):
            worker = stack.start_worker("--lanes", "callbacks")
            tasks += [canceled(client, server.url) for _ in range(20)]
            time.sleep(random.uniform(0.5, 2))
            worker.kill()
        stack.start_worker("--lanes", "callbacks")
        for task_id in tasks:
            wait_for_status(client, task_id, "delivered")
        assert received(server).keys() == {f"{task_id}.1" for task_id in tasks}


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_minute_of_bad_receivers_leaves_good_ones_quick(stack, client):
    """Two workers, eight kinds of bad receivers beside ten good ones; p99 of the good from the cancel to the 2xx."""
    over = threading.Event()
    arrivals: dict[str, float] = {}

    def note(connection, request) -> None:
        behaviours.OK(connection, request)
        arrivals.setdefault(headers(request)["x-service-delivery"], time.monotonic())

    with ExitStack() as open_until_end:
        good = [open_until_end.enter_context(raw_server(note)) for _ in range(10)]
        bad = [open_until_end.enter_context(raw_server(kind)) for kind in behaviours.bad(over, good[0].url)]
        open_until_end.callback(over.set)
        for _ in range(2):
            stack.start_worker("--lanes", "callbacks", CALLBACK_SCHEDULE="0,1,1,1,1,1,1,1")
        owed = submit_for(60, client, [server.url for server in good], [server.url for server in bad])
        wait_until(lambda: owed.keys() <= arrivals.keys(), timeout=30)
    waits = sorted(arrivals[delivery] - at for delivery, at in owed.items())
    assert waits[int(len(waits) * 0.99)] < 2


def submit_for(seconds: float, client: Client, good: list[str], bad: list[str]) -> dict[str, float]:
    """When the callback of each task for a good receiver was owed; tasks for bad ones go in between."""
    owed: dict[str, float] = {}
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        canceled(client, random.choice(bad))
        task_id = canceled(client, random.choice(good))
        owed[f"{task_id}.1"] = time.monotonic()
    return owed
