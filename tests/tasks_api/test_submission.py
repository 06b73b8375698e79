"""A submission: which requests become tasks, the 202, and the field that a refusal names."""

import re

import pytest

from catalog.models import ModelName, Route
from tasks.models import Task, TaskEvent, TaskPayload
from tests.rows import make_channel, make_model, make_route
from tests.tasks.request.param_requests import data_url, media
from tests.tasks_api.asking import SUBMISSION_FIELDS, TIME, error_of, image_task, named, refused, video_task


def test_a_new_task_answers_202_with_exactly_six_fields(api, image_model):
    response = api.submit()
    answer = response.json()
    assert response.status_code == 202
    assert list(answer) == SUBMISSION_FIELDS
    assert re.fullmatch(r"task_[0-9a-hjkmnp-tv-z]{26}", answer.pop("id"))
    assert TIME.fullmatch(answer.pop("created_at"))
    assert answer == {"status": "queued", "modality": "image", "model": "aurora-image", "estimated_cost": 0.04}


def test_the_task_shows_what_the_202_promised(api, image_model):
    answer = api.submit().json()
    task = api.task(answer["id"])
    assert {name: task[name] for name in SUBMISSION_FIELDS} == answer


def test_the_headers_of_a_202_tell_where_and_when_to_look(api, image_model):
    response = api.submit()
    assert response.headers["Location"] == f"/v1/tasks/{response.json()['id']}"
    assert response.headers["Retry-After"] == "1"
    assert api.get(response.headers["Location"]).json()["id"] == response.json()["id"]


def test_ids_are_ordered_by_time(api, image_model):
    assert api.submitted() < api.submitted() < api.submitted()


def test_the_estimated_cost_is_held(api, image_model, account):
    api.submitted(image_task(n=3))
    account.refresh_from_db()
    assert (account.balance_micros, account.held_micros) == (10_000_000, 120_000)


def test_a_submission_is_an_event(api, image_model):
    task_id = api.submitted()
    assert list(TaskEvent.objects.values_list("task_id", "status")) == [(task_id, "queued")]


def test_a_video_task_is_accepted(api, video_model):
    answer = api.submit(video_task(generate_audio=True, inputs=[media()])).json()
    assert (answer["modality"], answer["estimated_cost"]) == ("video", 0.5)


def test_the_modality_is_taken_from_the_model_where_it_has_one(api, image_model, video_model):
    for body, modality in ((image_task(), "image"), (video_task(), "video")):
        del body["modality"]
        assert api.submit(body).json()["modality"] == modality


def test_a_modality_that_cannot_be_inferred_is_required(api, image_model, plan, video_channel):
    twin = make_model("aurora-image", "video", plan=plan, prices={"*": "0.1"})
    make_route(plan, twin, video_channel, upstream_model="seedance-1")
    body = image_task()
    del body["modality"]
    assert named(api.submit(body)) == "modality"
    assert api.submit(image_task()).json()["modality"] == "image"


def test_a_known_model_cannot_run_another_modality(api, image_model):
    assert refused(api.submit({**video_task(), "model": "aurora-image"})) == (400, "TASK_UNSUPPORTED_ADAPTER")
    assert refused(api.submit({**image_task(), "modality": "3d"})) == (400, "TASK_UNSUPPORTED_ADAPTER")


def test_an_alias_is_accepted_and_shown_as_it_was_sent(api, image_model):
    ModelName.objects.create(model=image_model, modality="image", name="aurora")
    body = {**image_task(model="aurora"), "model": "aurora"}
    answer = api.submit(body).json()
    assert answer["model"] == "aurora"
    assert api.task(answer["id"])["model"] == "aurora"
    assert api.get("/v1/tasks").json()["data"][0]["model"] == "aurora"


def test_params_model_must_equal_the_model_as_it_was_sent(api, image_model):
    ModelName.objects.create(model=image_model, modality="image", name="aurora")
    assert named(api.submit(image_task(model="aurora"))) == "params.model"
    assert api.submit(image_task(model="aurora-image")).status_code == 202


def test_an_unknown_model_is_not_available(api, image_model):
    for name in ("unheard-of", "AURORA-IMAGE", "aurora-image ", "gpt-image-2"):
        assert refused(api.submit({**image_task(), "model": name})) == (400, "TASK_UNSUPPORTED_MODEL"), name


@pytest.mark.parametrize("part", ["model", "channel", "channel_model", "route"])
def test_what_is_disabled_is_not_available(api, image_model, part):
    route = Route.objects.get()
    parts = {
        "model": image_model,
        "channel": route.channel,
        "channel_model": route.channel.channel_models.get(),
        "route": route,
    }
    parts[part].enabled = False
    parts[part].save()
    assert refused(api.submit()) == (400, "TASK_UNSUPPORTED_MODEL")


