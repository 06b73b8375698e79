"""What the answers of each protocol tell of what was made and used, for the worker to compare with the bill."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
import responses

from adapters.base import Accepted, Done, Reported
from adapters.kit import reports
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, image_request, image_target, video_request, video_target

BASE = "https://provider.example.com/v1"
FILM = "https://cdn.example.com/film.mp4"
ARK = {"id": "1", "status": "succeeded", "content": {"video_url": FILM}, "duration": 5}
KLING = {"id": "1", "status": "succeeded", "outputs": [{"type": "video", "url": FILM}] * 2}


def reported(protocol: str, answer: dict[str, Any], handle: dict[str, Any] | None = None, **options: Any) -> Reported:
    with responses.RequestsMock() as mock:
        mock.get(re.compile(".*"), json=answer)
        polled = ADAPTERS[protocol].poll([{"id": "1", **(handle or {})}], connection_to(BASE, options=options))
    assert isinstance(polled[0], Done), polled
    return polled[0].reported


def test_ark_tells_resolution_sound_and_tokens() -> None:
    told = {"resolution": "720p", "generate_audio": True, "framespersecond": 24}
    found = reported("ark_content_tasks", ARK | told | {"usage": {"completion_tokens": 108_900}})
    assert (found.resolution, found.has_sound) == ("720p", True)
    assert found.used_seconds == pytest.approx(5.04 / 1.1, rel=0.01)
    words = told | {"framespersecond": "24", "usage": {"completion_tokens": "108900"}}
    assert reported("ark_content_tasks", ARK | words) == found
    much = reported("ark_content_tasks", ARK | told | {"usage": {"completion_tokens": 7 * 108_900}})
    assert much.used_seconds == pytest.approx(7 * 5.04 / 1.1, rel=0.01)


def test_minimax_tells_resolution_and_all_seconds() -> None:
    task = {"id": "1", "status": "succeeded", "content": {"url": FILM}, "duration": 5, "resolution": "768P"}
    found = reported("ark_content_tasks", {"task": task | {"usage": {"total_seconds": "35"}}}, dialect="minimax_v2")
    assert found == Reported(resolution="768P", used_seconds=35.0)


def test_openai_videos_tell_the_size() -> None:
    job = {"id": "1", "status": "completed", "seconds": "5", "size": "1280x720"}
    assert reported("openai_videos", job) == Reported(size="1280x720")
    assert reported("openai_videos", {"id": "1", "status": "completed"}) == Reported()


def test_dashscope_tells_what_it_charges_by() -> None:
    usage = {"duration": 35, "output_video_duration": 5, "video_count": 2, "SR": 720, "size": "1280*720"}
    answer = {"output": {"task_status": "SUCCEEDED", "video_url": FILM}, "usage": usage}
    wanted = Reported(count=2, resolution="720p", size="1280x720", used_seconds=35.0)
    assert reported("dashscope_video", answer) == wanted


def test_kling_tells_how_many_films_there_are() -> None:
    assert reported("kling_tasks", {"code": 0, "data": [KLING]}, {"path": "/tasks"}) == Reported(count=2)


def test_openrouter_tells_the_cost() -> None:
    job = {"id": "1", "status": "completed", "urls": [FILM], "usage": {"cost": 0.35}}
    assert reported("openrouter_videos", job) == Reported(cost_micros=350_000)


def test_runway_tells_credits_of_one_cent() -> None:
    task = {"id": "1", "status": "SUCCEEDED", "output": [FILM], "cost": {"credits": 25}}
    assert reported("runway", task) == Reported(cost_micros=250_000)


def test_the_router_of_runway_tells_at_once_what_it_makes_of_a_request() -> None:
    adapter, connection = ADAPTERS["runway"], connection_to(BASE, options={"api": "router"})
    target = replace(video_target(), adapter="runway", options={"api": "router"})
    created = {"id": "1", "routing": {"resolvedInput": {"duration": "8", "resolution": "1080p", "ratio": "16:9"}}}
    with responses.RequestsMock() as mock:
        mock.post(re.compile(".*"), json=created)
        accepted = adapter.submit(adapter.build(video_request(), target), connection)
    assert isinstance(accepted, Accepted)
    task = {"id": "1", "status": "SUCCEEDED", "output": [FILM]}
    found = reported("runway", task, dict(accepted.handle), api="router")
    assert found == Reported(resolution="1080p", used_seconds=8.0)


def test_only_sane_values_are_reported() -> None:
    for value, count in [(8, 8), (0, 0), (-1, None), (True, None), ("8", None), (None, None), (10**10, None)]:
        assert reports.count_of(value) == count, value
    for value, size in [("1280*720", "1280x720"), ("1280:720", "1280x720"), ("0x0", None), ("auto", None), (7, None)]:
        assert reports.size_of(value) == size, value
    for value, word in [("720P", "720P"), (720, "720p"), ("", None), (None, None), ("x" * 40, None), ([], None)]:
        assert reports.word_of(value) == word, value
    for value, micros in [(0.35, 350_000), (0, 0), (-1, None), (float("nan"), None), (float("inf"), None), ("1", None)]:
        assert reports.micros_of(value) == micros, value
    assert reports.micros_of(1, units_per_usd=3) == round(Decimal(1_000_000) / 3)


@pytest.mark.parametrize(
    ("protocol", "options", "answer", "wanted"),
    [
        ("openai_images", {}, {"data": [{"url": FILM}], "size": "1024x1024"}, Reported(size="1024x1024")),
        (
            "openai_images",
            {"dialect": "xai"},
            {"data": [{"url": FILM}], "usage": {"cost_in_usd_ticks": 200_000_000}},
            Reported(cost_micros=20_000),
        ),
        (
            "ark_images",
            {},
            {"data": [{"url": FILM, "size": "2048x2048"}], "usage": {"generated_images": 8}},
            Reported(count=8, size="2048x2048"),
        ),
        ("openrouter_images", {}, {"data": [{"url": FILM}], "usage": {"cost": 0.04}}, Reported(cost_micros=40_000)),
        (
            "dashscope_image",
            {},
            {
                "output": {"choices": [{"message": {"content": [{"image": FILM}]}}]},
                "usage": {"image_count": 4, "width": 1024, "height": 1024},
            },
            Reported(count=4),
        ),
    ],
)
def test_answers_with_pictures_tell_count_size_and_cost(protocol, options, answer, wanted) -> None:
    adapter = ADAPTERS[protocol]
    target = replace(image_target(), adapter=protocol, options=options, upstream_model="qwen-image-3")
    with responses.RequestsMock() as mock:
        mock.post(re.compile(".*"), json=answer)
        done = adapter.submit(adapter.build(image_request(), target), connection_to(BASE, options=options))
    assert isinstance(done, Done)
    assert done.reported == wanted


def test_a_job_with_pictures_tells_their_count() -> None:
    output = {"task_status": "SUCCEEDED", "results": [{"url": FILM}]}
    assert reported("dashscope_image", {"output": output, "usage": {"image_count": 4}}) == Reported(count=4)
