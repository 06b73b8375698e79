"""What a command changes holds from the next request on, in every web process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.api.asking import image_task
from tests.flows.conftest import Service, submitted

REQUESTS = 8


def everywhere(service: Service, method: str, path: str, key: str = "", **options: Any) -> tuple[int, str]:
    """Status and error type, the same on new connections to whichever process takes them."""
    answers = set()
    for _ in range(REQUESTS):
        client = service.stack.client(key or service.key)
        response = client.request(method, path, headers={"Connection": "close"}, **options)
        answers.add((response.status_code, (response.json().get("error") or {}).get("type", "")))
    (answer,) = answers
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
    assert sum("Booting worker" in line for line in service.stack.logs().splitlines()) == 2


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
    service.stack.manage("create_account", "changing", "--credit", "1")
    made = service.stack.manage_json("create_key", "changing")
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
    key = service.stack.create_key(account="without money", credit="0.01")
    assert submit(service, key) == (403, "TASK_INSUFFICIENT_BALANCE")
    service.stack.manage("credit_account", "without money", "10", "--reason", "test")
    assert submit(service, key) == (202, "")


def test_a_catalog(service):
    try:
        service.load_catalog('"1K": 0.04', '"1K": 0.05')
        quotes = [service.client.post("/v1/tasks/quote", json=image_task()) for _ in range(REQUESTS)]
        assert {quote.json()["estimated_cost"] for quote in quotes} == {0.05}
        service.load_catalog("aliases: [aurora]", "enabled: false")
        assert submit(service) == (400, "TASK_UNSUPPORTED_MODEL")
    finally:
        service.load_catalog()
    assert submit(service) == (202, "")