def test_3d_is_validated_and_then_has_no_adapter(api, plan):
    make_model("marble", "3d", plan=plan, prices={"*": "1"}, pricing_mode="per_request")
    body = {"model": "marble", "modality": "3d", "params": {}}
    assert named(api.submit(body)) == "params.prompt"
    body["params"] = {"inputs": [media(role="first_frame")]}
    assert named(api.submit(body)) == "params.inputs[0].role"
    body["params"] = {"prompt": "a fox", "inputs": [media()], "output_format": "glb", "extra_body": {"rig": True}}
    assert refused(api.submit(body)) == (400, "TASK_UNSUPPORTED_ADAPTER")
    assert refused(api.quote(body)) == (400, "TASK_UNSUPPORTED_ADAPTER")


BAD = {
    "model missing": ({"params": {}}, "model"),
    "model null": ({**image_task(), "model": None}, "model"),
    "model number": ({**image_task(), "model": 1}, "model"),
    "params missing": ({"model": "aurora-image"}, "params"),
    "params null": ({**image_task(), "params": None}, "params"),
    "params array": ({**image_task(), "params": []}, "params"),
    "modality unknown": ({**image_task(), "modality": "audio"}, "modality"),
    "modality true": ({**image_task(), "modality": True}, "modality"),
    "plan": ({**image_task(), "plan": "standard"}, "plan"),
    "unknown field": ({**image_task(), "priority": 1}, "priority"),
    "prompt outside": ({**image_task(), "prompt": "a fox"}, "prompt"),
    "metadata array": ({**image_task(), "metadata": []}, "metadata"),
    "metadata nested": ({**image_task(), "metadata": {"order": {}}}, "metadata.order"),
    "metadata 51 keys": ({**image_task(), "metadata": {str(n): n for n in range(51)}}, "metadata"),
    "metadata long text": ({**image_task(), "metadata": {"order": "x" * 513}}, "metadata.order"),
    "callback not a URL": ({**image_task(), "callback_url": "receiver"}, "callback_url"),
    "callback private": ({**image_task(), "callback_url": "http://10.0.0.1/"}, "callback_url"),
    "callback loopback": ({**image_task(), "callback_url": "https://localhost/"}, "callback_url"),
    "callback user": ({**image_task(), "callback_url": "https://a:b@example.com/"}, "callback_url"),
    "callback fragment": ({**image_task(), "callback_url": "https://example.com/#a"}, "callback_url"),
    "callback too long": ({**image_task(), "callback_url": "https://example.com/" + "a" * 2029}, "callback_url"),
    "callback in params": (image_task(callback_url="https://example.com/"), "params.callback_url"),
    "image size": (image_task(size="1024x1024"), "params.size"),
    "image resolution": (image_task(resolution="1K"), "params.resolution"),
    "image generationConfig": (image_task(generationConfig={}), "params.generationConfig"),
    "image contents": (image_task(contents=[]), "params.contents"),
    "image plan": (image_task(plan="standard"), "params.plan"),
    "image without prompt": ({**image_task(), "params": {}}, "params.prompt"),
    "image empty prompt": (image_task(prompt=""), "params.prompt"),
    "image long prompt": (image_task(prompt="x" * 32_001), "params.prompt"),
    "image n zero": (image_task(n=0), "params.n"),
    "image n true": (image_task(n=True), "params.n"),
    "image n decimal": (image_task(n=1.0), "params.n"),
    "image n over the model's": (image_task(n=5), "params.n"),
    "image tier": (image_task(image_size="4K"), "params.image_size"),
    "image ratio": (image_task(aspect_ratio="9:16"), "params.aspect_ratio"),
    "image not an object": (image_task(images=["https://example.com/a.png"]), "params.images[0]"),
    "image url": (image_task(images=[{"image_url": data_url()}, {"image_url": "a"}]), "params.images[1].image_url"),
    "image data": (image_task(images=[{"image_url": "data:image/png;base64,AAAA"}]), "params.images[0].image_url"),
    "image credential": (image_task(extra_body={"a": [{"api_key": "x"}]}), "params.extra_body.a[0].api_key"),
    "image inputs": (image_task(inputs=[media()]), "params.inputs"),
    "video prompt": (video_task(prompt=" "), "params.prompt"),
    "video duration missing": (video_task(duration=None), "params.duration"),
    "video duration zero": (video_task(duration=0), "params.duration"),
    "video duration text": (video_task(duration="5"), "params.duration"),
    "video duration decimal": (video_task(duration=5.5), "params.duration"),
    "video duration too long": (video_task(duration=86_401), "params.duration"),
    "video resolution": (video_task(resolution=""), "params.resolution"),
    "video ratio": (video_task(aspect_ratio=None), "params.aspect_ratio"),
    "video audio": (video_task(generate_audio="yes"), "params.generate_audio"),
    "video extra_body": (video_task(extra_body={}), "params.extra_body"),
    "video n": (video_task(n=1), "params.n"),
    "video reserved": (video_task(provider_options={"duration": 9}), "params.provider_options.duration"),
    "video 17 inputs": (video_task(inputs=[media()] * 17), "params.inputs"),
    "video data url": (video_task(inputs=[media(url=data_url())]), "params.inputs[0].url"),
    "video path": (video_task(inputs=[media(url="/tmp/a.png")]), "params.inputs[0].url"),
    "video own address": (video_task(inputs=[media(url="https://api.ours.example/a")]), "params.inputs[0].url"),
    "video role": (video_task(inputs=[media(type="audio", role="first_frame")]), "params.inputs[0].role"),
    "video type": (video_task(inputs=[media(type="text")]), "params.inputs[0].type"),
    "video ids": (video_task(inputs=[media(id="a"), media(id="a")]), "params.inputs[1].id"),
    "video id": (video_task(inputs=[media(id="a b")]), "params.inputs[0].id"),
    "video input field": (video_task(inputs=[media(weight=1)]), "params.inputs[0].weight"),
}


