"""The Runway protocol: both of its forms, what can be cancelled, and how strict the sandbox is."""

from dataclasses import replace

import pytest

from adapters.base import Done, ErrorKind
from tests.adapters.runway.test_videos import AUDIO, FIRST, IMAGE, LAST, VIDEO
from tests.sandbox.driving import FilmFacts, check_keys

GOOD = {"model": "gen4.5", "promptText": "a fox", "duration": 5, "ratio": "1280:720"}
VERSION = {"X_Runway_Version": "2024-11-06"}


@pytest.fixture
def runway(caller):
    return caller("runway", "/runway", "video", "gen4.5", options={"poll_seconds": 0.2})


@pytest.fixture
def router(runway):
    return replace(runway, options={"poll_seconds": 0.2, "api": "router"})


def test_a_task_is_made_and_its_film_delivered(runway, router):
    tall = {"generate_audio": True, "aspect_ratio": "9:16"}
    for one, fields in ((runway, tall), (router, {"inputs": (IMAGE, VIDEO, AUDIO), **tall})):
        assert one.film(one.result(**fields)) == FilmFacts(5, True, True)


def test_every_form_of_a_request_is_taken(runway, router):
    always = replace(runway, capabilities={"audio": "always", "sizes": "words"})
    for one, fields in (
        (runway, {"inputs": (FIRST, LAST), "provider_options": {"seed": 3}}),
        (runway, {"inputs": (IMAGE, VIDEO, AUDIO)}),
        (runway, {"inputs": (FIRST,), "aspect_ratio": "adaptive"}),
        (always, {"resolution": "768p"}),
        (router, {"inputs": (FIRST, LAST), "provider_options": {"negativePrompt": "rain"}}),
    ):
        assert isinstance(one.result(**fields), Done), fields


def test_a_waiting_and_a_running_task_are_cancelled(runway):
    for word in ("[queued=99999]", "[held]"):
        handle = runway.handle(prompt=word)
        assert runway.speaks.cancel(handle, runway.connection) is True
        assert runway.ended(handle).kind is ErrorKind.PROVIDER_FAILED
        assert runway.speaks.cancel(handle, runway.connection) is False
    assert runway.ended({"id": "unknown"}).kind is ErrorKind.EMPTY_RESULT


def test_keys_are_told_apart(runway):
    check_keys(runway)


def test_a_bad_field_is_refused_by_name_and_buys_nothing(runway):
    for endpoint, body, path in (
        ("text_to_video", GOOD | {"n": 1}, ["n"]),
        ("text_to_video", GOOD | {"promptImage": [{"uri": "https://x/a", "position": "first"}]}, ["promptImage"]),
        ("text_to_video", GOOD | {"ratio": "1280x720"}, ["ratio"]),
        ("text_to_video", GOOD | {"duration": "5"}, ["duration"]),
        ("text_to_video", {"model": "gen4.5", "promptText": "a fox", "duration": 5}, ["ratio"]),
        ("text_to_video", GOOD | {"model": "no-such-model"}, ["model"]),
        ("image_to_video", GOOD, ["promptImage"]),
        ("image_to_video", GOOD | {"promptImage": [{"uri": "http://x/a", "position": "first"}]}, ["promptImage"]),
        ("generate/video", {"configId": "c", "input": {"promptText": "a", "ratio": "16:9"}}, ["input", "ratio"]),
        ("generate/video", {"input": {}}, ["configId"]),
    ):
        answer = runway.post(f"/v1/{endpoint}", body, **VERSION)
        assert (answer.status_code, answer.json()["issues"][0]["path"]) == (400, path), body
    assert runway.bought() == 0


def test_a_request_without_the_version_is_refused(runway):
    answer = runway.post("/v1/text_to_video", GOOD)
    assert answer.status_code == 400
    assert "X-Runway-Version" in answer.json()["error"]
