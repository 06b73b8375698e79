"""The receivers and snippets of docs/callbacks.md, run as they are against real signed deliveries."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
from standardwebhooks import WebhookVerificationError

from callbacks import deliveries, signing
from tests.callbacks import steps
from tools.children import PATIENCE, Child
from tools.stack import ROOT

FOLDER = ROOT / "docs" / "receivers"
PAGE = (ROOT / "docs" / "callbacks.md").read_text(encoding="utf-8")
NODE, NPM = shutil.which("node"), shutil.which("npm")
needs_node = pytest.mark.skipif(NODE is None, reason="the JavaScript receiver needs node, which is not installed")
LANGUAGES = [
    pytest.param([sys.executable, "receiver.py"], id="python"),
    pytest.param([NODE or "node", "receiver.mjs"], id="javascript", marks=needs_node),
]


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(params=LANGUAGES)
def receiver(request: pytest.FixtureRequest, tmp_path: Path, key) -> Iterator[Child]:
    program, file = request.param
    environment = {**os.environ, "TASK_API_KEY": key.secret, "PORT": "0", "PYTHONWARNINGS": "default"}
    files = {"DATABASE": str(tmp_path / "received.sqlite3"), "SEEN_FILE": str(tmp_path / "received.txt")}
    command = [program, str(FOLDER / file)]
    child = Child("receiver", command, environment={**environment, **files}, log=tmp_path / "log")
    child.url = child.wait_for_line(r"listening on (http://\S+)")[1]
    yield child
    child.stop()


def send(url: str, owed) -> tuple[str, int | None]:
    """Owe a callback and make its first attempt; the task and what the receiver answered."""
    task_id = owed(url)
    due = steps.claimed_one()
    outcome = steps.sent(due)
    deliveries.record(due, outcome)
    return task_id, outcome.status_code


@pytest.mark.django_db(transaction=True)
def test_a_receiver_takes_a_delivery_once_however_often_it_comes(receiver, owed):
    task_id, status = send(receiver.url, owed)
    assert status == 204
    deliveries.redeliver(task_id)
    due = steps.claimed_one()
    assert steps.sent(due).status_code == 204
    receiver.wait_for_line(f"^again {task_id}.1")
    assert receiver.text().count(f"new {task_id}.1 task.succeeded") == 1


@pytest.mark.django_db(transaction=True)
def test_a_receiver_refuses_the_delivery_of_another_key(receiver, owed, other_key):
    _, status = send(receiver.url, lambda url: owed(url, of=other_key))
    assert status == 401


def post(receiver: Child, key: str, *, age: int = 0, **change: str) -> int:
    """Send a signed callback of that age with some headers changed; the status of the answer."""
    body = b'{"id":"task_x.1","type":"task.failed","data":{"task":{"id":"task_x","status":"failed"}}}'
    headers = signing.headers(key, delivery_id="task_x.1", timestamp=int(time.time()) - age, body=body)
    changed = {f"X-SERVICE-{name}": value for name, value in change.items()}
    return requests.post(receiver.url, data=body, headers={**headers, **changed}, timeout=PATIENCE).status_code


@pytest.mark.django_db(transaction=True)
def test_a_receiver_refuses_what_is_forged_or_out_of_its_window(receiver, key):
    assert post(receiver, key.secret, age=150) == 204
    assert [post(receiver, key.secret, age=age) for age in (301, -600)] == [401, 401]
    assert post(receiver, "dr-task-another") == 401
    assert post(receiver, key.secret, Delivery="task_y.1") == 401
    assert [post(receiver, key.secret, Timestamp=text) for text in ("", "soon", "9" * 5000)] == [401] * 3
    assert [post(receiver, key.secret, Signature=text) for text in ("", "v1=", "v1=" + "0" * 64)] == [401] * 3


@pytest.mark.parametrize(("language", "file"), [("python", "receiver.py"), ("js", "receiver.mjs")])
def test_the_check_by_hand_on_the_page_is_the_receivers(language, file):
    assert snippets(language)[0] in (FOLDER / file).read_text(encoding="utf-8")
    assert len(snippets(language)[0].splitlines()) <= 15


def signed(key: str = "dr-task-x") -> tuple[dict[str, str], bytes]:
    body = json.dumps({"id": "task_x.1", "name": "größe"}, ensure_ascii=False).encode()
    return signing.headers(key, delivery_id="task_x.1", timestamp=int(time.time()), body=body), body


def test_the_python_library_verifies_as_the_page_says():
    page: dict[str, Callable[..., object]] = {}
    exec(snippets("python")[1], page)
    headers, body = signed()
    assert page["verified"]("dr-task-x", headers, body) == json.loads(body)
    with pytest.raises(WebhookVerificationError):
        page["verified"]("dr-task-another", headers, body)


@pytest.mark.slow
@pytest.mark.skipif(NPM is None, reason="needs npm")
def test_the_javascript_library_verifies_as_the_page_says(tmp_path):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FOLDER / name, tmp_path)
    install = [NPM or "", "ci", "--no-audit", "--no-fund"]
    subprocess.run(install, cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=True)
    (tmp_path / "page.mjs").write_text(snippets("js")[1], encoding="utf-8")
    (tmp_path / "run.mjs").write_text(
        'import { verified } from "./page.mjs";\n'
        "const [headers, body] = JSON.parse(process.argv[2]);\n"
        'console.log(verified("dr-task-x", headers, Buffer.from(body)).id);\n'
        'try { verified("dr-task-y", headers, Buffer.from(body)); } catch (error) { console.log(error.message); }\n'
    )
    headers, body = signed()
    command = [NODE or "", str(tmp_path / "run.mjs"), json.dumps([headers, body.decode()])]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert answer.stdout.splitlines() == ["task_x.1", "No matching signature found"]
