"""Bodies through the real front: as large as Data URLs make them, and refused before anything else when larger."""

import base64
import json

import pytest

from tests.api.asking import SUBMISSION_FIELDS, image_task
from tests.flows.conftest import submitted
from tests.tasks.param_requests import data_url

pytestmark = pytest.mark.slow
MEGABYTE = 1024 * 1024
STORED = """
from tasks.models import TaskPayload
from django.core import serializers
payload = TaskPayload.objects.select_related("task").get(task_id="{}")
print(len(serializers.serialize("json", [payload, payload.task])))
"""


def large_picture(megabytes: float) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes(int(megabytes * MEGABYTE))


def test_thirty_megabytes_of_data_urls_are_taken_and_leave_a_small_row(service):
    url = data_url(content=large_picture(7.4))
    body = image_task(prompt="foxes [slow=1]", images=[{"image_url": url}] * 3)
    assert len(json.dumps(body)) > 29 * MEGABYTE
    task_id = submitted(service.client, body)
    assert int(service.stack.manage("shell", "-v", "0", "-c", STORED.format(task_id)).stdout) < 4_000
    files = [file for file in (service.stack.folder / "assets" / "inputs").rglob("*") if file.is_file()]
    assert [file.stat().st_size for file in files if file.stat().st_size > MEGABYTE] == [len(large_picture(7.4))] * 3


def test_a_body_over_the_limit_is_refused_before_the_key_is_looked_at(service):
    anyone = service.stack.client()
    response = anyone.post("/v1/tasks", data=bytes(33 * MEGABYTE), headers={"Idempotency-Key": "\xff"})
    assert (response.status_code, response.json()["error"]["type"]) == (413, "TASK_REQUEST_TOO_LARGE")


def test_a_chunked_body_over_the_limit_is_refused_while_it_is_read(service):
    pieces = (bytes(MEGABYTE) for _ in range(34))
    response = service.client.post("/v1/tasks", data=pieces, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["error"]["type"]) == (413, "TASK_REQUEST_TOO_LARGE")


def test_a_chunked_body_is_read_without_a_length(service):
    pieces = (json.dumps(image_task())[n : n + 10].encode() for n in range(0, 200, 10))
    response = service.client.post("/v1/tasks", data=pieces, headers={"Content-Type": "application/json"})
    assert (response.status_code, list(response.json())) == (202, SUBMISSION_FIELDS)


def test_a_large_body_that_is_no_json_is_a_400(service):
    response = service.client.post(
        "/v1/tasks", data=base64.b64encode(bytes(20 * MEGABYTE)), headers={"Content-Type": "application/json"}
    )
    assert (response.status_code, response.json()["error"]["type"]) == (400, "TASK_INVALID_REQUEST")
