"""The OpenRouter Videos protocol: films in two ways, and how strict the sandbox is."""

import pytest
import requests

from adapters.base import Done, ErrorKind, Output
from tests.adapters.openrouter.test_videos import AUDIO, EVERY_REFERENCE, FIRST, IMAGE, LAST, VIDEO
from tests.sandbox.driving import FilmFacts, check_keys
from tools.children import PATIENCE

ROLES = {"roles": EVERY_REFERENCE | {"first_frame": 1, "last_frame": 1}}
LINK = {"type": "image_url", "image_url": {"url": "https://x.example.com/a.png"}}


@pytest.fixture
def openrouter(caller):
    return caller("openrouter_videos", "/openrouter/api/v1", "video", "google/veo-3.1", capabilities=ROLES)


def test_a_job_becomes_a_film(openrouter):
    for fields, has_sound in (
        ({"generate_audio": True, "inputs": (FIRST, LAST)}, True),
        ({"inputs": (IMAGE, VIDEO, AUDIO), "resolution": "4k", "provider_options": {"seed": 1}}, False),
    ):
        done = openrouter.result(duration=2, aspect_ratio="2:3", **fields)
        assert "/files/" in done.outputs[0].url
        assert openrouter.film(done) == FilmFacts(2, True, has_sound)


def test_the_content_path_gives_the_film_to_the_key_only(openrouter):
    handle = openrouter.handle(duration=2)
    assert isinstance(openrouter.ended(handle), Done)
    url = f"{openrouter.connection.base_url}/videos/{handle['id']}/content?index=0"
    assert openrouter.film(Done(outputs=(Output(index=0, kind="video", url=url),))).seconds == 2
    assert requests.get(url, timeout=PATIENCE).status_code == 401


def test_keys_are_told_apart(openrouter):
    check_keys(openrouter)


def test_an_unknown_job_is_an_empty_result(openrouter):
    assert openrouter.ended({"id": "gen-vid-0"}).kind is ErrorKind.EMPTY_RESULT


def test_the_sandbox_refuses_what_the_protocol_does_not_know(openrouter):
    for name, value in (
        ("duration", "5"),
        ("resolution", "4k"),
        ("aspect_ratio", "5:4"),
        ("inputs", []),
        ("frame_images", [LINK]),
        ("frame_images", [LINK | {"frame_type": "first_frame"}] * 2),
        ("input_references", [LINK | {"role": "reference"}]),
        ("provider", {"order": ["google"]}),
        ("prompt", ""),
    ):
        answer = openrouter.post("/videos", {"model": "m", "prompt": "a fox", name: value})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, 400), (name, value)
        assert name in answer.json()["error"]["message"]
    assert openrouter.bought() == 0
