"""Video and 3D params and their inputs."""

from typing import Any

import pytest

from adapters.base import MediaInput, TaskRequest
from common.errors import InvalidRequest
from tests.tasks.param_requests import OWN_ASSET, data_url, media, parse, video


def refusal(given: dict[str, Any], modality: str = "video") -> str:
    with pytest.raises(InvalidRequest) as caught:
        parse(modality, given)
    return caught.value.message


def test_every_video_field_reaches_the_request():
    given = video(generate_audio=True, provider_options={"seed": 7}, inputs=[media(id="a-1")])
    assert parse("video", given).request == TaskRequest(
        modality="video",
        prompt="a fox runs",
        duration=5,
        resolution="720p",
        aspect_ratio="16:9",
        generate_audio=True,
        inputs=(MediaInput(type="image", role="reference", url="https://cdn.example.com/a.png", id="a-1"),),
        provider_options={"seed": 7},
    )


@pytest.mark.parametrize("name", ["prompt", "duration", "resolution", "aspect_ratio"])
def test_the_four_required_fields_are_required(name: str):
    given = video()
    del given[name]
    assert refusal(given) == f"params.{name} is required."
    assert refusal(given | {name: None}) == f"params.{name} is required."


@pytest.mark.parametrize("name", ["prompt", "resolution", "aspect_ratio"])
@pytest.mark.parametrize("value", ["", " \n", 720, True, ["720p"], {}])
def test_the_required_strings_must_not_be_empty(name: str, value: object):
    assert refusal(video(**{name: value})) == f"params.{name} must be a non-empty string."


@pytest.mark.parametrize("duration", [0, -1, 86_401, 2**63 - 1, 5.0, 1.5, "5", True, [5], {}])
def test_a_bad_duration_is_refused(duration: object):
    assert refusal(video(duration=duration)) == "params.duration must be an integer from 1 to 86400."


@pytest.mark.parametrize("duration", [1, 86_400])
def test_a_duration_from_a_second_to_a_day_is_accepted(duration: int):
    assert parse("video", video(duration=duration)).request.duration == duration


@pytest.mark.parametrize("value", [0, 1, "true", "", [], {}])
def test_generate_audio_must_be_a_boolean(value: object):
    assert refusal(video(generate_audio=value)) == "params.generate_audio must be true or false."


@pytest.mark.parametrize("value", [True, False, None])
def test_generate_audio_keeps_absence_and_false_apart(value: bool | None):
    assert parse("video", video(generate_audio=value)).request.generate_audio is value


@pytest.mark.parametrize("name", ["extra_body", "n", "image_size", "images", "size", "fps", "negative_prompt"])
def test_a_field_that_video_does_not_have_is_refused_by_name(name: str):
    assert refusal(video(**{name: {}})).startswith(f"params.{name} is not supported")


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("image", "first_frame"),
        ("image", "last_frame"),
        ("image", "reference"),
        ("video", "reference"),
        ("audio", "reference"),
    ],
)
def test_the_roles_of_the_interface_are_accepted(kind: str, role: str):
    assert parse("video", video(inputs=[media(type=kind, role=role)])).request.inputs[0].role == role


@pytest.mark.parametrize("kind", ["video", "audio"])
@pytest.mark.parametrize("role", ["first_frame", "last_frame"])
def test_only_images_are_frames(kind: str, role: str):
    assert refusal(video(inputs=[media(type=kind, role=role)])).startswith("params.inputs[0].role ")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"type": None}, "type"),
        ({"type": "text"}, "type"),
        ({"type": ["image"]}, "type"),
        ({"role": None}, "role"),
        ({"role": "style"}, "role"),
        ({"role": {}}, "role"),
        ({"url": None}, "url"),
        ({"url": ""}, "url"),
        ({"url": 1}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": "/tmp/a.png"}, "url"),
        ({"url": "C:\\a.png"}, "url"),
        ({"url": data_url()}, "url"),
        ({"url": "https://api.ours.example/v1/tasks/task_1/assets/0"}, "url"),
        ({"id": ""}, "id"),
        ({"id": "a b"}, "id"),
        ({"id": "a.b"}, "id"),
        ({"id": "é"}, "id"),
        ({"id": "a\n"}, "id"),
        ({"id": 1}, "id"),
        ({"weight": 1}, "weight"),
        ({"image_url": "https://a.example.com/"}, "image_url"),
    ],
)
def test_a_bad_input_is_refused_by_path(changes: dict[str, Any], name: str):
    assert refusal(video(inputs=[media(), media(**changes)])).startswith(f"params.inputs[1].{name} ")


