"""No log of any process shows a key, a credential, a Data URL, a signed query or an Authorization header."""

import base64
import secrets

import pytest

from tests.flows.conftest import ended, submitted
from tests.tasks.request.param_requests import data_url, media
from tests.tasks_api.asking import image_task, video_task

pytestmark = pytest.mark.slow


def test_no_canary_is_in_any_log(service):
    stranger, signature = f"dr-task-{secrets.token_hex(20)}", secrets.token_hex(20)
    url = data_url(content=b"\x89PNG\r\n\x1a\n" + secrets.token_bytes(300))
    signed = ended(service.client, submitted(service.client, image_task()))["assets"][0]["url"]
    bodies = [
        image_task(images=[{"image_url": url}]),
        image_task(images=[{"image_url": url + "!"}]),
        image_task(images=[{"image_url": f"http://127.0.0.1:18099/a.png?X-Amz-Signature={signature}"}]),
        image_task(prompt="a fox [garbage]"),
        image_task(prompt="a fox [status=401]"),
        image_task(extra_body={"api_key": stranger}),
        video_task(inputs=[media(url=f"https://cdn.example.com/a.png?sig={signature}")]),
        video_task(prompt="a fox [poll:fail=1]"),
        {**image_task(), "callback_url": f"http://127.0.0.1:18099/hook?token={signature}"},
    ]
    answers = [service.client.post("/v1/tasks", json=body) for body in bodies]
    assert {answer.status_code for answer in answers} == {202, 400}
    accepted = [answer.json()["id"] for answer in answers if answer.status_code == 202]
    for task_id in accepted:
        ended(service.client, task_id)
    # The refused credential is disabled now: other flows need it.
    service.load_catalog(service.credential, "another")
    service.load_catalog()
    for link in (signed, f"{signed}0"):
        service.client.get(link.removeprefix(service.stack.base_url))
    service.client.get(f"/v1/tasks?metadata.token={signature}&signature={signature}")
    service.client.post("/v1/tasks", data=url.encode() + b"\xff", headers={"Content-Type": "application/json"})
    service.stack.client(stranger).get("/v1/tasks")
    service.stack.client().get("/v1/tasks", auth=("user", stranger))

    canaries = {
        "the key": service.key.removeprefix("dr-task-"),
        "an unknown key": stranger.removeprefix("dr-task-"),
        "basic authorization": base64.b64encode(f"user:{stranger}".encode()).decode(),
        "the credential": service.credential,
        "the data url": url[40:80],
        "a signature of ours": signed.partition("signature=")[2],
        "a signature of others": signature,
    }
    logs = {child.log.name: child.text() for child in service.stack.children}
    assert sorted(logs) == ["sandbox.log", "web.log", "worker.log"]
    for name in ("web.log", "worker.log"):
        assert any(task_id in logs[name] for task_id in accepted)
    found = [(what, name) for what, canary in canaries.items() for name, text in logs.items() if canary in text]
    assert found == []
