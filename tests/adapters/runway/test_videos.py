"""The Runway protocol: what a request becomes, what cannot be expressed, and what answers mean."""

import json
from typing import Any

import pytest
import responses

from adapters.base import Accepted, Billed, Done, ErrorKind, MediaInput, Output, Pending, Target, UpstreamError
from adapters.runway.videos import Runway
from tests.adapters.making import API_KEY, connection_to, says_nothing_secret, video_request

adapter = Runway()
BASE = "https://api.dev.runwayml.com"
TASK = f"{BASE}/v1/tasks/t-1"
CONNECTION = connection_to(BASE)
FILM = "https://cdn.example.com/film.mp4?sig=1"


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def target(api: str = "classic", **capabilities: Any) -> Target:
    return Target(
        adapter="runway",
        base_url=BASE,
        upstream_model="gen4.5",
        capabilities=capabilities,
        options={} if api == "classic" else {"api": api},
    )


def media(kind: str, role: str = "reference", scheme: str = "https") -> MediaInput:
    return MediaInput(type=kind, role=role, url=f"{scheme}://x.example.com/{kind}-{role}")  # type: ignore[arg-type]


FIRST, LAST = media("image", "first_frame"), media("image", "last_frame")
IMAGE, VIDEO, AUDIO = media("image"), media("video"), media("audio")


def built(where: Target | None = None, **fields: Any) -> tuple[str, dict[str, Any]]:
    request = video_request(**fields)
    where = where or target()
    assert adapter.check(request, where) == []
    upstream = adapter.build(request, where)
    return upstream.path, dict(upstream.body)


def fields_of(where: Target, **fields: Any) -> list[str]:
    return [problem.field for problem in adapter.check(video_request(**fields), where)]


def kind_of(state: object) -> ErrorKind:
    assert isinstance(state, UpstreamError)
    assert says_nothing_secret(state)
    return state.kind


def test_a_text_request_is_the_documented_body() -> None:
    upstream = adapter.build(video_request(), target())
    assert upstream.path == "/v1/text_to_video"
    assert upstream.body == {
        "model": "gen4.5",
        "promptText": "a fox",
        "duration": 5,
        "ratio": "1280:720",
        "audio": False,
    }
    assert (upstream.billed, upstream.calls) == (Billed(count=1, tier="720p"), 1)


def test_frames_go_to_image_to_video_with_their_positions() -> None:
    path, body = built(inputs=(FIRST, LAST), aspect_ratio="9:16", resolution="1080p")
    assert path == "/v1/image_to_video"
    assert body["promptImage"] == [{"uri": FIRST.url, "position": "first"}, {"uri": LAST.url, "position": "last"}]
    assert body["ratio"] == "1080:1920"


def test_references_of_every_type_go_to_text_to_video() -> None:
    path, body = built(inputs=(IMAGE, VIDEO, AUDIO))
    assert path == "/v1/text_to_video"
    assert body["references"] == [{"uri": IMAGE.url}]
    assert body["referenceVideos"] == [{"type": "video", "uri": VIDEO.url}]
    assert body["referenceAudio"] == [{"type": "audio", "uri": AUDIO.url}]


def test_frames_and_references_go_together_where_the_model_takes_both() -> None:
    path, body = built(target(frames_exclusive_refs=False), inputs=(FIRST, AUDIO))
    assert path == "/v1/image_to_video"
    assert (len(body["promptImage"]), len(body["referenceAudio"])) == (1, 1)


def test_sound_is_sent_only_to_models_with_a_switch() -> None:
    for mode, asked, sent in [
        (None, None, {"audio": False}),
        ("switch", True, {"audio": True}),
        ("switch", False, {"audio": False}),
        ("always", None, {}),
        ("always", True, {}),
        ("never", False, {}),
    ]:
        _, body = built(target(**({"audio": mode} if mode else {})), generate_audio=asked)
        assert {name: body[name] for name in body if name == "audio"} == sent, (mode, asked)


