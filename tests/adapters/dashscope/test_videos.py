"""What a video request becomes in the DashScope protocol, what cannot be expressed, and what a job's answers mean.

What the protocols of this provider share is tested with the images: error codes, states, cancelling.
"""

import json
from typing import Any

import pytest
import responses

from adapters.base import (
    Accepted,
    Billed,
    Done,
    ErrorKind,
    MediaInput,
    Output,
    Pending,
    Target,
    TaskRequest,
    UpstreamError,
    UpstreamRequest,
)
from adapters.registry import ADAPTERS
from tests.adapters.making import API_KEY, connection_to, says_nothing_secret, video_request

adapter = ADAPTERS["dashscope_video"]
BASE = "https://dashscope.example.com/api/v1"
SUBMIT = f"{BASE}/services/aigc/video-generation/video-synthesis"
CONNECTION = connection_to(BASE)
FILM = "https://cdn.example.com/film.mp4?sig=1"
SIZES = {"720p": {"16:9": "1280x720"}}
LEGACY = {"generation": "legacy", "size_table": SIZES}


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def target(**capabilities: Any) -> Target:
    return Target(adapter="dashscope_video", base_url=BASE, upstream_model="wan3.0-video", capabilities=capabilities)


def item(kind: str, role: str) -> MediaInput:
    return MediaInput(type=kind, role=role, url=f"https://x.example.com/{kind}-{role}")  # type: ignore[arg-type]


FIRST, LAST = item("image", "first_frame"), item("image", "last_frame")
IMAGE, VIDEO, AUDIO = item("image", "reference"), item("video", "reference"), item("audio", "reference")


def built(capabilities: dict[str, Any] | None = None, **fields: Any) -> UpstreamRequest:
    request, aim = video_request(**fields), target(**(capabilities or {}))
    assert adapter.check(request, aim) == []
    return adapter.build(request, aim)


def fields(request: TaskRequest, **capabilities: Any) -> list[str]:
    return [problem.field for problem in adapter.check(request, target(**capabilities))]


def polled(provider: responses.RequestsMock, output: object, **more: Any) -> Pending | Done | UpstreamError:
    provider.get(f"{BASE}/tasks/t-1", json={"request_id": "r", "output": output} | more)
    (state,) = adapter.poll([{"id": "t-1"}], CONNECTION)
    return state


def kind_of(state: object) -> ErrorKind:
    assert isinstance(state, UpstreamError)
    assert says_nothing_secret(state)
    return state.kind


def test_text_alone_is_the_documented_body() -> None:
    upstream = built()
    assert (upstream.path, upstream.encoding, upstream.calls) == (SUBMIT.removeprefix(BASE), "json", 1)
    assert upstream.body == {
        "model": "wan3.0-video",
        "input": {"prompt": "a fox"},
        "parameters": {
            "resolution": "720P",
            "ratio": "16:9",
            "duration": 5,
            "watermark": False,
            "audio": False,
        },
    }
    assert upstream.billed == Billed(count=1, tier="720p")


def test_everything_that_can_be_set_is_sent() -> None:
    options = {
        "seed": 7,
        "prompt_extend": False,
        "watermark": True,
        "negative_prompt": "rain",
        "shot_type": "multi",
        "enable_thinking": True,
    }
    body = built(generate_audio=True, resolution="1080p", provider_options=options).body
    assert body["input"] == {"prompt": "a fox", "negative_prompt": "rain"}
    assert body["parameters"] == {
        "resolution": "1080P",
        "ratio": "16:9",
        "duration": 5,
        "watermark": True,
        "audio": True,
        "seed": 7,
        "prompt_extend": False,
        "shot_type": "multi",
        "enable_thinking": True,
    }


def test_inputs_carry_their_roles_in_order() -> None:
    for inputs, types in [
        ((FIRST,), ["first_frame"]),
        ((FIRST, LAST), ["first_frame", "last_frame"]),
        ((IMAGE, VIDEO, AUDIO, IMAGE), ["reference_image", "reference_video", "reference_audio", "reference_image"]),
    ]:
        media = built(inputs=inputs).body["input"]["media"]
        assert media == [{"type": kind, "url": each.url} for kind, each in zip(types, inputs, strict=True)], inputs


def test_an_adaptive_ratio_is_left_to_the_first_frame() -> None:
    assert "ratio" not in built(inputs=(FIRST,), aspect_ratio="adaptive").body["parameters"]


def test_sound_is_sent_in_so_many_words_where_there_is_a_switch() -> None:
    for asked, mode, sent in [
        (None, "switch", False),
        (False, "switch", False),
        (True, "switch", True),
        (None, "always", None),
        (True, "always", None),
        (None, "never", None),
    ]:
        assert built({"audio": mode}, generate_audio=asked).body["parameters"].get("audio") is sent, (asked, mode)


def test_models_of_the_older_generation_take_pixels() -> None:
    body = built(LEGACY).body
    assert body["input"] == {"prompt": "a fox"}
    assert body["parameters"] == {"size": "1280*720", "duration": 5, "watermark": False, "audio": False}


def test_models_of_the_older_generation_take_a_first_frame_or_references() -> None:
    frame = built(LEGACY, inputs=(FIRST,), aspect_ratio="adaptive").body
    assert frame["input"] == {"prompt": "a fox", "img_url": FIRST.url}
    assert (frame["parameters"]["resolution"], "size" in frame["parameters"]) == ("720P", False)
    references = built(LEGACY, inputs=(IMAGE, VIDEO)).body
    assert references["input"] == {"prompt": "a fox", "reference_urls": [IMAGE.url, VIDEO.url]}
    assert references["parameters"]["size"] == "1280*720"


