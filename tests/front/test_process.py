"""The web process as a whole: started from anywhere, stopped in time, refusing to start on weak secrets."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.flows import conftest as flows
from tests.front.conftest import SETTINGS
from tests.processes import Client, TestStack
from tests.tasks_api.asking import image_task
from tools.children import PATIENCE, answers, wait_until
from tools.stack import ROOT

pytestmark = pytest.mark.slow

GUNICORN = str(Path(sys.executable).with_name("gunicorn"))
CATALOG = flows.CATALOG.replace("SANDBOX", "http://127.0.0.1:8900").replace("CREDENTIAL", "sandbox")


class Waiting:
    """A submission that waits for its task for hours."""

    def __init__(self, stack: TestStack, threads: ThreadPoolExecutor) -> None:
        secret = stack.create_key()
        self.client = stack.client(secret)
        assert self.client.get("/v1/tasks").json()["data"] == []
        self.answer: Future[tuple[int, Any]] = threads.submit(submit_and_wait, stack.client(secret))
        (task,) = wait_until(lambda: self.client.get("/v1/tasks").json()["data"])
        self.task_id = task["id"]


def submit_and_wait(client: Client) -> tuple[int, Any]:
    """Status and body of the answer."""
    answer = client.post("/v1/tasks", json=image_task(), headers={"Prefer": "wait=999"})
    return answer.status_code, answer.json()


@pytest.fixture
def waiting(stack: TestStack) -> Iterator[Waiting]:
    stack.load_catalog(CATALOG)
    stack.start_web(**SETTINGS)
    with ThreadPoolExecutor() as threads:
        yield Waiting(stack, threads)


def test_it_starts_from_any_directory(stack, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    process = subprocess.Popen(
        [GUNICORN, "-c", str(ROOT / "config" / "gunicorn.py")], env=stack.environment, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: answers(f"{stack.base_url}/healthz"))
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0


def test_a_cancel_ends_the_wait_of_the_submission(waiting):
    waiting.client.post(f"/v1/tasks/{waiting.task_id}/cancel")
    status, task = waiting.answer.result(PATIENCE)
    assert (status, task["status"]) == (200, "canceled")


def test_sigterm_ends_waits_at_once_with_the_submissions_answer(waiting, stack):
    (web,) = stack.children
    waiting.client.close()
    web.terminate()
    status, task = waiting.answer.result(PATIENCE)
    assert (status, task["id"]) == (202, waiting.task_id)
    assert web.wait() == 0


def test_an_idle_connection_holds_up_sigterm_for_its_grace_alone(stack):
    web = stack.start_web(GUNICORN_CMD_ARGS="--timeout 3600 --keep-alive 3600 --graceful-timeout 1")
    assert stack.client().get("/healthz").status_code == 200
    web.terminate()
    assert web.wait() == 0


def test_a_weak_secret_refuses_to_start(stack):
    weak = [("SECRET_KEY", ""), ("SECRET_KEY", "django-insecure-" + "x1y2z3" * 10), ("ENCRYPTION_KEYS", "x")]
    started = [stack.start("web", GUNICORN, "-c", "config/gunicorn.py", **{name: value}) for name, value in weak]
    for web, (name, value) in zip(started, weak, strict=True):
        assert web.wait() != 0, value
        assert name in web.text(), value
