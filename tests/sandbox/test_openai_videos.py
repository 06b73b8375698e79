"""The OpenAI Videos protocol: films behind the key, deletion, and how strict the sandbox is."""

from dataclasses import replace

import pytest
import requests

from adapters.base import Done, ErrorKind, MediaInput, Pending
from tests.adapters.making import PNG
from tests.sandbox.driving import check_keys
from tools.children import PATIENCE


@pytest.fixture
def openai(caller):
    return caller("openai_videos", "/openai/v1", "video", "wan-3")


def test_a_job_becomes_a_film_as_form_and_as_json(openai):
    made = openai.post("/images/generations", {"model": "m", "prompt": "[url]"}).json()
    frame = MediaInput(type="image", role="first_frame", url=made["data"][0]["url"])
    for options in ({}, {"encoding": "json"}):
        one = replace(openai, options=options)
        done = one.result(duration=2, aspect_ratio="9:16", inputs=(frame,))
        film = one.film(done)
        assert (done.duration, film.seconds, film.is_tall) == (2.0, 2, True)


def test_the_film_needs_the_key(openai):
    assert requests.get(openai.result().outputs[0].url, timeout=PATIENCE).status_code == 401


def test_a_job_tells_how_far_it_is(openai):
    (state,) = openai.speaks.poll([openai.handle(prompt="[held]")], openai.connection)
    assert isinstance(state, Pending)
    assert state.progress is not None


def test_keys_are_told_apart(openai):
    check_keys(openai)


def test_a_job_is_deleted_only_once_it_has_ended(openai):
    running, over = openai.handle(prompt="[held]"), openai.handle()
    assert isinstance(openai.ended(over), Done)
    headers = {"Authorization": "Bearer any"}
    answers = [
        requests.delete(f"{openai.connection.base_url}/videos/{handle['id']}", headers=headers, timeout=PATIENCE)
        for handle in (running, over)
    ]
    assert [answer.status_code for answer in answers] == [400, 200]
    assert answers[1].json() == {"id": over["id"], "object": "video.deleted", "deleted": True}
    assert openai.ended(over).kind is ErrorKind.EMPTY_RESULT


def test_the_sandbox_refuses_what_the_protocol_does_not_know(openai):
    for changes, code in (
        ({"seconds": 4}, "invalid_type"),
        ({"seconds": "4.5"}, "invalid_value"),
        ({"size": "640x480"}, "invalid_value"),
        ({"generate_audio": True}, "unknown_parameter"),
        ({"input_reference": "https://x.example.com/a.png"}, "invalid_type"),
        ({"prompt": ""}, "missing_required_parameter"),
        ({"model": "no-such-model"}, "model_not_found"),
    ):
        answer = openai.post("/videos", {"model": "m", "prompt": "a fox"} | changes)
        assert answer.json()["error"]["code"] == code, changes
        assert answer.status_code in (400, 404), changes
    assert openai.bought() == 0


def test_a_reference_in_a_form_must_be_a_picture(client):
    fields = {"model": "m", "prompt": "a fox"}
    answers = [
        client.call("POST", "/openai/v1/videos", data=fields, files={"input_reference": ("a.png", PNG)}),
        client.call(
            "POST",
            "/openai/v1/videos",
            files={name: (None, text) for name, text in (fields | {"input_reference": "a"}).items()},
        ),
    ]
    assert [answer.json()["error"]["code"] for answer in answers] == ["invalid_image_file", "invalid_type"]