def test_a_bad_field_is_named_by_its_path_and_nothing_is_stored(api, image_model, video_model):
    for name, (body, field) in BAD.items():
        assert named(api.submit(body)) == named(api.quote(body)) == field, name
    assert not Task.objects.exists()


def test_optional_fields_may_be_null(api, image_model, video_model):
    nothing = {"metadata": None, "callback_url": None}
    empty = dict.fromkeys(("n", "image_size", "aspect_ratio", "images", "extra_body", "model"))
    assert api.submit({**image_task(**empty), **nothing, "modality": None}).status_code == 202
    empty = dict.fromkeys(("generate_audio", "inputs", "provider_options", "model"))
    assert api.submit({**video_task(**empty), **nothing}).status_code == 202


def test_metadata_and_callback_are_kept(api, image_model):
    metadata = {"order": "A-17", "rush": True, "count": 2, "weight": 1.5, "note": None}
    task = api.task(api.submitted({**image_task(), "metadata": metadata, "callback_url": "https://example.com/hook"}))
    assert task["metadata"] == metadata
    assert task["callback"] == {"status": "pending", "attempts": 0, "next_attempt_at": None}


def test_data_urls_leave_only_a_reference_in_the_row(api, image_model):
    content = b"\x89PNG\r\n\x1a\n" + bytes(100_000)
    task_id = api.submitted(image_task(images=[{"image_url": data_url(content=content)}]))
    (stored,) = TaskPayload.objects.get(task_id=task_id).params["images"]
    assert stored["stored"]["size_bytes"] == len(content)
    assert len(str(TaskPayload.objects.values().get())) < 3_000


def test_a_route_that_cannot_express_the_request_is_skipped(api, video_model, plan):
    silent = make_channel("silent", "ark_content_tasks", "https://silent.provider.example/api/v3")
    make_route(plan, video_model, silent, upstream_model="old", priority=1)
    silent.channel_models.update(capabilities={"audio": "never"})
    assert api.quote(video_task()).json()["eligible_routes"] == 2
    assert api.quote(video_task(generate_audio=True)).json()["eligible_routes"] == 1


UNKNOWN_OPTIONS = {
    "unheard_of": 1,
    "ratio": "1:1",
    "content": [],
    "frames": 10,
    "seed": "one",
}


def test_options_that_no_route_knows_leave_no_capable_route(api, video_model):
    for name, value in UNKNOWN_OPTIONS.items():
        response = api.submit(video_task(provider_options={name: value}))
        assert refused(response) == (400, "TASK_NO_CAPABLE_ROUTE"), name
        assert f"params.provider_options.{name}" in error_of(response)["message"]
    assert api.submit(video_task(provider_options={"seed": 7, "watermark": False})).status_code == 202


def test_an_input_combination_that_no_route_builds_is_named(api, video_model):
    response = api.submit(video_task(inputs=[media(role="last_frame")]))
    assert refused(response) == (400, "TASK_NO_CAPABLE_ROUTE")
    assert "params.inputs[0].role" in error_of(response)["message"]


def test_no_refusal_names_a_channel_or_an_upstream_model(api, video_model):
    response = api.submit(video_task(provider_options={"unheard_of": 1}))
    for secret in ("cinema", "seedance", "provider.example", "ark"):
        assert secret not in error_of(response)["message"]
