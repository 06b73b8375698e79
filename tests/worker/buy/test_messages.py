"""Whole messages of `extra_body`: what the provider gets in the place of prompt and images."""

import base64
import io

import pytest
from PIL import Image

from tasks.models import TaskPayload
from tests.tasks import steps
from tests.worker.driving import assets, call, task
from tests.worker.protocols import LANES

pytestmark = [pytest.mark.django_db(transaction=True)]
IMAGES = [{"image_url": "https://x.example.com/never-fetched.png"}]


def png() -> str:
    file = io.BytesIO()
    Image.new("RGB", (64, 64)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def contents() -> dict[str, object]:
    inline = {"inlineData": {"mimeType": "image/png", "data": png()}}
    return {"contents": [{"role": "user", "parts": [{"text": "an owl"}, inline]}]}


def messages() -> dict[str, object]:
    content = [{"image": f"data:image/png;base64,{png()}"}, {"text": "an owl"}]
    return {"input": {"messages": [{"role": "user", "content": content}]}}


@pytest.mark.parametrize(("name", "given"), [("gemini", contents), ("dashscope-image", messages)])
def test_messages_are_bought_in_the_place_of_prompt_and_images(name, given, shift, key, plan, sandbox):
    lane = next(lane for lane in LANES if lane.name == name)
    lane.install(plan, sandbox)
    plain = steps.submitted(key, lane.body("a fox"))
    task_id = steps.submitted(key, lane.body("a fox", images=IMAGES, extra_body=given()))
    assert (shift.work(plain), shift.work(task_id), len(assets(task_id))) == ("succeeded", "succeeded", 1)
    assert sandbox.audit()["by_prompt"] == {"a fox": 1, "an owl": 1}
    assert task(task_id).actual_micros == 40_000
    assert TaskPayload.objects.get(task_id=task_id).params["extra_body"] == given()
    assert call(task_id).request_digest != call(plain).request_digest
