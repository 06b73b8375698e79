"""Bodies through the real front, as large as Data URLs make them."""

import json

import pytest

from tests.flows.conftest import submitted
from tests.tasks.request.param_requests import data_url
from tests.tasks_api.asking import image_task

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
    body = image_task(images=[{"image_url": url}] * 3)
    assert len(json.dumps(body)) > 29 * MEGABYTE
    key = service.stack.manage_json("create_key", "tester", "--max-running", "0")["key"]
    task_id = submitted(service.stack.client(key), body)
    assert int(service.stack.manage("shell", "-v", "0", "-c", STORED.format(task_id)).stdout) < 4_000
    files = [file for file in (service.stack.folder / "assets" / "inputs").rglob("*") if file.is_file()]
    assert [file.stat().st_size for file in files if file.stat().st_size > MEGABYTE] == [len(large_picture(7.4))] * 3
