"""The OpenRouter Videos protocol: what a video request becomes, and what the answers mean."""

import json
from typing import Any

import pytest
import responses

from adapters.base import Accepted, Billed, Done, ErrorKind, MediaInput, Output, Pending, Target, UpstreamError
from adapters.registry import ADAPTERS
from tests.adapters.making import API_KEY, connection_to, says_nothing_secret, video_request

adapter = ADAPTERS["openrouter_videos"]
BASE = "https://router.example.com/api/v1"
VIDEOS = f"{BASE}/videos"
CONNECTION = connection_to(BASE)
HANDLE = {"id": "gen-vid-1"}
SIGNED = "https://cdn.example.com/film.mp4?sig=1"
CONTENT = f"{VIDEOS}/gen-vid-1/content?index=0"
TOO_LONG = "This request requires more credits, or fewer max_tokens. You can only afford 1234."
FLAGGED = "Your chosen model requires moderation and your input was flagged"


def item(kind: str, role: str) -> MediaInput:
    return MediaInput(type=kind, role=role, url=f"https://x.example.com/{kind}-{role}")  # type: ignore[arg-type]


FIRST, LAST = item("image", "first_frame"), item("image", "last_frame")
IMAGE, VIDEO, AUDIO = item("image", "reference"), item("video", "reference"), item("audio", "reference")
EVERY_REFERENCE = {"reference_image": 3, "reference_video": 1, "reference_audio": 1}


def target(**capabilities: Any) -> Target:
    return Target(
        adapter="openrouter_videos", base_url=BASE, upstream_model="google/veo-3.1", capabilities=capabilities
    )


