"""The OpenAI Videos protocol: what a video request becomes, and what the answers mean."""

import json
from dataclasses import replace
from typing import Any

import pytest
import responses

from adapters.base import Accepted, Billed, Done, ErrorKind, MediaInput, Output, Pending, Target, UpstreamError
from adapters.registry import ADAPTERS
from sandbox import multipart
from tests.adapters.making import API_KEY, PNG, connection_to, says_nothing_secret, video_request
from tests.adapters.raw_server import answer, raw_server

adapter = ADAPTERS["openai_videos"]
BASE = "https://videos.example.com/v1"
VIDEOS = f"{BASE}/videos"
CONNECTION = connection_to(BASE)
HANDLE = {"id": "video_1"}
FIRST = MediaInput(type="image", role="first_frame", url="https://x.example.com/first.png")
FILM = "https://cdn.example.com/film.mp4?sig=1"
JSON = {"encoding": "json"}
VLLM = {"dialect": "vllm_omni"}


def target(options: dict[str, Any] | None = None, **capabilities: Any) -> Target:
    return Target(
        adapter="openai_videos",
        base_url=BASE,
        upstream_model="wan-3",
        capabilities=capabilities,
        options=options or {},
    )


def fields(
    options: dict[str, Any] | None = None, capabilities: dict[str, Any] | None = None, **changes: Any
) -> list[str]:
    return [
        problem.field for problem in adapter.check(video_request(**changes), target(options, **(capabilities or {})))
    ]


def parts_of(request: bytes) -> dict[str, multipart.Part]:
    """The form of a raw request, by name."""
    head, _, body = request.partition(b"\r\n\r\n")
    kind = next(line for line in head.decode().split("\r\n") if line.lower().startswith("content-type:"))
    return {part.name: part for part in multipart.parse(kind.partition(":")[2].strip(), body)}


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def poll(provider: responses.RequestsMock, job: object, **more: Any) -> Pending | Done | UpstreamError:
    provider.get(f"{VIDEOS}/video_1", json=job, **more)
    (state,) = adapter.poll([HANDLE], CONNECTION)
    return state


def kind_of(state: object) -> ErrorKind:
    assert isinstance(state, UpstreamError)
    assert says_nothing_secret(state)
    return state.kind


def test_a_request_is_a_form_with_seconds_as_text() -> None:
    upstream = adapter.build(video_request(), target())
    assert (upstream.path, upstream.encoding, upstream.files) == ("/videos", "multipart", ())
    assert upstream.body == {"model": "wan-3", "prompt": "a fox", "seconds": "5", "size": "1280x720"}
    assert (upstream.billed, upstream.calls) == (Billed(count=1, tier="720p"), 1)


def test_without_resolution_and_ratio_the_provider_chooses_the_size() -> None:
    request = video_request(resolution=None, aspect_ratio=None, duration=None)
    assert adapter.check(request, target()) == []
    upstream = adapter.build(request, target())
    assert upstream.body == {"model": "wan-3", "prompt": "a fox"}
    assert upstream.billed == Billed(count=1, tier=None)


def test_the_size_is_made_of_resolution_and_ratio() -> None:
    for resolution, ratio, size in [
        ("720p", "9:16", "720x1280"),
        ("1080p", "16:9", "1792x1024"),
        ("1080p", "9:16", "1024x1792"),
    ]:
        upstream = adapter.build(video_request(resolution=resolution, aspect_ratio=ratio), target())
        assert (upstream.body["size"], upstream.billed.tier) == (size, resolution), (resolution, ratio, size)


def test_a_size_table_of_the_catalog_replaces_the_protocols() -> None:
    table = {"480p": {"1:1": "624x624"}}
    assert fields(capabilities={"size_table": table}, resolution="480p", aspect_ratio="1:1") == []
    assert fields(capabilities={"size_table": table}) == ["params.resolution"]
    request = video_request(resolution="480p", aspect_ratio="1:1")
    assert adapter.build(request, target(size_table=table)).body["size"] == "624x624"


def test_a_first_frame_is_a_file_in_a_form_and_an_address_in_json() -> None:
    form = adapter.build(video_request(inputs=(FIRST,)), target())
    assert "input_reference" not in form.body
    assert [(part.field, part.image.url) for part in form.files] == [("input_reference", FIRST.url)]
    document = adapter.build(video_request(inputs=(FIRST,)), target(JSON))
    assert (document.encoding, document.files) == ("json", ())
    assert document.body["input_reference"] == {"image_url": FIRST.url}
    assert document.body["seconds"] == "5"


