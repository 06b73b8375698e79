"""What a command changes holds from the next request on, in every web process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
from requests import Response

from tests.flows.conftest import Service, new_name, submitted
from tests.tasks_api.asking import image_task
from tools.children import wait_until


def processes(service: Service) -> list[psutil.Process]:
    """The two that serve."""
    (web,) = (child for child in service.stack.children if child.name == "web")
    children = psutil.Process(web.process.pid).children
    wait_until(lambda: len(children()) == 2, what="two web processes")
    return children()


@contextmanager
def stopped(process: psutil.Process) -> Iterator[None]:
    process.suspend()
    try:
        wait_until(lambda: process.status() == psutil.STATUS_STOPPED, what="the stop")
        yield
    finally:
        process.resume()


def answers(service: Service, method: str, path: str, key: str = "", **options: Any) -> list[Response]:
    """One of each process: it alone can take the request, because the other one is stopped."""
    found = []
    for other in processes(service):
        with stopped(other), service.stack.client(key or service.key) as client:
            found.append(client.request(method, path, headers={"Connection": "close"}, **options))
    return found


def everywhere(service: Service, method: str, path: str, key: str = "", **options: Any) -> tuple[int, str]:
    """Status and error type, the same of each process."""
    of_each = answers(service, method, path, key, **options)
    (answer,) = {(response.status_code, (response.json().get("error") or {}).get("type", "")) for response in of_each}
    return answer


def submit(service: Service, key: str = "") -> tuple[int, str]:
    return everywhere(service, "POST", "/v1/tasks", key, json=image_task())


def read(service: Service, key: str = "") -> tuple[int, str]:
    return everywhere(service, "GET", "/v1/tasks", key)


@contextmanager
def changed(service: Service, command: str, *arguments: str, back: str) -> Iterator[None]:
    """Between one command and the one that takes it back: the service is everybody's."""
    service.stack.manage(command, *arguments)
    try:
        yield
    finally:
        service.stack.manage(back)


def test_both_processes_take_requests(service):
    assert read(service) == (200, "")
    assert len(answers(service, "GET", "/v1/tasks")) == 2


def test_pause_and_resume(service):
    with changed(service, "pause", "--message", "Back soon.", "--retry-after", "7", back="resume"):
        assert submit(service) == (503, "TASK_API_PAUSED")
        response = service.client.post("/v1/tasks", json=image_task())
        assert (response.json()["error"]["message"], response.headers["Retry-After"]) == ("Back soon.", "7")
        assert read(service) == (200, "")
    assert submit(service) == (202, "")


def test_disable_and_enable_the_api(service):
    task_id = submitted(service.client, image_task())
    with changed(service, "disable_api", back="enable_api"):
        for path in ("", f"/{task_id}", f"/{task_id}/assets/0", "/models", "/x/y"):
            assert everywhere(service, "GET", f"/v1/tasks{path}") == (503, "TASK_API_DISABLED")
    assert read(service) == (200, "")


def test_disable_enable_and_rotate_a_key(service):
    account = new_name("changing")
    service.stack.manage("create_account", account, "--credit", "1")
    made = service.stack.manage_json("create_key", account)
    key_id = str(made["id"])
    assert read(service, made["key"]) == (200, "")
    service.stack.manage("disable_key", key_id)
    assert read(service, made["key"]) == (401, "authentication_error")
    service.stack.manage("enable_key", key_id)
    task_id = submitted(service.stack.client(made["key"]), image_task())
    rotated = service.stack.manage_json("rotate_key", key_id)["key"]
    assert read(service, made["key"]) == (401, "authentication_error")
    assert everywhere(service, "GET", f"/v1/tasks/{task_id}", rotated) == (200, "")


def test_a_credit(service):
    account = new_name("without money")
    key = service.stack.create_key(account=account, credit="0.01")
    assert submit(service, key) == (403, "TASK_INSUFFICIENT_BALANCE")
    service.stack.manage("credit_account", account, "10", "--reason", "test")
    assert submit(service, key) == (202, "")


def test_a_catalog(service):
    try:
        service.load_catalog('"1K": 0.04', '"1K": 0.05')
        quotes = answers(service, "POST", "/v1/tasks/quote", json=image_task())
        assert {quote.json()["estimated_cost"] for quote in quotes} == {0.05}
        service.load_catalog("aliases: [aurora]", "enabled: false")
        assert submit(service) == (400, "TASK_UNSUPPORTED_MODEL")
    finally:
        service.load_catalog()
    assert submit(service) == (202, "")