def body_of(capabilities: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return dict(adapter.build(video_request(**changes), target(**(capabilities or {}))).body)


def fields(capabilities: dict[str, Any] | None = None, **changes: Any) -> list[str]:
    return [problem.field for problem in adapter.check(video_request(**changes), target(**(capabilities or {})))]


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def poll(provider: responses.RequestsMock, status: str, **more: Any) -> Pending | Done | UpstreamError:
    provider.get(f"{VIDEOS}/gen-vid-1", json={"id": "gen-vid-1", "polling_url": "x", "status": status, **more})
    (state,) = adapter.poll([HANDLE], CONNECTION)
    return state


def kind_of(state: object) -> ErrorKind:
    assert isinstance(state, UpstreamError)
    assert says_nothing_secret(state)
    return state.kind


def test_a_text_request_is_the_documented_body() -> None:
    upstream = adapter.build(video_request(), target())
    assert (upstream.path, upstream.encoding, upstream.calls) == ("/videos", "json", 1)
    assert upstream.body == {
        "model": "google/veo-3.1",
        "prompt": "a fox",
        "generate_audio": False,
        "duration": 5,
        "resolution": "720p",
        "aspect_ratio": "16:9",
    }
    assert upstream.billed == Billed(count=1, tier="720p")


def test_what_is_absent_is_left_to_the_provider() -> None:
    empty = {"duration": None, "resolution": None, "aspect_ratio": None}
    assert fields(**empty) == []
    assert body_of(**empty) == {"model": "google/veo-3.1", "prompt": "a fox", "generate_audio": False}


def test_a_resolution_is_spelled_as_upstream_and_billed_as_asked() -> None:
    for asked, sent in [("4k", "4K"), ("4K", "4K"), ("1080P", "1080p"), ("2K", "2K")]:
        assert fields(resolution=asked) == [], asked
        upstream = adapter.build(video_request(resolution=asked), target())
        assert (upstream.body["resolution"], upstream.billed.tier) == (sent, asked), asked


def test_frames_and_references_go_into_lists_of_their_own() -> None:
    body = body_of({"frames_exclusive_refs": False}, inputs=(IMAGE, FIRST, LAST))
    assert body["frame_images"] == [
        {"type": "image_url", "image_url": {"url": FIRST.url}, "frame_type": "first_frame"},
        {"type": "image_url", "image_url": {"url": LAST.url}, "frame_type": "last_frame"},
    ]
    assert body["input_references"] == [{"type": "image_url", "image_url": {"url": IMAGE.url}}]


def test_references_of_every_type_keep_their_order() -> None:
    assert fields({"roles": EVERY_REFERENCE}, inputs=(AUDIO, IMAGE, VIDEO)) == []
    body = body_of({"roles": EVERY_REFERENCE}, inputs=(AUDIO, IMAGE, VIDEO))
    assert body["input_references"] == [
        {"type": "audio_url", "audio_url": {"url": AUDIO.url}},
        {"type": "image_url", "image_url": {"url": IMAGE.url}},
        {"type": "video_url", "video_url": {"url": VIDEO.url}},
    ]
    assert "frame_images" not in body


def test_sound_is_always_said_in_so_many_words() -> None:
    for asked, mode, sent in [
        (None, None, False),
        (False, None, False),
        (True, None, True),
        (True, "switch", True),
        (None, "always", True),
        (None, "never", False),
        (False, "never", False),
    ]:
        assert body_of({"audio": mode} if mode else {}, generate_audio=asked)["generate_audio"] is sent, (asked, mode)


def test_known_options_are_merged() -> None:
    options = {"seed": 7, "provider": {"options": {"google-vertex": {"personGeneration": "allow"}}}}
    assert fields(provider_options=options) == []
    body = body_of(provider_options=options)
    assert {name: body[name] for name in options} == options


def test_derived_unknown_and_wrong_options_skip_the_route() -> None:
    for name, value in [
        ("seed", "7"),
        ("seed", -1),
        ("provider", []),
        ("provider", {}),
        ("size", "1280x720"),
        ("callback_url", "https://x.example.com"),
        ("generate_audio", True),
        ("previous_job_id", "gen-vid-0"),
        ("watermark", True),
        ("provider", {"options": {"byteplus": {"duration": 15}}}),
        ("provider", {"options": {"byteplus": {"parameters": [{"durationSeconds": 15}]}}}),
        ("provider", {"callback_url": "https://x.example.com"}),
    ]:
        assert fields(provider_options={name: value}) == [f"params.provider_options.{name}"], (name, value)


def test_what_cannot_be_expressed_is_refused() -> None:
    for changes, capabilities, wanted in [
        ({"resolution": "540p"}, {}, ["params.resolution"]),
        ({"resolution": "540p"}, {"resolutions": ["720p"]}, ["params.resolution"]),
        ({"resolution": "1080p"}, {"resolutions": ["720p"]}, ["params.resolution"]),
        ({"aspect_ratio": "5:4"}, {}, ["params.aspect_ratio"]),
        ({"aspect_ratio": "5:4"}, {"ratios": ["16:9"]}, ["params.aspect_ratio"]),
        ({"aspect_ratio": "9:21"}, {"ratios": ["16:9"]}, ["params.aspect_ratio"]),
        ({"aspect_ratio": "9:21"}, {}, []),
        ({"inputs": (IMAGE, VIDEO)}, {}, ["params.inputs[1].type"]),
        ({"inputs": (IMAGE, AUDIO)}, {}, ["params.inputs[1].type"]),
        ({"inputs": (IMAGE, VIDEO)}, {"roles": {"reference_image": 1}}, ["params.inputs[1].role"]),
        ({"inputs": (FIRST, LAST)}, {}, []),
        ({"inputs": (IMAGE, IMAGE)}, {"max_inputs": 1}, ["params.inputs"]),
    ]:
        assert fields(capabilities, **changes) == wanted, (changes, capabilities)


def test_a_submit_is_accepted_with_a_handle(provider: responses.RequestsMock) -> None:
    provider.post(VIDEOS, status=202, json={"id": "gen-vid-1", "polling_url": "x", "status": "pending"})
    upstream = adapter.build(video_request(inputs=(FIRST,)), target())
    assert adapter.submit(upstream, CONNECTION) == Accepted(handle=HANDLE, poll_after=10.0)
    sent = provider.calls[0].request
    assert json.loads(sent.body or b"") == upstream.body
    assert sent.headers["Authorization"] == f"Bearer {API_KEY}"
    assert sent.headers["Content-Type"] == "application/json"


def test_every_documented_refusal_has_its_kind(provider: responses.RequestsMock) -> None:
    for status, error, kind in [
        (400, {"code": 400, "message": "m"}, ErrorKind.INVALID_REQUEST),
        (401, {"code": 401, "message": f"{API_KEY} is unknown"}, ErrorKind.AUTH),
        (402, {"code": 402, "message": "m"}, ErrorKind.QUOTA_EXHAUSTED),
        (403, {"code": 403, "message": "Key limit exceeded"}, ErrorKind.QUOTA_EXHAUSTED),
        (403, {"code": 403, "message": FLAGGED}, ErrorKind.CONTENT_POLICY),
        (403, {"code": 403, "message": "no", "metadata": {"flagged_input": "a fox"}}, ErrorKind.CONTENT_POLICY),
        (403, {"code": 403, "message": "no", "metadata": None}, ErrorKind.FORBIDDEN),
        (404, {"code": 404, "message": "m"}, ErrorKind.MODEL_UNAVAILABLE),
        (403, {"code": 403, "message": "no", "metadata": {"reasons": ["violence"]}}, ErrorKind.CONTENT_POLICY),
        (402, {"code": 402, "message": TOO_LONG}, ErrorKind.INVALID_REQUEST),
        (408, {"code": 408, "message": "m"}, ErrorKind.AMBIGUOUS),
        (413, {"code": 413, "message": "m"}, ErrorKind.INVALID_REQUEST),
        (429, {"code": 429, "message": "flagged as too fast"}, ErrorKind.RATE_LIMITED),
        (499, {"code": 499, "message": "m"}, ErrorKind.AMBIGUOUS),
        (500, {"code": 500, "message": "m"}, ErrorKind.AMBIGUOUS),
        (502, {"code": 502, "message": "m"}, ErrorKind.AMBIGUOUS),
        (503, {"code": 503, "message": "m"}, ErrorKind.OVERLOADED),
        (524, {"code": 524, "message": "m"}, ErrorKind.AMBIGUOUS),
        (529, {"code": 529, "message": "m"}, ErrorKind.OVERLOADED),
        (200, {"code": 402, "message": "m"}, ErrorKind.QUOTA_EXHAUSTED),
        (200, {"code": 403, "message": FLAGGED}, ErrorKind.CONTENT_POLICY),
        (200, {"code": 502, "message": "m"}, ErrorKind.AMBIGUOUS),
        (429, {"code": 402, "message": "m"}, ErrorKind.QUOTA_EXHAUSTED),
        (408, None, ErrorKind.AMBIGUOUS),
        (499, None, ErrorKind.AMBIGUOUS),
    ]:
        provider.reset()
        provider.post(VIDEOS, status=status, json={"error": error})
        with pytest.raises(UpstreamError) as caught:
            adapter.submit(adapter.build(video_request(), target()), CONNECTION)
        assert kind_of(caught.value) is kind, (status, error)
        assert len(provider.calls) == 1, (status, error)


def test_only_a_missing_model_sends_the_request_elsewhere(provider: responses.RequestsMock) -> None:
    provider.post(VIDEOS, status=404, json={"error": {"code": 404, "message": "m"}})
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(adapter.build(video_request(), target()), CONNECTION)
    assert caught.value.kind is ErrorKind.MODEL_UNAVAILABLE


def test_an_unfinished_job_is_pending(provider: responses.RequestsMock) -> None:
    for status in ["pending", "in_progress", "something new"]:
        provider.reset()
        assert poll(provider, status) == Pending(poll_after=10.0), status


def test_the_operator_sets_the_pace(provider: responses.RequestsMock) -> None:
    provider.get(f"{VIDEOS}/gen-vid-1", json={"status": "pending"})
    assert adapter.poll([HANDLE], connection_to(BASE, options={"poll_seconds": 30})) == [Pending(poll_after=30.0)]


def test_a_finished_job_has_one_film_by_the_best_address(provider: responses.RequestsMock) -> None:
    for told, url in [
        ({"urls": [SIGNED], "unsigned_urls": [CONTENT]}, SIGNED),
        ({"urls": ["x", SIGNED]}, SIGNED),
        ({"urls": [], "unsigned_urls": [f"{BASE}/elsewhere"]}, f"{BASE}/elsewhere"),
        ({"unsigned_urls": ["https://openrouter.example.net/content"]}, CONTENT),
        ({"urls": "none", "unsigned_urls": None}, CONTENT),
        ({"usage": {"cost": 1.5}}, CONTENT),
    ]:
        provider.reset()
        assert poll(provider, "completed", **told) == Done(outputs=(Output(index=0, kind="video", url=url),))


def test_a_job_that_ended_badly(provider: responses.RequestsMock) -> None:
    for status, error, kind in [
        ("failed", "The provider failed", ErrorKind.PROVIDER_FAILED),
        ("failed", f"bad key {API_KEY}", ErrorKind.PROVIDER_FAILED),
        ("failed", "Blocked by the provider's content moderation", ErrorKind.CONTENT_POLICY),
        ("failed", "The output may contain sensitive content", ErrorKind.CONTENT_POLICY),
        ("failed", "Refused by safety filters", ErrorKind.CONTENT_POLICY),
        ("failed", None, ErrorKind.PROVIDER_FAILED),
        ("cancelled", None, ErrorKind.PROVIDER_FAILED),
        ("expired", None, ErrorKind.PROVIDER_FAILED),
    ]:
        provider.reset()
        assert kind_of(poll(provider, status, error=error)) is kind, (status, error)


def test_only_the_protocols_own_words_end_a_job(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (404, '{"error": {"code": 404, "message": "Video generation not found"}}', ErrorKind.EMPTY_RESULT),
        (404, '{"error": {"message": "not found"}}', ErrorKind.TRANSIENT),
        (400, '{"error": {"code": 400}}', ErrorKind.TRANSIENT),
        (403, json.dumps({"error": {"code": 403, "message": FLAGGED}}), ErrorKind.TRANSIENT),
        (408, '{"error": {"code": 408}}', ErrorKind.TRANSIENT),
        (200, '{"id": "gen-vid-1"}', ErrorKind.TRANSIENT),
        (500, '{"error": {"code": 500}}', ErrorKind.TRANSIENT),
        (401, '{"error": {"code": 401}}', ErrorKind.AUTH),
    ]:
        provider.reset()
        provider.get(f"{VIDEOS}/gen-vid-1", status=status, body=body)
        (state,) = adapter.poll([HANDLE], CONNECTION)
        assert kind_of(state) is kind, (status, body)
