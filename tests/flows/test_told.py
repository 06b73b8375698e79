"""What a client is told without asking, by real processes: the event stream and the callbacks, side by side."""

import hashlib
import hmac
import json
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.adapters.raw_server import RawServer, raw_server
from tests.callbacks import behaviours
from tests.flows.conftest import Service, ended, new_name, submitted
from tests.processes import Client
from tests.tasks_api.asking import image_task, video_task
from tests.tasks_api.stream import sse
from tools.children import PATIENCE, wait_until
from tools.stack import ROOT

pytestmark = pytest.mark.slow

MINTED = {"url", "expires_at"}
PAGE = (ROOT / "docs" / "interface.md").read_text(encoding="utf-8")
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="the JavaScript example needs node, which is not installed")


@pytest.fixture(scope="module")
def service(service: Service) -> Service:
    """With two keys of one account that nobody else uses. The other key's tasks stay in the queue."""
    account = new_name("told")
    key = service.stack.create_key(account=account)
    other = service.stack.manage_json("create_key", account, "--max-running", "0")
    return replace(service, key=key, other_key=other["key"])


@pytest.fixture
def listen(service: Service) -> Iterator[Callable[[str], sse.Client]]:
    """Opens a stream of the key, of which no task may be live."""
    clients: list[sse.Client] = []

    def listen(key: str) -> sse.Client:
        clients.append(sse.Client(int(service.stack.environment["PORT"]), sse.request(key)))
        return clients[-1].placed()

    yield listen
    for client in clients:
        client.socket.close()


def verified(request: bytes, key: str) -> dict[str, Any]:
    """The payload of a callback whose two signatures, computed here and by the official library, are genuine."""
    head, _, body = request.partition(b"\r\n\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head.decode().split("\r\n")[1:])}
    delivery, timestamp = headers["x-service-delivery"], headers["x-service-timestamp"]
    mac = hmac.new(key.encode(), f"{delivery}.{timestamp}.".encode() + body, hashlib.sha256)
    assert headers["x-service-signature"] == f"v1={mac.hexdigest()}"
    Webhook("whsec_" + b64encode(key.encode()).decode()).verify(body, headers)
    payload: dict[str, Any] = json.loads(body)
    assert (payload["id"], payload["created_at"]) == (delivery, int(timestamp))
    return payload


def called_back(receiver: RawServer, count: int, key: str) -> dict[str, dict[str, Any]]:
    """The payloads by task, once so many callbacks have come."""
    wait_until(lambda: len(receiver.requests) >= count, what="the callbacks")
    payloads = [verified(request, key) for request in receiver.requests]
    return {payload["data"]["task"]["id"]: payload for payload in payloads}


def callback_is(client: Client, task_id: str, status: str, attempts: int) -> dict[str, Any]:
    """The task, once its callback has come that far."""
    wanted = {"status": status, "attempts": attempts, "next_attempt_at": None}
    path = f"/v1/tasks/{task_id}"
    wait_until(lambda: client.get(path).json()["callback"] == wanted, what=f"{attempts} attempts, {status}")
    return dict(client.get(path).json())


def lasting(task: dict[str, Any]) -> dict[str, Any]:
    """Without what is minted for each answer, and without the state of the callback."""

    def bare(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: value for name, value in item.items() if name not in MINTED} for item in items]

    result = task["result"] and {**task["result"], "data": bare(task["result"]["data"])}
    return {**task, "callback": None, "assets": bare(task["assets"]), "result": result}


def test_each_step_is_told_once_and_the_end_is_called_back(service, listen):
    stream, client = listen(service.key), service.client
    with raw_server(behaviours.OK) as receiver:
        bodies = [{**body, "callback_url": receiver.url} for body in (image_task(n=2), video_task(duration=2))]
        tasks = [submitted(client, body) for body in bodies]
        seen = stream.seen(6)
        payloads = called_back(receiver, 2, service.key)
        shown = {task_id: callback_is(client, task_id, "delivered", 1) for task_id in tasks}
        assert len(receiver.requests) == 2
    for task_id in tasks:
        assert [status for told, status in seen if told == task_id] == ["queued", "running", "succeeded"]
        assert (payloads[task_id]["id"], payloads[task_id]["type"]) == (f"{task_id}.1", "task.succeeded")
        told = payloads[task_id]["data"]["task"]
        assert (told["callback"]["status"], told["callback"]["attempts"]) == ("pending", 0)
        assert lasting(told) == lasting(shown[task_id])
        for asset in told["assets"]:
            content = service.stack.client().get(asset["url"].removeprefix(service.stack.base_url)).content
            assert hashlib.sha256(content).hexdigest() == asset["sha256"]
    ended(client, later := submitted(client, image_task()))
    assert stream.seen(3) == [(later, "queued"), (later, "running"), (later, "succeeded")]  # and nothing before it