def test_resolution_and_ratio_become_a_size() -> None:
    for capabilities, fields, sent in [
        ({}, {"aspect_ratio": "21:9"}, {"ratio": "1584:672"}),
        ({"size_table": {"480p": {"16:9": "864x496"}}}, {"resolution": "480p"}, {"ratio": "864:496"}),
        ({}, {"aspect_ratio": "adaptive", "inputs": (FIRST,)}, {"ratio": "auto_720p"}),
        ({"sizes": "words"}, {"resolution": "768p"}, {"resolution": "768p", "ratio": "16:9"}),
        ({"sizes": "words"}, {"aspect_ratio": "adaptive", "inputs": (FIRST,)}, {"resolution": "720p"}),
    ]:
        _, body = built(target(**capabilities), **fields)
        assert {name: body[name] for name in ("resolution", "ratio") if name in body} == sent, (capabilities, fields)


def test_the_router_gets_every_field_as_it_is() -> None:
    path, body = built(
        target("router"),
        inputs=(IMAGE, VIDEO, AUDIO),
        resolution="1080p",
        generate_audio=True,
        provider_options={"seed": 7},
    )
    assert path == "/v1/generate/video"
    assert body == {
        "configId": "gen4.5",
        "input": {
            "promptText": "a fox",
            "duration": 5,
            "resolution": "1080p",
            "aspectRatio": "16:9",
            "audio": True,
            "referenceImages": [{"role": "reference", "uri": IMAGE.url}],
            "referenceVideos": [{"role": "reference", "uri": VIDEO.url}],
            "referenceAudio": [{"uri": AUDIO.url}],
            "seed": 7,
        },
    }


def test_the_router_gets_frames_by_their_role() -> None:
    _, body = built(target("router"), inputs=(FIRST, LAST))
    assert [item["role"] for item in body["input"]["referenceImages"]] == ["first", "last"]
    assert body["input"]["audio"] is False


def test_known_options_are_merged() -> None:
    options = {"seed": 0, "negativePrompt": "rain", "cfgScale": 0.5, "promptExpansionMode": "balanced"}
    options |= {"contentModeration": {"publicFigureThreshold": "low"}}
    _, body = built(provider_options=options)
    assert {name: body[name] for name in options} == options


def test_what_cannot_be_expressed_is_refused_by_field() -> None:
    for where, fields, wanted in [
        (target(), {"resolution": "480p"}, ["params.resolution"]),
        (target(), {"resolution": "1080p", "aspect_ratio": "4:3"}, ["params.aspect_ratio"]),
        (target(), {"aspect_ratio": "adaptive"}, ["params.aspect_ratio"]),
        (target(), {"aspect_ratio": "adaptive", "resolution": "4k", "inputs": (FIRST,)}, ["params.resolution"]),
        (target(sizes="words"), {"aspect_ratio": "adaptive"}, ["params.aspect_ratio"]),
        (target(size_table={"480p": {"16:9": "864x496"}}), {}, ["params.resolution"]),
        (target(resolutions=["1080p"]), {"resolution": "480p"}, ["params.resolution"]),
        (target(ratios=["1:1"]), {}, ["params.aspect_ratio"]),
        (target("router"), {"resolution": "768p"}, ["params.resolution"]),
        (target("router"), {"aspect_ratio": "adaptive", "inputs": (FIRST,)}, ["params.aspect_ratio"]),
        (target(), {"inputs": (media("image", "first_frame", "http"),)}, ["params.inputs[0].url"]),
        (target("router"), {"inputs": (IMAGE, media("video", scheme="http"))}, ["params.inputs[1].url"]),
        (target(max_inputs=1), {"inputs": (IMAGE, IMAGE)}, ["params.inputs"]),
    ]:
        assert fields_of(where, **fields) == wanted, (where, fields)


def test_other_options_skip_the_route() -> None:
    for api, name, value in [
        *(("classic", name, 1) for name in ("model", "ratio", "audio", "promptImage", "references", "outputFormat")),
        *(("router", name, "x") for name in ("configId", "aspectRatio", "keyframes", "cfgScale")),
        ("classic", "seed", -1),
        ("classic", "seed", 2**32),
        ("router", "seed", 1.5),
        ("classic", "cfgScale", True),
        ("classic", "negativePrompt", ""),
        ("router", "contentModeration", "low"),
    ]:
        assert fields_of(target(api), provider_options={name: value}) == [f"params.provider_options.{name}"]


