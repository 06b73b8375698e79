"""The dialect `minimax_v2` of the content tasks: requests, limits, errors, jobs."""

import json
from dataclasses import replace
from typing import Any

import pytest
import responses

from adapters.ark.videos import ArkContentTasks
from adapters.base import Accepted, Billed, Done, ErrorKind, MediaInput, Output, Pending, Target, UpstreamError
from tests.adapters.making import API_KEY, connection_to, says_nothing_secret, video_request, video_target

adapter = ArkContentTasks()
BASE = "https://api.minimax.io"
CREATE, QUERY = f"{BASE}/v2/video_generation", f"{BASE}/v2/query/video_generation"
OPTIONS = {"dialect": "minimax_v2"}
CONNECTION = connection_to(BASE, options=OPTIONS)
FILM = "https://cdn.example.com/film.mp4?sig=1"
HANDLE = {"id": "42", "last_frame": False}


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def target(**capabilities: Any) -> Target:
    return replace(video_target(**capabilities), base_url=BASE, upstream_model="MiniMax-H3", options=OPTIONS)


def item(kind: str, role: str = "reference") -> MediaInput:
    return MediaInput(type=kind, role=role, url=f"https://x.example.com/{kind}-{role}")  # type: ignore[arg-type]


FIRST, LAST = item("image", "first_frame"), item("image", "last_frame")
IMAGE, VIDEO, AUDIO = item("image"), item("video"), item("audio")


def failure(status: int, number: int, kind: str = "server_error", words: str = "no") -> dict[str, Any]:
    error = {"type": kind, "message": f"{words} ({number})", "http_code": str(status)}
    return {"type": "error", "error": error, "request_id": "r"}


def kind_of(state: object) -> ErrorKind:
    assert isinstance(state, UpstreamError)
    assert says_nothing_secret(state)
    return state.kind


def polled(provider: responses.RequestsMock, answer: object, **more: Any) -> Pending | Done | UpstreamError:
    provider.get(f"{QUERY}/42", json=answer, **more)
    (state,) = adapter.poll([HANDLE], CONNECTION)
    return state


def test_a_text_request_is_the_documented_body() -> None:
    upstream = adapter.build(video_request(resolution="768p"), target())
    assert upstream.path == "/v2/video_generation"
    assert upstream.body == {
        "model": "MiniMax-H3",
        "content": [{"type": "text", "text": "a fox"}],
        "duration": 5,
        "resolution": "768P",
        "ratio": "16:9",
    }
    assert upstream.billed == Billed(count=1, tier="768p")


def test_inputs_carry_their_roles_and_options_are_merged() -> None:
    request = video_request(
        resolution="2k",
        aspect_ratio="adaptive",
        inputs=(IMAGE, VIDEO, AUDIO),
        generate_audio=True,
        provider_options={"aigc_watermark": True},
    )
    assert adapter.check(request, target()) == []
    body = adapter.build(request, target()).body
    assert [(part["type"], part["role"]) for part in body["content"][1:]] == [
        ("image_url", "reference_image"),
        ("video_url", "reference_video"),
        ("audio_url", "reference_audio"),
    ]
    assert (body["resolution"], body["ratio"], body["aigc_watermark"]) == ("2K", "adaptive", True)
    assert body["content"][2]["video_url"] == {"url": VIDEO.url}


def test_frames_are_adaptive() -> None:
    request = video_request(aspect_ratio="adaptive", inputs=(FIRST, LAST))
    assert adapter.check(request, target()) == []
    content = adapter.build(request, target()).body["content"]
    assert [part["role"] for part in content[1:]] == ["first_frame", "last_frame"]


