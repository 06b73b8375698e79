"""Which upstream fields a client may set: the others rule the route out and are named."""

import base64

import pytest

from catalog.models import ChannelModel
from desk.commands import explain
from tests.tasks import steps
from tests.tasks_api.asking import error_of, image_task, refused
from tests.worker.driving import loaded

NO_ROUTE = (400, "TASK_NO_CAPABLE_ROUTE")
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
pytestmark = pytest.mark.usefixtures("image_model")


def offer(**fields):
    ChannelModel.objects.update(**fields)


def message_of(response) -> str:
    assert refused(response) == NO_ROUTE
    return error_of(response)["message"]


def body_of(key, **params):
    return explain.shown(explain.explain(key.record, image_task(**params)))["request"]["body"]


def test_a_field_of_unknown_cost_rules_the_route_out_and_is_named(api):
    for extra_body, field in [
        ({"quality": "high"}, "quality"),
        ({"svg": {"model": "dearer"}}, "svg.model"),
        ({"svg[model]": "dearer"}, 'extra_body["svg[model]"]'),
        ({"unheard_of": 1}, "unheard_of"),
        ({"N": 4}, "N"),
    ]:
        message = message_of(api.submit(image_task(extra_body=extra_body)))
        assert f"{field}: is " in message or f"{field}: cannot " in message, extra_body
        assert refused(api.quote(image_task(extra_body=extra_body))) == NO_ROUTE


def test_a_field_that_the_operator_lets_pass_is_sent(api, key):
    offer(extra_fields=["quality"])
    assert api.submit(image_task(extra_body={"quality": "high"})).status_code == 202
    assert body_of(key, extra_body={"quality": "high"})["quality"] == "high"


def test_what_the_operator_fixed_is_sent_and_another_value_rules_the_route_out(api, key):
    offer(fixed={"quality": "medium"})
    assert body_of(key)["quality"] == "medium"
    assert api.submit(image_task(extra_body={"quality": "medium"})).status_code == 202
    assert "params.extra_body.quality" in message_of(api.submit(image_task(extra_body={"quality": "high"})))


def test_a_prompt_of_extra_body_is_checked_as_the_prompt(api):
    assert api.submit(image_task(extra_body={"prompt": "an owl"})).status_code == 202
    for prompt in ("", " \n", 7, [], "x" * 32_001):
        message = message_of(api.submit(image_task(extra_body={"prompt": prompt})))
        assert "params.extra_body.prompt" in message


def test_images_of_extra_body_are_checked_as_images(api, image_channel, settings):
    image_channel.adapter = "ark_images"
    image_channel.save()
    offer(capabilities={"max_images": 3})
    for image in ("https://x.example.com/a.png", [f"data:image/png;base64,{PNG}"] * 3):
        assert api.submit(image_task(extra_body={"image": image})).status_code == 202, image
    for image, field in [
        (["https://x.example.com/a.png"] * 4, "image"),
        ("http://169.254.169.254/latest", "image"),
        ("ftp://x.example.com/a.png", "image"),
        (["https://x.example.com/a.png", "http://10.0.0.1/"], "image[1]"),
        (f"{settings.PUBLIC_BASE_URL}/assets/x", "image"),
        (f"data:image/jpeg;base64,{PNG}", "image"),
        ("asset://1", "image"),
    ]:
        message = message_of(api.submit(image_task(extra_body={"image": image})))
        assert f" params.extra_body.{field}: " in message, image


def test_images_of_extra_body_are_no_more_than_the_model_takes(api, image_model, image_channel):
    image_channel.adapter = "ark_images"
    image_channel.save()
    image_model.params = {**image_model.params, "images": {"max": 1}}
    image_model.save()
    message = message_of(api.submit(image_task(extra_body={"image": ["https://x.example.com/a.png"] * 2})))
    assert message.endswith(" params.extra_body.image: must be at most 1 here.")


def test_the_fields_of_a_channel_model_are_frozen_on_the_paid_call(key):
    offer(fixed={"quality": "medium"}, extra_fields=["user"])
    job = loaded(steps.start(key, steps.worker()))
    assert (job.upstream.body["quality"], job.target.fixed) == ("medium", {"quality": "medium"})
    assert list(job.target.extra_fields) == ["user"]
