"""The web process as a whole: started from anywhere, stopped in time, refusing to start on weak secrets."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Client, TestStack
from tools.children import answers, wait_until
from tools.stack import ROOT

pytestmark = pytest.mark.slow

GUNICORN = str(Path(sys.executable).with_name("gunicorn"))
CATALOG = """
version: 1
models:
  - {name: aurora-image, modality: image, default_plan: standard, pricing: {mode: per_request, prices: {"*": 0.04}}}
channels:
  - name: studio
    adapter: openai_images
    base_url: http://127.0.0.1:8900/openai/v1
    credentials: {api_key: sandbox}
    models: [{model: aurora-image, modality: image, upstream_model: gpt-image-2}]
plans:
  - {name: standard, routes: [{model: aurora-image, modality: image, channel: studio}]}
"""


class Waiting:
    """A submission that waits a minute for its task."""

    def __init__(self, stack: TestStack, threads: ThreadPoolExecutor) -> None:
        secret = stack.create_key()
        self.client = stack.client(secret)
        self.answer: Future[tuple[int, Any]] = threads.submit(submit_and_wait, stack.client(secret))
        (task,) = wait_until(lambda: self.client.get("/v1/tasks").json()["data"])
        self.task_id = task["id"]


def submit_and_wait(client: Client) -> tuple[int, Any]:
    """Status and body of the answer."""
    task = {"model": "aurora-image", "params": {"prompt": "a boat"}}
    answer = client.post("/v1/tasks", json=task, headers={"Prefer": "wait=60"})
    return answer.status_code, answer.json()


@pytest.fixture
def waiting(stack: TestStack) -> Iterator[Waiting]:
    stack.load_catalog(CATALOG)
    stack.start_web()
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
        assert process.wait(20) == 0


def test_a_cancel_ends_the_wait_of_the_submission(waiting):
    waiting.client.post(f"/v1/tasks/{waiting.task_id}/cancel")
    status, task = waiting.answer.result(10)
    assert (status, task["status"]) == (200, "canceled")


def test_sigterm_ends_waits_at_once_with_the_submissions_answer(waiting, stack):
    (web,) = stack.children
    waiting.client.close()
    web.terminate()
    status, task = waiting.answer.result(10)
    assert (status, task["id"]) == (202, waiting.task_id)
    assert web.wait(10) == 0


def test_an_idle_connection_holds_up_sigterm_for_seconds_at_most(stack):
    web = stack.start_web()
    assert stack.client().get("/healthz").status_code == 200
    began = time.monotonic()
    web.terminate()
    assert web.wait(20) == 0
    assert time.monotonic() - began < 9


@pytest.mark.parametrize(
    ("name", "value"),
    [("SECRET_KEY", ""), ("SECRET_KEY", "django-insecure-" + "x1y2z3" * 10), ("ENCRYPTION_KEYS", "x")],
)
def test_a_weak_secret_refuses_to_start(stack, name, value):
    web = stack.start("web", GUNICORN, "-c", "config/gunicorn.py", **{name: value})
    assert web.wait(20) != 0
    assert name in web.text()


def test_two_worker_processes_share_the_port(stack):
    web = stack.start_web(WEB_CONCURRENCY="2")
    wait_until(lambda: web.text().count("Booting worker") == 2)
    assert all(answers(f"{stack.base_url}/healthz") for _ in range(10))