def test_options_of_the_dialect_are_merged() -> None:
    options = {"seed": 7, "negative_prompt": "blur", "fps": 16, "guidance_scale": 1.5}
    assert fields(VLLM, provider_options=options) == []
    body = adapter.build(video_request(provider_options=options), target(VLLM)).body
    assert {name: body[name] for name in options} == options


def test_a_dialect_with_a_switch_for_sound_is_told() -> None:
    for asked, sent in [(None, False), (False, False), (True, True)]:
        assert fields(VLLM, generate_audio=asked) == [], asked
        assert adapter.build(video_request(generate_audio=asked), target(VLLM)).body["generate_sound"] is sent, asked
        assert "generate_sound" not in adapter.build(video_request(), target(VLLM, audio="always")).body, asked


def test_sound_is_promised_only_where_the_catalog_knows_the_model() -> None:
    for asked, mode, wanted in [
        (None, None, []),
        (True, None, ["params.generate_audio"]),
        (False, None, ["params.generate_audio"]),
        (True, "switch", ["params.generate_audio"]),
        (True, "always", []),
        (False, "always", ["params.generate_audio"]),
        (None, "always", []),
        (False, "never", []),
        (True, "never", ["params.generate_audio"]),
    ]:
        assert fields(capabilities={"audio": mode} if mode else {}, generate_audio=asked) == wanted, (asked, mode)


def test_what_cannot_be_expressed_is_refused() -> None:
    for changes, capabilities, wanted in [
        ({"resolution": "480p"}, {}, ["params.resolution"]),
        ({"aspect_ratio": "1:1"}, {}, ["params.aspect_ratio"]),
        ({"resolution": None}, {}, ["params.resolution"]),
        ({"aspect_ratio": None}, {}, ["params.aspect_ratio"]),
        ({"resolution": "1080p"}, {"resolutions": ["720p"]}, ["params.resolution"]),
        ({"resolution": "480p"}, {"resolutions": ["480p"]}, ["params.resolution"]),
        ({"aspect_ratio": "9:16"}, {"ratios": ["16:9"]}, ["params.aspect_ratio"]),
        ({"duration": 5}, {"durations": [4, 8, 12]}, ["params.duration"]),
        ({"duration": 86_400}, {}, []),
        ({"prompt": "xx"}, {"prompt_max": 1}, ["params.prompt"]),
        ({"inputs": (FIRST,)}, {}, []),
        ({"inputs": (FIRST,)}, {"roles": {}}, ["params.inputs[0].role"]),
        ({"inputs": (FIRST,)}, {"max_inputs": 0}, ["params.inputs"]),
        ({"inputs": (FIRST, replace(FIRST, role="last_frame"))}, {}, ["params.inputs[1].role"]),
        ({"inputs": (FIRST, FIRST)}, {}, ["params.inputs[1].role"]),
        ({"inputs": (replace(FIRST, role="last_frame"),)}, {}, ["params.inputs[0].role"]),
        ({"inputs": (replace(FIRST, role="reference"),)}, {}, ["params.inputs[0].role"]),
        ({"inputs": (replace(FIRST, type="video", role="reference"),)}, {}, ["params.inputs[0].role"]),
        ({"inputs": (replace(FIRST, type="audio", role="reference"),)}, {}, ["params.inputs[0].role"]),
        (
            {"inputs": (replace(FIRST, role="last_frame"),)},
            {"roles": {"last_frame": 1}},
            ["params.inputs[0].role"],
        ),
    ]:
        assert fields(capabilities=capabilities, **changes) == wanted, (changes, capabilities)


def test_derived_unknown_and_wrong_options_skip_the_route() -> None:
    for options, name, value in [
        (None, "seed", 1),
        (None, "size", "1280x720"),
        (None, "seconds", "4"),
        (VLLM, "num_frames", 240),
        (VLLM, "width", 8),
        (VLLM, "extra_params", {}),
        (VLLM, "generate_sound", True),
        (VLLM, "callback_url", "https://x.example.com"),
        (VLLM, "seed", "1"),
        (VLLM, "fps", 0),
        (VLLM, "flow_shift", True),
    ]:
        assert fields(options, provider_options={name: value}) == [f"params.provider_options.{name}"]