def test_what_cannot_be_expressed_is_refused_by_field() -> None:
    for changes, capabilities, wanted in [
        ({"generate_audio": False}, {}, ["params.generate_audio"]),
        ({"aspect_ratio": "adaptive"}, {}, ["params.aspect_ratio"]),
        ({"inputs": (FIRST,)}, {}, ["params.aspect_ratio"]),
        ({"aspect_ratio": "9:21"}, {}, ["params.aspect_ratio"]),
        ({"aspect_ratio": "9:21"}, {"ratios": ["16:9"]}, ["params.aspect_ratio"]),
        ({"prompt": "x" * 7001}, {}, ["params.prompt"]),
        ({"prompt": "x" * 7001}, {"prompt_max": 9000}, ["params.prompt"]),
        ({"inputs": (IMAGE,) * 10}, {}, ["params.inputs[9].role"]),
        ({"inputs": (IMAGE,) * 9}, {}, []),
        ({"inputs": (VIDEO,) * 4}, {"roles": {"reference_video": 9}}, ["params.inputs[3].role"]),
        ({"inputs": (IMAGE, AUDIO, AUDIO, AUDIO, AUDIO)}, {}, ["params.inputs[4].role"]),
        ({"inputs": (IMAGE, VIDEO)}, {"roles": {"reference_image": 2}}, ["params.inputs[1].role"]),
        (
            {"inputs": (FIRST, IMAGE), "aspect_ratio": "adaptive"},
            {"frames_exclusive_refs": False},
            ["params.inputs[1].role"],
        ),
        *(
            ({"provider_options": {name: 1}}, {}, [f"params.provider_options.{name}"])
            for name in ("seed", "callback_url", "ratio", "aigc_watermark")
        ),
    ]:
        problems = adapter.check(video_request(**changes), target(**capabilities))
        assert [problem.field for problem in problems] == wanted, (changes, capabilities)


def test_a_submit_is_accepted_with_a_handle(provider: responses.RequestsMock) -> None:
    provider.post(CREATE, json={"task_id": "42"})
    upstream = adapter.build(video_request(), target())
    assert adapter.submit(upstream, CONNECTION) == Accepted(handle=HANDLE, poll_after=10.0)
    sent = provider.calls[0].request
    assert json.loads(sent.body or b"") == upstream.body
    assert sent.headers["Authorization"] == f"Bearer {API_KEY}"


def test_errors_of_a_submit(provider: responses.RequestsMock) -> None:
    for status, body, kind, code in [
        (400, failure(400, 2013, "bad_request_error"), ErrorKind.INVALID_REQUEST, "2013"),
        (401, failure(401, 1004, "authorized_error"), ErrorKind.AUTH, "1004"),
        (402, failure(402, 1008, "insufficient_balance_error"), ErrorKind.QUOTA_EXHAUSTED, "1008"),
        (422, failure(422, 1026, "unprocessable_entity_error"), ErrorKind.CONTENT_POLICY, "1026"),
        (422, failure(422, 1027, "unprocessable_entity_error"), ErrorKind.CONTENT_POLICY, "1027"),
        (422, failure(422, 9999, "unprocessable_entity_error"), ErrorKind.INVALID_REQUEST, "9999"),
        (429, failure(429, 1002, "rate_limit_error"), ErrorKind.RATE_LIMITED, "1002"),
        (429, failure(429, 1008, "rate_limit_error"), ErrorKind.QUOTA_EXHAUSTED, "1008"),
        (400, failure(400, 1026, "bad_request_error"), ErrorKind.CONTENT_POLICY, "1026"),
        (500, failure(500, 1000), ErrorKind.AMBIGUOUS, "1000"),
        (503, failure(503, 1000), ErrorKind.OVERLOADED, "1000"),
        (529, failure(529, 9999, "overloaded_error"), ErrorKind.OVERLOADED, "9999"),
        (200, failure(402, 1008, "insufficient_balance_error"), ErrorKind.QUOTA_EXHAUSTED, "1008"),
        (400, {"error": {"type": "authorized_error", "message": "no"}}, ErrorKind.AUTH, "authorized_error"),
        (400, {"error": {"message": "a key (1004) inside"}}, ErrorKind.INVALID_REQUEST, ""),
        (200, {"id": "42"}, ErrorKind.AMBIGUOUS, ""),
    ]:
        provider.reset()
        provider.post(CREATE, status=status, json=body)
        with pytest.raises(UpstreamError) as caught:
            adapter.submit(adapter.build(video_request(), target()), CONNECTION)
        assert (kind_of(caught.value), caught.value.code) == (kind, code), (status, body, code)
        assert len(provider.calls) == 1, (status, body, code)


def test_an_unfinished_job_is_pending(provider: responses.RequestsMock) -> None:
    for status in ["queued", "running", "something new"]:
        provider.reset()
        assert polled(provider, {"task": {"id": "42", "status": status}}) == Pending(poll_after=10.0), status


