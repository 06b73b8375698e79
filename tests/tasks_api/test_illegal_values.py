"""Values of `extra_body` that are none of their upstream field: 400, naming the field; never a missing price."""

import pytest

from catalog.models import Channel, ChannelModel, MediaModel, Plan
from tests.adapters.illegal_values import PROTOCOLS, nested
from tests.rows import make_channel, make_route
from tests.tasks_api.asking import Api, error_of, image_task, named, refused

NO_PRICE = (503, "TASK_PRICING_UNAVAILABLE")
NO_ROUTE = (400, "TASK_NO_CAPABLE_ROUTE")


def serve(channel: Channel, name: str) -> None:
    """From now on the channel is of this protocol."""
    channel.adapter, channel.options = PROTOCOLS[name].adapter, dict(PROTOCOLS[name].options)
    channel.save()
    capabilities = dict(PROTOCOLS[name].capabilities)
    ChannelModel.objects.filter(channel=channel).update(upstream_model="qwen-image-3", capabilities=capabilities)


@pytest.fixture
def second(image_model: MediaModel, plan: Plan) -> Channel:
    channel = make_channel("second", "openai_images", "https://second.provider.example/v1")
    make_route(plan, image_model, channel, upstream_model="m", priority=2)
    return channel


@pytest.mark.parametrize("name", PROTOCOLS)
def test_such_a_value_is_an_invalid_request_that_names_the_field(
    api: Api, image_model: MediaModel, image_channel: Channel, name: str
) -> None:
    serve(image_channel, name)
    for path, values in PROTOCOLS[name].never.items():
        for value in (values[0], values[-1]):
            task = image_task(aspect_ratio="1:1", extra_body=nested(path, value))
            for answer in (api.quote(task), api.submit(task)):
                assert named(answer).startswith(f"params.extra_body.{path}"), (path, value, answer.content)


def test_the_refusal_says_what_would_be_legal(api: Api, image_model: MediaModel) -> None:
    message = error_of(api.submit(image_task(extra_body={"size": "junk"})))["message"]
    assert message == "params.extra_body.size must be a size in pixels such as 1024x1024, or auto."


def test_a_legal_value_without_a_price_stays_one(api: Api, image_model: MediaModel, image_channel: Channel) -> None:
    for name, path, value in [
        ("openai", "size", "auto"),
        ("openai", "size", "9000x9000"),
        ("ark", "size", "4K"),
        ("gemini", "imageConfig.imageSize", "4K"),
        ("dashscope", "size", "4K"),
        ("openrouter", "resolution", "768"),
        ("words", "tier", "8K"),
    ]:
        serve(image_channel, name)
        answer = api.quote(image_task(aspect_ratio="1:1", extra_body=nested(path, value)))
        assert refused(answer) == NO_PRICE, (name, value)


def test_a_value_that_is_legal_on_one_route_goes_there(
    api: Api, image_model: MediaModel, image_channel: Channel, second: Channel
) -> None:
    serve(second, "ark")
    assert api.quote(image_task(extra_body={"size": "2K"})).json()["estimated_cost"] == 0.08
    assert named(api.quote(image_task(extra_body={"size": "junk"}))) == "params.extra_body.size"


def test_a_route_without_such_a_field_makes_no_illegal_value_legal(
    api: Api, image_model: MediaModel, image_channel: Channel, second: Channel
) -> None:
    serve(second, "gemini")
    assert named(api.quote(image_task(extra_body={"size": "junk"}))) == "params.extra_body.size"
    config = {"imageConfig": {"imageSize": "junk"}}
    field = "params.extra_body.generationConfig.imageConfig.imageSize"
    assert named(api.quote(image_task(extra_body={"generationConfig": config}))) == field


def test_a_legal_value_that_fails_elsewhere_is_no_invalid_request(
    api: Api, image_model: MediaModel, image_channel: Channel, second: Channel
) -> None:
    serve(second, "ark")
    answer = api.quote(image_task(extra_body={"size": "2K", "output_compression": 80}))
    assert refused(answer) == NO_ROUTE