def snippet(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def told_in_python(base_url: str, key: str, after: str) -> list[dict[str, str]]:
    """The first two frames that the document's generator yields after the opening."""
    page: dict[str, Any] = {}
    exec(snippet("python"), page)
    frames = page["events"](base_url, key, after)
    assert next(frames)["retry"] == "3000"
    told = [next(frames), next(frames)]
    frames.close()
    return told


def told_in_javascript(base_url: str, key: str, after: str) -> list[dict[str, str]]:
    program = f"""{snippet("js")}
        const frames = events(...process.argv.slice(2)), told = [];
        while (told.length < 3) told.push((await frames.next()).value);
        console.log(JSON.stringify(told));
        process.exit(0);
    """
    command = [NODE or "", "--input-type=module", "-", base_url, key, after]
    answer = subprocess.run(command, input=program, capture_output=True, text=True, timeout=PATIENCE, check=True)
    opening, *told = json.loads(answer.stdout)
    assert opening["retry"] == "3000"
    return list(told)


@pytest.mark.parametrize("told", [told_in_python, pytest.param(told_in_javascript, marks=needs_node)])
def test_the_examples_of_the_document_resume_a_stream(service, listen, told):
    stream = listen(service.other_key)
    task_id = submitted(service.other_client, image_task())
    service.other_client.post(f"/v1/tasks/{task_id}/cancel")
    queued, canceled = stream.events(2)
    frames = told(service.stack.base_url, service.other_key, str(queued.id - 1))
    assert [frame["event"] for frame in frames] == ["task.updated"] * 2
    assert [(frame["id"], json.loads(frame["data"])) for frame in frames] == [
        (str(frame.id), frame.data) for frame in (queued, canceled)
    ]


def test_a_failed_and_a_canceled_task_are_called_back(service, listen):
    stream, others = listen(service.key), listen(service.other_key)
    with raw_server(behaviours.OK) as failing, raw_server(behaviours.OK) as canceling:
        canceled = submitted(service.other_client, {**image_task(), "callback_url": canceling.url})
        assert service.other_client.get(f"/v1/tasks/{canceled}").json()["callback"]["status"] == "pending"
        failed = submitted(service.client, {**image_task(prompt="a fox [moderated]"), "callback_url": failing.url})
        # Keys of one account, and yet each stream tells its own key's tasks alone.
        assert stream.seen(3) == [(failed, "queued"), (failed, "running"), (failed, "failed")]
        service.other_client.post(f"/v1/tasks/{canceled}/cancel")
        assert others.seen(2) == [(canceled, "queued"), (canceled, "canceled")]
        of_failed = called_back(failing, 1, service.key)[failed]
        of_canceled = called_back(canceling, 1, service.other_key)[canceled]
    assert of_failed["type"] == "task.failed"
    assert of_failed["data"]["task"]["error"]["type"] == "TASK_CONTENT_REJECTED"
    assert (of_canceled["type"], of_canceled["data"]["task"]["actual_cost"]) == ("task.canceled", 0)


def test_a_callback_that_fails_changes_nothing_and_can_be_sent_again(service):
    client = service.client
    with raw_server(behaviours.FAULT, behaviours.GONE, behaviours.OK) as receiver:
        task_id = submitted(client, {**image_task(), "callback_url": receiver.url})
        before, balance = ended(client, task_id), client.get("/v1/tasks/usage").json()["balance"]
        after = callback_is(client, task_id, "exhausted", 2)
        assert lasting(after) == lasting(before)
        assert client.get(f"/v1/tasks/{task_id}/assets/0").status_code == 200
        assert client.get("/v1/tasks/usage").json()["balance"] == balance
        assert client.post(f"/v1/tasks/{task_id}/redeliver").status_code == 202
        callback_is(client, task_id, "delivered", 3)
        assert [verified(request, service.key)["id"] for request in receiver.requests] == [f"{task_id}.1"] * 3
    log = client.get(f"/v1/tasks/{task_id}/deliveries").json()["data"]
    assert [(entry["attempt"], entry["status_code"]) for entry in log] == [(1, 500), (2, 410), (3, 200)]


def test_a_stream_that_cannot_be_opened_says_when_to_come_back(stack):
    stack.start_web(DATABASE_URL=f"sqlite:///{stack.folder}")  # a folder cannot be opened as a database
    response = stack.client("dr-task-any").get("/v1/tasks/events")
    assert (response.status_code, response.json()["error"]["type"]) == (503, "TASK_SERVICE_UNAVAILABLE")
    assert int(response.headers["Retry-After"]) > 0