def test_a_finished_job_has_its_film_and_length(provider: responses.RequestsMock) -> None:
    task = {"id": "42", "status": "succeeded", "content": {"url": FILM}, "duration": 5}
    assert polled(provider, {"task": task}) == Done(outputs=(Output(index=0, kind="video", url=FILM),), duration=5.0)


def test_a_job_that_ended_badly(provider: responses.RequestsMock) -> None:
    for task, kind in [
        ({"status": "failed", "error": {"code": "1026", "message": f"no {API_KEY}"}}, ErrorKind.CONTENT_POLICY),
        ({"status": "failed", "error": {"code": "1027", "message": "no"}}, ErrorKind.CONTENT_POLICY),
        ({"status": "failed", "error": {"message": "no (1027)"}}, ErrorKind.CONTENT_POLICY),
        ({"status": "failed", "error": {"code": "1000", "message": "no"}}, ErrorKind.PROVIDER_FAILED),
        ({"status": "failed"}, ErrorKind.PROVIDER_FAILED),
        ({"status": "cancelled"}, ErrorKind.PROVIDER_FAILED),
        ({"status": "expired"}, ErrorKind.PROVIDER_FAILED),
        ({"status": "succeeded", "content": {"video_url": FILM}}, ErrorKind.EMPTY_RESULT),
    ]:
        provider.reset()
        assert kind_of(polled(provider, {"task": task})) is kind, task


def test_a_poll_fault_says_nothing_about_the_job(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (200, {"status": "succeeded"}, ErrorKind.TRANSIENT),
        (200, {"task": None}, ErrorKind.TRANSIENT),
        (400, failure(400, 2013, "bad_request_error", "invalid task_id"), ErrorKind.EMPTY_RESULT),
        (404, failure(404, 2013, "bad_request_error", "invalid task_id"), ErrorKind.EMPTY_RESULT),
        (400, failure(400, 2013, "bad_request_error", "invalid params"), ErrorKind.TRANSIENT),
        (401, failure(401, 1004), ErrorKind.AUTH),
        (429, failure(429, 1002), ErrorKind.RATE_LIMITED),
        (500, failure(500, 1000), ErrorKind.TRANSIENT),
    ]:
        provider.reset()
        assert kind_of(polled(provider, body, status=status)) is kind, (status, body)


def test_many_jobs_are_one_call_and_the_missing_are_asked_for_themselves(provider: responses.RequestsMock) -> None:
    done = {"id": "b", "status": "succeeded", "content": {"url": FILM}}
    provider.get(QUERY, json={"items": [done], "total": 1})
    provider.get(f"{QUERY}/a", json={"task": {"id": "a", "status": "queued"}})
    states = adapter.poll([HANDLE | {"id": "a"}, HANDLE | {"id": "b"}], CONNECTION)
    assert [type(state) for state in states] == [Pending, Done]
    assert "filter.task_ids=a&filter.task_ids=b" in (provider.calls[0].request.url or "")


@pytest.mark.parametrize(("action", "confirmed"), [("cancelled", True), ("deleted", False)])
def test_a_queued_job_is_cancelled(provider: responses.RequestsMock, action: str, confirmed: bool) -> None:
    provider.get(f"{QUERY}/42", json={"task": {"id": "42", "status": "queued"}})
    provider.delete(f"{CREATE}/42", json={"task_id": "42", "action": action, "status": action})
    assert adapter.cancel(HANDLE, CONNECTION) is confirmed


def test_any_other_job_is_left_alone(provider: responses.RequestsMock) -> None:
    for status in ["running", "succeeded", "cancelled"]:
        provider.reset()
        provider.get(f"{QUERY}/42", json={"task": {"id": "42", "status": status}})
        assert adapter.cancel(HANDLE, CONNECTION) is False, status


@pytest.mark.parametrize(("number", "fails"), [(2013, False), (1004, True)])
def test_a_probe_asks_for_a_job_that_cannot_be(provider: responses.RequestsMock, number: int, fails: bool) -> None:
    provider.get(f"{QUERY}/probe", status=400, json=failure(400, number))
    if not fails:
        adapter.probe(CONNECTION)
        return
    with pytest.raises(UpstreamError) as caught:
        adapter.probe(CONNECTION)
    assert kind_of(caught.value) is ErrorKind.AUTH