@pytest.mark.parametrize("inputs", [{}, "x", 1, [None], ["https://a.example.com/"], [[media()]]])
def test_inputs_must_be_an_array_of_objects(inputs: object):
    assert refusal(video(inputs=inputs)).startswith("params.inputs")


def test_sixteen_inputs_are_accepted_and_seventeen_refused():
    assert len(parse("video", video(inputs=[media()] * 16)).request.inputs) == 16
    assert refusal(video(inputs=[media()] * 17)) == "params.inputs must have at most 16 elements."


@pytest.mark.parametrize("role", ["first_frame", "last_frame"])
def test_each_frame_can_be_given_once(role: str):
    assert refusal(video(inputs=[media(role=role), media(), media(role=role)])).startswith("params.inputs[2].role ")
    assert len(parse("video", video(inputs=[media(role="first_frame"), media(role="last_frame")])).request.inputs) == 2


def test_ids_are_unique_within_the_task():
    assert refusal(video(inputs=[media(id="a"), media(id="a")])).startswith("params.inputs[1].id ")
    assert (
        len(parse("video", video(inputs=[media(id="a"), media(id="A"), media(), media(id=None)])).request.inputs) == 4
    )


def test_an_own_signed_asset_chains_into_a_video():
    assert parse("video", video(inputs=[media(url=OWN_ASSET)])).request.inputs[0].url == OWN_ASSET
    assert refusal(video(inputs=[media(url=OWN_ASSET + "x")])).endswith("must not point at this service.")


@pytest.mark.parametrize("given", [{"prompt": "a cup"}, {"inputs": [media()]}, {"prompt": "a cup", "inputs": []}])
def test_3d_needs_a_prompt_or_inputs(given: dict[str, Any]):
    assert parse("3d", given).request.modality == "3d"


@pytest.mark.parametrize("given", [{}, {"inputs": []}, {"prompt": None, "inputs": None}, {"output_format": "glb"}])
def test_3d_without_prompt_and_inputs_is_refused(given: dict[str, Any]):
    assert refusal(given, "3d") == "params.prompt or params.inputs is required."


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"prompt": ""}, "params.prompt"),
        ({"output_format": ""}, "params.output_format"),
        ({"output_format": 1}, "params.output_format"),
        ({"inputs": [media(type="video")]}, "params.inputs[0].type"),
        ({"inputs": [media(role="first_frame")]}, "params.inputs[0].role"),
        ({"inputs": [media(url=data_url())]}, "params.inputs[0].url"),
        ({"inputs": [media()] * 17}, "params.inputs"),
        ({"extra_body": []}, "params.extra_body"),
        ({"extra_body": {"api_key": "k"}}, "params.extra_body.api_key"),
        ({"provider_options": {}}, "params.provider_options"),
        ({"duration": 5}, "params.duration"),
        ({"images": []}, "params.images"),
    ],
)
def test_bad_3d_params_are_refused_by_path(changes: dict[str, Any], path: str):
    assert refusal({"prompt": "a cup", **changes}, "3d").startswith(f"{path} ")


def test_every_3d_field_reaches_the_request():
    request = parse("3d", {"prompt": "a cup", "output_format": "any", "extra_body": {"rig": True}}).request
    assert (request.prompt, request.output_format, request.extra_body) == ("a cup", "any", {"rig": True})