def test_a_submit_carries_key_and_version_and_is_accepted(provider: responses.RequestsMock) -> None:
    provider.post(f"{BASE}/v1/text_to_video", json={"id": "t-1", "estimatedCost": {"credits": 25}})
    upstream = adapter.build(video_request(), target())
    assert adapter.submit(upstream, CONNECTION) == Accepted(handle={"id": "t-1"}, poll_after=6.0)
    sent = provider.calls[0].request
    assert json.loads(sent.body or b"") == upstream.body
    assert sent.headers["Authorization"] == f"Bearer {API_KEY}"
    assert (sent.headers["X-Runway-Version"], sent.headers["Content-Type"]) == ("2024-11-06", "application/json")


def test_errors_of_a_submit(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (400, {"error": "Validation of body failed", "issues": [{"path": ["ratio"]}]}, ErrorKind.INVALID_REQUEST),
        (400, {"error": "You do not have enough credits to run this task."}, ErrorKind.QUOTA_EXHAUSTED),
        (400, {"error": "Text did not pass content moderation."}, ErrorKind.CONTENT_POLICY),
        (400, {"error": "promptText: 'a bank: You do not have enough credits'"}, ErrorKind.INVALID_REQUEST),
        (401, {"error": "Unauthorized"}, ErrorKind.AUTH),
        (404, {"error": "Not found"}, ErrorKind.MODEL_UNAVAILABLE),
        (403, {"error": "Model variant gen4 is not available."}, ErrorKind.MODEL_UNAVAILABLE),
        (403, {"error": "Forbidden"}, ErrorKind.FORBIDDEN),
        (429, {"error": "You do not have enough credits: daily limit"}, ErrorKind.RATE_LIMITED),
        (500, {"error": "content moderation is down"}, ErrorKind.AMBIGUOUS),
        (200, {"id": 5.5}, ErrorKind.AMBIGUOUS),
    ]:
        provider.reset()
        provider.post(f"{BASE}/v1/text_to_video", status=status, json=body, headers={"x-request-id": "r-1"})
        with pytest.raises(UpstreamError) as caught:
            adapter.submit(adapter.build(video_request(), target()), CONNECTION)
        assert kind_of(caught.value) is kind, (status, body)
        assert (caught.value.http_status, caught.value.request_id) == (status, "r-1"), (status, body)
        assert len(provider.calls) == 1, (status, body)


def test_a_key_that_an_error_quotes_is_struck_out(provider: responses.RequestsMock) -> None:
    provider.post(f"{BASE}/v1/text_to_video", status=400, json={"error": f"bad {API_KEY}"})
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(adapter.build(video_request(), target()), CONNECTION)
    assert says_nothing_secret(caught.value)
    provider.get(TASK, json={"status": "FAILED", "failure": f"bad {API_KEY}"})
    (state,) = adapter.poll([{"id": "t-1"}], CONNECTION)
    assert kind_of(state) is ErrorKind.PROVIDER_FAILED


def polled(provider: responses.RequestsMock, answer: object, **more: Any) -> Pending | Done | UpstreamError:
    provider.get(TASK, json=answer, **more)
    (state,) = adapter.poll([{"id": "t-1"}], CONNECTION)
    return state


def test_an_unfinished_task_is_pending(provider: responses.RequestsMock) -> None:
    for task, progress in [
        ({"status": "PENDING"}, None),
        ({"status": "THROTTLED"}, None),
        ({"status": "RUNNING", "progress": 0.429}, 42),
        ({"status": "RUNNING", "progress": 1}, 100),
        ({"status": "RUNNING", "progress": 1.5}, None),
        ({"status": "RUNNING", "progress": True}, None),
        ({"status": "SOMETHING_NEW"}, None),
    ]:
        provider.reset()
        assert polled(provider, task) == Pending(poll_after=6.0, progress=progress), task