def test_what_cannot_be_expressed_is_named() -> None:
    for changes, capabilities, wanted in [
        ({"aspect_ratio": "adaptive"}, {}, ["params.aspect_ratio"]),
        ({"inputs": (FIRST,)}, {}, []),
        ({"inputs": (FIRST,)}, {"ratio_with_frames": False}, ["params.aspect_ratio"]),
        ({"inputs": (FIRST,), "aspect_ratio": "adaptive"}, {"ratio_with_frames": False}, []),
        ({"inputs": (IMAGE,)}, {"ratio_with_frames": False}, []),
        ({"inputs": (IMAGE, IMAGE)}, {"roles": {"reference_image": 1}}, ["params.inputs[1].role"]),
        ({"aspect_ratio": "1:1"}, LEGACY, ["params.aspect_ratio"]),
        ({"resolution": "1080p"}, LEGACY, ["params.aspect_ratio"]),
        ({"inputs": (FIRST,)}, LEGACY, ["params.aspect_ratio"]),
        ({"inputs": (IMAGE, AUDIO)}, LEGACY, ["params.inputs[1].role"]),
        (
            {"inputs": (FIRST, LAST), "aspect_ratio": "adaptive"},
            LEGACY,
            ["params.inputs[1].role", "params.inputs"],
        ),
    ]:
        assert fields(video_request(**changes), **capabilities) == wanted, (changes, capabilities)


def test_an_option_that_is_unknown_derived_or_wrong_skips_the_route() -> None:
    for name, value in [
        ("seed", -1),
        ("seed", 1.5),
        ("watermark", "no"),
        ("prompt_extend", 1),
        ("negative_prompt", ""),
        ("audio", True),
        ("media", []),
        ("size", "1280*720"),
        ("ratio", "1:1"),
        ("parameters", {}),
        ("callback_url", "https://x.example.com"),
        ("cfg_scale", 1),
    ]:
        wanted = [f"params.provider_options.{name}"]
        assert fields(video_request(provider_options={name: value})) == wanted, (name, value)


def test_a_submit_asks_for_a_job(provider: responses.RequestsMock) -> None:
    provider.post(SUBMIT, json={"request_id": "r", "output": {"task_id": "t-1", "task_status": "PENDING"}})
    accepted = adapter.submit(built(), connection_to(BASE, options={"workspace": "ws-1", "poll_seconds": 7}))
    assert accepted == Accepted(handle={"id": "t-1"}, poll_after=7.0)
    request = provider.calls[0].request
    assert json.loads(request.body or b"") == built().body
    assert request.headers["X-DashScope-Async"] == "enable"
    assert request.headers["X-DashScope-WorkSpace"] == "ws-1"
    assert request.headers["Authorization"] == f"Bearer {API_KEY}"


def test_a_submit_that_is_refused(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (400, {"code": "DataInspectionFailed", "message": "m"}, ErrorKind.CONTENT_POLICY),
        (200, {"code": "Arrearage", "message": "m"}, ErrorKind.QUOTA_EXHAUSTED),
    ]:
        provider.reset()
        provider.post(SUBMIT, status=status, json=body)
        with pytest.raises(UpstreamError) as caught:
            adapter.submit(built(), CONNECTION)
        assert kind_of(caught.value) is kind, (status, body)


def test_a_finished_job_has_its_film_and_its_length(provider: responses.RequestsMock) -> None:
    for usage, seconds in [
        ({"duration": 5}, 5.0),
        ({"duration": 12, "input_video_duration": 7, "output_video_duration": 5}, 5.0),
        ({"video_duration": 4, "video_ratio": "1280*720"}, 4.0),
        ({"duration": 0}, None),
        ({"duration": "5"}, 5.0),
        ({"duration": "long", "video_duration": "3.5"}, 3.5),
        ({}, None),
        (None, None),
    ]:
        provider.reset()
        state = polled(provider, {"task_id": "t-1", "task_status": "SUCCEEDED", "video_url": FILM}, usage=usage)
        assert state == Done(outputs=(Output(index=0, kind="video", url=FILM),), duration=seconds), usage


def test_every_other_status_is_pending(provider: responses.RequestsMock) -> None:
    for status in ["PENDING", "DREAMING"]:
        provider.reset()
        assert polled(provider, {"task_status": status}) == Pending(poll_after=5.0), status


def test_a_job_that_ended_badly(provider: responses.RequestsMock) -> None:
    for output, more, kind in [
        ({"task_status": "FAILED", "code": "DataInspectionFailed"}, {}, ErrorKind.CONTENT_POLICY),
        ({"task_status": "FAILED", "code": "InternalError.Algo", "message": API_KEY}, {}, ErrorKind.PROVIDER_FAILED),
        ({"task_status": "FAILED"}, {"code": "InvalidURL", "message": "m"}, ErrorKind.INVALID_REQUEST),
        ({"task_status": "FAILED"}, {}, ErrorKind.PROVIDER_FAILED),
        ({"task_status": "CANCELED"}, {}, ErrorKind.PROVIDER_FAILED),
        ({"task_status": "UNKNOWN"}, {}, ErrorKind.EMPTY_RESULT),
    ]:
        provider.reset()
        assert kind_of(polled(provider, output, **more)) is kind, (output, more)


def test_a_job_is_cancelled_where_the_provider_says_so(provider: responses.RequestsMock) -> None:
    for status, is_cancelled in [(200, True), (400, False), (500, False)]:
        provider.reset()
        provider.post(f"{BASE}/tasks/t-1/cancel", status=status, json={"request_id": "r"})
        assert adapter.cancel({"id": "t-1"}, CONNECTION) is is_cancelled, status
