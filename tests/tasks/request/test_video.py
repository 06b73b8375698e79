"""Video and 3D params and their inputs."""

from typing import Any

from adapters.base import MediaInput, TaskRequest
from tests.tasks.request import param_requests
from tests.tasks.request.param_requests import OWN_ASSET, data_url, media, parse, video


def refusal(given: dict[str, Any], modality: str = "video") -> str:
    return param_requests.refusal(modality, given)


def test_every_video_field_reaches_the_request():
    given = video(generate_audio=True, provider_options={"seed": 7}, inputs=[media(id="a-1")])
    assert parse("video", given) == TaskRequest(
        modality="video",
        prompt="a fox runs",
        duration=5,
        resolution="720p",
        aspect_ratio="16:9",
        generate_audio=True,
        inputs=(MediaInput(type="image", role="reference", url="https://cdn.example.com/a.png", id="a-1"),),
        provider_options={"seed": 7},
    )


def test_the_four_required_fields_are_required():
    for name in ("prompt", "duration", "resolution", "aspect_ratio"):
        given = video()
        del given[name]
        assert refusal(given) == refusal(given | {name: None}) == f"params.{name} is required."


def test_a_duration_from_a_second_to_a_day_is_accepted():
    assert [parse("video", video(duration=seconds)).duration for seconds in (1, 86_400)] == [1, 86_400]


BAD: list[tuple[str, list[Any], str]] = [
    *((name, ["", " \n"], "must not be blank.") for name in ("prompt", "resolution", "aspect_ratio")),
    *((name, [720, True, ["720p"], {}], "must be a string.") for name in ("prompt", "resolution", "aspect_ratio")),
    ("duration", [0, -1, 86_401, 2**63 - 1, 5.0, 1.5, "5", True, [5], {}], "must be an integer from 1 to 86400."),
    ("generate_audio", [0, 1, "true", "", [], {}], "must be true or false."),
    ("extra_body", [{}], "is not supported; use params.provider_options."),
    *((name, [{}, None], "is not supported.") for name in ("n", "image_size", "images", "size", "fps")),
]


def test_a_bad_field_is_refused_by_name():
    for name, values, reason in BAD:
        for value in values:
            assert refusal(video(**{name: value})) == f"params.{name} {reason}", value


def test_generate_audio_keeps_absence_and_false_apart():
    for value in (True, False, None):
        assert parse("video", video(generate_audio=value)).generate_audio is value


def test_the_roles_of_the_interface_are_accepted():
    images = [("image", role) for role in ("first_frame", "last_frame", "reference")]
    for kind, role in (*images, ("video", "reference"), ("audio", "reference")):
        assert parse("video", video(inputs=[media(type=kind, role=role)])).inputs[0].role == role, kind


def test_only_images_are_frames():
    for kind, role in (("video", "first_frame"), ("audio", "last_frame")):
        assert refusal(video(inputs=[media(type=kind, role=role)])).startswith("params.inputs[0].role "), kind


BAD_INPUTS: list[tuple[dict[str, Any], str]] = [
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
]


def test_a_bad_input_is_refused_by_path():
    for changes, name in BAD_INPUTS:
        assert refusal(video(inputs=[media(), media(**changes)])).startswith(f"params.inputs[1].{name} "), changes


def test_inputs_must_be_an_array_of_objects():
    for inputs in ({}, "x", 1, [None], ["https://a.example.com/"], [[media()]]):
        assert refusal(video(inputs=inputs)).startswith("params.inputs"), inputs


def test_sixteen_inputs_are_accepted_and_seventeen_refused():
    assert len(parse("video", video(inputs=[media()] * 16)).inputs) == 16
    assert refusal(video(inputs=[media()] * 17)) == "params.inputs must have at most 16 elements."


def test_each_frame_can_be_given_once():
    for role in ("first_frame", "last_frame"):
        twice = [media(role=role), media(), media(role=role)]
        assert refusal(video(inputs=twice)).startswith("params.inputs[2].role "), role
    assert len(parse("video", video(inputs=[media(role="first_frame"), media(role="last_frame")])).inputs) == 2


def test_ids_are_unique_within_the_task():
    assert refusal(video(inputs=[media(id="a"), media(id="a")])).startswith("params.inputs[1].id ")
    assert len(parse("video", video(inputs=[media(id="a"), media(id="A"), media(), media(id=None)])).inputs) == 4


def test_an_own_signed_asset_is_refused_and_told_by_what_a_result_chains_into_a_video():
    said = refusal(video(inputs=[media(url=OWN_ASSET)]))
    assert said.startswith("params.inputs[0].url must not point at this service")
    assert said.endswith("given as asset:<task id>/<index>.")


def test_3d_needs_a_prompt_or_inputs():
    for given in ({"prompt": "a cup"}, {"inputs": [media()]}, {"prompt": "a cup", "inputs": []}):
        assert refusal(given, "3d") == ""
    for given in ({}, {"inputs": []}, {"prompt": None, "inputs": None}, {"output_format": "glb"}):
        assert refusal(given, "3d") == "params.prompt or params.inputs is required.", given


BAD_3D: list[tuple[dict[str, Any], str]] = [
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
]


def test_bad_3d_params_are_refused_by_path():
    for changes, path in BAD_3D:
        assert refusal({"prompt": "a cup", **changes}, "3d").startswith(f"{path} "), changes


def test_every_3d_field_reaches_the_request():
    request = parse("3d", {"prompt": "a cup", "output_format": "any", "extra_body": {"rig": True}})
    assert (request.prompt, request.output_format, request.extra_body) == ("a cup", "any", {"rig": True})
