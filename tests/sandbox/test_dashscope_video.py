"""The DashScope video protocol: its generations of models, and how strict the sandbox is."""

from dataclasses import replace

import pytest

from adapters.base import Done, ErrorKind, MediaInput, Pending, UpstreamError, UpstreamRequest
from tests.sandbox.driving import FilmFacts, check_keys, fault_of

URL = "https://cdn.example.com/a.png"
FIRST = MediaInput(type="image", role="first_frame", url=URL)
LAST = MediaInput(type="image", role="last_frame", url=URL)
IMAGE = MediaInput(type="image", role="reference", url=URL)
LEGACY = {"generation": "legacy", "size_table": {"720p": {"16:9": "1280x720", "9:16": "720x1280"}}}


@pytest.fixture
def dashscope(caller):
    return caller("dashscope_video", "/dashscope/api/v1", "video", "wan3.0-video")


def test_a_job_becomes_the_asked_film(dashscope):
    for model, fields, is_tall in (
        ("wan3.0-video", {"generate_audio": True, "aspect_ratio": "9:16"}, True),
        ("wan3.0-video", {"inputs": (FIRST, LAST), "aspect_ratio": "adaptive"}, False),
        ("wan3.0-video", {"inputs": (IMAGE, IMAGE), "provider_options": {"seed": 7}}, False),
        ("wan2.6-t2v", {"aspect_ratio": "9:16"}, True),
        ("wan2.6-i2v", {"inputs": (FIRST,), "aspect_ratio": "adaptive"}, False),
        ("wan2.6-r2v", {"inputs": (IMAGE,)}, False),
    ):
        one = replace(dashscope, model=model, capabilities=LEGACY if model.startswith("wan2") else {})
        done = one.result(duration=4, **fields)
        assert one.film(done) == FilmFacts(4, is_tall, "generate_audio" in fields), (model, fields)
        assert done.duration == 4.0


def test_keys_are_told_apart(dashscope):
    check_keys(dashscope)


def test_a_waiting_job_is_cancelled_and_a_finished_one_is_not(dashscope):
    waiting, ready = dashscope.handle(prompt="a fox [queued=99999]"), dashscope.handle()
    assert isinstance(dashscope.speaks.poll([waiting], dashscope.connection)[0], Pending)
    assert dashscope.speaks.cancel(waiting, dashscope.connection) is True
    assert isinstance(dashscope.ended(waiting), UpstreamError)
    assert isinstance(dashscope.ended(ready), Done)
    assert dashscope.speaks.cancel(ready, dashscope.connection) is False


def test_the_sandbox_refuses_what_the_provider_refuses(dashscope):
    upstream = dashscope.built()
    for changes in (
        {"quality": "high"},
        {"model": ""},
        {"model": "no-such-model"},
        {"input": {}},
        {"input": {"prompt": "a fox", "img_url": URL}},
        {"input": {"prompt": "a fox", "media": [{"type": "middle_frame", "url": URL}]}},
        {"input": {"prompt": "a fox", "media": [{"type": "last_frame", "url": URL}]}},
        {"parameters": {"resolution": "720p"}},
        {"parameters": {"duration": "5"}},
        {"parameters": {"size": "1280*720"}},
        {"parameters": {"seed": -1}},
        {"model": "wan2.6-t2v", "parameters": {"ratio": "16:9"}},
    ):
        strange = UpstreamRequest(path=upstream.path, body={**upstream.body, **changes}, billed=upstream.billed)
        fault = fault_of(lambda strange=strange: dashscope.speaks.submit(strange, dashscope.connection))
        is_model = changes.get("model") == "no-such-model"
        assert fault.kind is (ErrorKind.MODEL_UNAVAILABLE if is_model else ErrorKind.INVALID_REQUEST), changes
    assert dashscope.bought() == 0