def test_a_form_goes_out_with_the_key_and_the_picture() -> None:
    with raw_server(answer(PNG, headers={"Content-Type": "image/png"}), answer(b'{"id": "video_1"}')) as server:
        first = replace(FIRST, url=f"{server.url}/first.png")
        upstream = adapter.build(video_request(inputs=(first,)), target())
        accepted = adapter.submit(upstream, connection_to(f"{server.url}/v1"))
    assert accepted == Accepted(handle=HANDLE, poll_after=5.0)
    fetched, posted = server.requests
    assert API_KEY.encode() not in fetched
    assert posted.startswith(b"POST /v1/videos HTTP/1.1\r\n")
    assert f"Authorization: Bearer {API_KEY}\r\n".encode() in posted
    parts = parts_of(posted)
    assert {name: part.content.decode() for name, part in parts.items() if part.filename is None} == upstream.body
    assert (parts["input_reference"].filename, parts["input_reference"].content) == ("input_reference-0.png", PNG)


def test_a_picture_that_cannot_be_fetched_ends_before_anything_is_bought() -> None:
    with raw_server(answer(status="404 Not Found"), answer(b'{"id": "video_1"}')) as server:
        upstream = adapter.build(video_request(inputs=(replace(FIRST, url=f"{server.url}/gone"),)), target())
        with pytest.raises(UpstreamError) as caught:
            adapter.submit(upstream, connection_to(server.url))
        assert len(server.requests) == 1
    assert caught.value.kind is ErrorKind.ASSET_UNREACHABLE


def test_json_goes_out_as_it_was_built(provider: responses.RequestsMock) -> None:
    provider.post(VIDEOS, json={"task_id": "video_1"})
    upstream = adapter.build(video_request(inputs=(FIRST,)), target(JSON))
    accepted = adapter.submit(upstream, connection_to(BASE, options={"poll_seconds": 0.2}))
    assert accepted == Accepted(handle=HANDLE, poll_after=0.2)
    sent = provider.calls[0].request
    assert json.loads(sent.body or b"") == upstream.body
    assert sent.headers["Content-Type"] == "application/json"


def test_every_documented_refusal_has_its_kind(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (400, {"error": {"code": "moderation_blocked"}}, ErrorKind.CONTENT_POLICY),
        (400, {"error": {"code": "content_policy_violation"}}, ErrorKind.CONTENT_POLICY),
        (400, {"error": {"code": "sentinel_block"}}, ErrorKind.CONTENT_POLICY),
        (500, {"error": {"code": "sensitive_words_detected"}}, ErrorKind.CONTENT_POLICY),
        (400, {"error": {"code": "billing_hard_limit_reached"}}, ErrorKind.QUOTA_EXHAUSTED),
        (429, {"error": {"code": "insufficient_quota"}}, ErrorKind.QUOTA_EXHAUSTED),
        (403, {"code": "insufficient_user_quota", "message": "m", "data": None}, ErrorKind.QUOTA_EXHAUSTED),
        (401, {"error": {"code": "invalid_api_key", "message": f"{API_KEY} is wrong"}}, ErrorKind.AUTH),
        (404, {"error": {"code": "model_not_found"}}, ErrorKind.MODEL_UNAVAILABLE),
        (503, {"error": {"code": "model_not_found"}}, ErrorKind.MODEL_UNAVAILABLE),
        (400, {"error": {"code": "invalid_value"}}, ErrorKind.INVALID_REQUEST),
        (429, {"error": {"code": "rate_limit_exceeded"}}, ErrorKind.RATE_LIMITED),
        (500, {"error": {"type": "server_error"}}, ErrorKind.AMBIGUOUS),
        (200, {"error": {"code": "insufficient_quota"}}, ErrorKind.QUOTA_EXHAUSTED),
        (200, {"error": {"code": "moderation_blocked"}}, ErrorKind.CONTENT_POLICY),
        (200, {"error": {"code": "something else"}}, ErrorKind.AMBIGUOUS),
    ]:
        provider.reset()
        provider.post(VIDEOS, status=status, json=body)
        with pytest.raises(UpstreamError) as caught:
            adapter.submit(adapter.build(video_request(), target()), CONNECTION)
        assert kind_of(caught.value) is kind, (status, body)
        assert len(provider.calls) == 1, (status, body)


def test_an_unfinished_job_is_pending(provider: responses.RequestsMock) -> None:
    for status in ["queued", "in_progress", "pending", "submitted", "processing", "unknown", "something new", ""]:
        provider.reset()
        assert poll(provider, {"status": status, "progress": 30}) == Pending(poll_after=5.0, progress=30), status