def test_a_finished_task_has_all_its_films(provider: responses.RequestsMock) -> None:
    other = "https://cdn.example.com/other.mp4"
    assert polled(provider, {"status": "SUCCEEDED", "output": [FILM, None, "no\0url", other]}) == Done(
        outputs=(Output(index=0, kind="video", url=FILM), Output(index=1, kind="video", url=other))
    )


def test_failure_codes(provider: responses.RequestsMock) -> None:
    for code, kind in [
        ("SAFETY.INPUT.TEXT", ErrorKind.CONTENT_POLICY),
        ("SAFETY.OUTPUT.VIDEO", ErrorKind.CONTENT_POLICY),
        ("SAFETY", ErrorKind.CONTENT_POLICY),
        ("INPUT_PREPROCESSING.SAFETY.TEXT", ErrorKind.CONTENT_POLICY),
        ("INPUT_PREPROCESSING.SAFETY.THIRD_PARTY", ErrorKind.CONTENT_POLICY),
        ("INPUT_PREPROCESSING.INTERNAL", ErrorKind.PROVIDER_FAILED),
        ("ASSET.INVALID", ErrorKind.INVALID_REQUEST),
        ("THIRD_PARTY.INPUT_VALIDATION", ErrorKind.INVALID_REQUEST),
        ("THIRD_PARTY.UNAVAILABLE", ErrorKind.PROVIDER_FAILED),
        ("INTERNAL", ErrorKind.PROVIDER_FAILED),
        ("INTERNAL.BAD_OUTPUT.CODE01", ErrorKind.PROVIDER_FAILED),
        ("SAFETYNET", ErrorKind.PROVIDER_FAILED),
        (None, ErrorKind.PROVIDER_FAILED),
    ]:
        provider.reset()
        state = polled(provider, {"status": "FAILED", "failure": "no", "failureCode": code})
        assert kind_of(state) is kind, code
        assert isinstance(state, UpstreamError), code
        assert (state.code, state.message) == (code or "", "no"), code


def test_an_end_without_words_is_a_failure(provider: responses.RequestsMock) -> None:
    for status in ["FAILED", "CANCELLED", "CANCELED"]:
        provider.reset()
        assert kind_of(polled(provider, {"status": status})) is ErrorKind.PROVIDER_FAILED, status


def test_a_poll_fault_says_nothing_about_the_task(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (200, {"id": "t-1"}, ErrorKind.TRANSIENT),
        (400, {"error": "Text did not pass content moderation."}, ErrorKind.TRANSIENT),
        (404, {"error": "no such page"}, ErrorKind.TRANSIENT),
        (404, {"error": "A task with that ID could not be found."}, ErrorKind.EMPTY_RESULT),
        (401, {"error": "Unauthorized"}, ErrorKind.AUTH),
    ]:
        provider.reset()
        assert kind_of(polled(provider, body, status=status)) is kind, (status, body)


def test_an_unfinished_task_is_cancelled(provider: responses.RequestsMock) -> None:
    for status in ["PENDING", "THROTTLED", "RUNNING"]:
        provider.reset()
        provider.get(TASK, json={"status": status})
        provider.delete(TASK, status=204)
        assert adapter.cancel({"id": "t-1"}, CONNECTION) is True, status


def test_a_finished_task_is_not_deleted(provider: responses.RequestsMock) -> None:
    provider.get(TASK, json={"status": "SUCCEEDED", "output": [FILM]})
    assert adapter.cancel({"id": "t-1"}, CONNECTION) is False


def test_a_task_is_attached_by_its_id_which_is_quoted_in_the_path(provider: responses.RequestsMock) -> None:
    handle = adapter.attach("a/../b", target())
    provider.get(f"{BASE}/v1/tasks/a%2F..%2Fb", json={"status": "PENDING"})
    (state,) = adapter.poll([handle], CONNECTION)
    assert isinstance(state, Pending)


def test_a_probe_asks_for_the_organization(provider: responses.RequestsMock) -> None:
    provider.get(f"{BASE}/v1/organization", status=401, json={"error": "Unauthorized"})
    with pytest.raises(UpstreamError) as caught:
        adapter.probe(CONNECTION)
    assert kind_of(caught.value) is ErrorKind.AUTH
