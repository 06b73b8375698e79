"""Whole messages in `extra_body` of a submission: taken where they hold text and inline pictures, else named."""

import base64
from typing import Any

import pytest

from catalog.models import Channel, ChannelModel, MediaModel, Plan
from tasks.models import Task
from tests.rows import make_channel, make_route
from tests.tasks_api.asking import Api, error_of, image_task, refused

NO_ROUTE = (400, "TASK_NO_CAPABLE_ROUTE")
PNG = b"\x89PNG\r\n\x1a\n"


def picture(content: bytes = PNG) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(content).decode()}}


def contents(*parts: Any) -> dict[str, Any]:
    return {"contents": [{"parts": [{"text": "an owl"}, *parts]}]}


@pytest.fixture
def gemini(image_model: MediaModel, image_channel: Channel) -> MediaModel:
    image_channel.adapter = "gemini_generate_content"
    image_channel.save()
    return image_model


def test_contents_cost_what_the_final_request_makes(api: Api, gemini: MediaModel) -> None:
    given = contents(picture()) | {"imageConfig": {"imageSize": "2K"}}
    answer = api.submit(image_task(n=2, extra_body=given))
    assert answer.status_code == 202, answer.content
    assert answer.json()["estimated_cost"] == 0.16
    for odd in (contents(picture(b"no picture")), contents({"fileData": {"fileUri": "https://x.example.com/a"}})):
        answer = api.submit(image_task(extra_body=odd))
        assert refused(answer) == NO_ROUTE
        assert "params.extra_body.contents[0].parts[1]." in error_of(answer)["message"]


def test_their_pictures_count_against_the_models_maximum(api: Api, gemini: MediaModel) -> None:
    most = gemini.params["images"]["max"]
    assert api.submit(image_task(extra_body=contents(*[picture()] * most))).status_code == 202
    answer = api.submit(image_task(extra_body=contents(*[picture()] * (most + 1))))
    assert refused(answer) == NO_ROUTE
    assert "params.extra_body.contents" in error_of(answer)["message"]


def test_a_route_that_knows_the_messages_takes_them(
    api: Api, image_model: MediaModel, image_channel: Channel, plan: Plan
) -> None:
    assert refused(api.submit(image_task(extra_body=contents()))) == NO_ROUTE
    channel = make_channel("second", "gemini_generate_content", "https://second.provider.example")
    make_route(plan, image_model, channel, upstream_model="m", priority=2)
    task_id = api.submitted(image_task(extra_body=contents()))
    routes = Task.objects.get(id=task_id).payload.trace["routes"]
    assert {route["channel"]: route["kept"] for route in routes} == {"studio": False, "second": True}


def test_large_messages_count_as_stored_inputs(api: Api, gemini: MediaModel) -> None:
    small, large = (contents(picture(PNG + bytes(size))) for size in (1_000, 64 * 1024))
    tasks = [Task.objects.get(id=api.submitted(image_task(extra_body=given))) for given in (small, large)]
    assert [task.input_bytes > 0 for task in tasks] == [False, True]


def test_the_channel_model_may_narrow_them(api: Api, gemini: MediaModel) -> None:
    ChannelModel.objects.update(capabilities={"max_images": 1, "prompt_max": 10})
    assert api.quote(image_task(extra_body=contents(picture()))).status_code == 200
    for odd in (contents(picture(), picture()), contents({"text": ", or two"})):
        assert refused(api.quote(image_task(extra_body=odd))) == NO_ROUTE