def test_the_provider_sets_the_pace_within_bounds(provider: responses.RequestsMock) -> None:
    for told, seconds in [("1500", 1.5), ("1", 0.5), ("9999999", 60.0), ("soon", 5.0), ("inf", 5.0), ("nan", 5.0)]:
        provider.reset()
        state = poll(provider, {"status": "queued"}, headers={"openai-poll-after-ms": told})
        assert state == Pending(poll_after=seconds), told


def test_only_a_sane_progress_is_told(provider: responses.RequestsMock) -> None:
    for told, progress in [(0, 0), (100, 100), (33.7, 33), (101, None), (-1, None), ("30%", None), (True, None)]:
        provider.reset()
        state = poll(provider, {"status": "in_progress", "progress": told})
        assert isinstance(state, Pending), told
        assert state.progress == progress, told


def test_a_finished_job_has_its_film_at_its_own_path(provider: responses.RequestsMock) -> None:
    for status in ["completed", "succeeded", "success", "Completed"]:
        provider.reset()
        film = Output(index=0, kind="video", url=f"{VIDEOS}/video_1/content")
        assert poll(provider, {"status": status, "seconds": "8"}) == Done(outputs=(film,), duration=8.0), status


def test_a_film_may_be_elsewhere(provider: responses.RequestsMock) -> None:
    for told in [{"url": FILM}, {"video_url": FILM}, {"metadata": {"url": FILM}}, {"video_url": "a", "url": FILM}]:
        provider.reset()
        state = poll(provider, {"status": "completed", **told})
        assert isinstance(state, Done), told
        assert [output.url for output in state.outputs] == [FILM], told


def test_only_a_sane_length_is_reported(provider: responses.RequestsMock) -> None:
    for told, seconds in [
        *[("8", 8.0), ("5.04", 5.04), (8, 8.0), ("0", None), ("-1", None), ("nan", None), ("1e999", None)],
        *[("long", None), (None, None), (True, None), ([], None), ("99999999", None)],
    ]:
        provider.reset()
        state = poll(provider, {"status": "completed", "seconds": told})
        assert isinstance(state, Done), told
        assert state.duration == seconds, told


def test_a_job_that_ended_badly(provider: responses.RequestsMock) -> None:
    for status, error, kind in [
        ("failed", {"code": "moderation_blocked", "message": "m"}, ErrorKind.CONTENT_POLICY),
        ("failed", {"code": "internal_error", "message": f"at {API_KEY}"}, ErrorKind.PROVIDER_FAILED),
        ("failed", {"code": "insufficient_quota"}, ErrorKind.PROVIDER_FAILED),
        ("failed", None, ErrorKind.PROVIDER_FAILED),
        ("failed", "in words", ErrorKind.PROVIDER_FAILED),
        ("cancelled", None, ErrorKind.PROVIDER_FAILED),
        ("expired", None, ErrorKind.PROVIDER_FAILED),
    ]:
        provider.reset()
        assert kind_of(poll(provider, {"status": status, "error": error})) is kind, (status, error)


def test_a_job_that_the_provider_does_not_know_is_an_empty_result(provider: responses.RequestsMock) -> None:
    for body in [
        {"error": {"message": "Video with id 'video_1' not found.", "type": "invalid_request_error"}},
        {"error": {"message": "Task not found", "type": "invalid_request_error"}},
        {"code": "task_not_exist", "message": "task_not_exist", "data": None},
    ]:
        provider.reset()
        assert kind_of(poll(provider, body, status=404)) is ErrorKind.EMPTY_RESULT, body


def test_a_poll_fault_says_nothing_about_the_job(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (404, '{"error": {"code": "model_not_found"}}', ErrorKind.TRANSIENT),
        (400, '{"error": {"code": "moderation_blocked"}}', ErrorKind.TRANSIENT),
        (200, '{"id": "video_1"}', ErrorKind.TRANSIENT),
        (200, '{"status": 1}', ErrorKind.TRANSIENT),
    ]:
        provider.reset()
        provider.get(f"{VIDEOS}/video_1", status=status, body=body)
        (state,) = adapter.poll([HANDLE], CONNECTION)
        assert kind_of(state) is kind, (status, body)


def test_a_jobs_id_is_quoted_in_the_path(provider: responses.RequestsMock) -> None:
    provider.get(f"{VIDEOS}/a%2F..%2Fb", json={"status": "completed"})
    (state,) = adapter.poll([{"id": "a/../b"}], CONNECTION)
    assert isinstance(state, Done)
    assert state.outputs[0].url == f"{VIDEOS}/a%2F..%2Fb/content"
