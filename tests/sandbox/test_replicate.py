"""Replicate's predictions: the template adapter's jobs, versions, and how strict the sandbox is."""

from dataclasses import replace

import pytest

from adapters.base import Done, ErrorKind
from tests.adapters.template.templates import SIZES
from tests.sandbox.driving import check_keys, fault_of

FLUX = "black-forest-labs/flux-3"
WAN = "wan-ai/wan-video"


@pytest.fixture
def images(caller):
    options = {"template": "replicate_image", "poll_seconds": 0.2}
    return caller("http_template", "/replicate/v1", "image", FLUX, options=options, capabilities={"size_table": SIZES})


@pytest.fixture
def films(caller):
    options = {"template": "replicate_video", "poll_seconds": 0.2}
    return caller("http_template", "/replicate/v1", "video", WAN, options=options)


def test_pictures_and_films_from_order_to_file(images, films):
    assert [size for _, size in images.pictures(n=2, aspect_ratio="16:9")] == [(1344, 768)] * 2
    assert films.film(films.result(duration=2)).seconds == 2


def test_a_version_is_run_by_a_template_that_extends_one(images):
    template = {"extends": "replicate_image", "submit": {"path": "/predictions", "body": {"version": "{model}"}}}
    one = replace(images, model="5c7d5dc6dd8bf75c", options={"template": template})
    assert isinstance(one.result(), Done)


def test_a_job_is_cancelled_until_it_has_ended(films):
    cancel, running, done = films.speaks.cancel, films.handle(prompt="[held]"), films.handle()
    assert cancel(running, films.connection) is True
    assert isinstance(films.ended(done), Done)
    assert cancel(done, films.connection) is False


def test_an_attached_job_is_found_by_its_id(films):
    for job_id, is_there in ((films.handle()["id"], True), ("nothing", False)):
        state = films.ended(films.speaks.attach(job_id, films.target))
        assert isinstance(state, Done) if is_there else state.kind is ErrorKind.EMPTY_RESULT


def test_keys_and_models_are_told_apart(films):
    check_keys(films)
    unknown = replace(films, model="wan-video/no-such-model")
    assert fault_of(unknown.submit).kind is ErrorKind.MODEL_UNAVAILABLE


def test_the_sandbox_is_strict(images):
    for path, body in (
        (f"models/{FLUX}/predictions", {}),
        (f"models/{FLUX}/predictions", {"inptu": {"prompt": "x"}}),
        (f"models/{FLUX}/predictions", {"input": {"prompt": "x"}, "model": "y"}),
        (f"models/{FLUX}/predictions", {"input": {"prompt": "x", "duration": 5}}),
        (f"models/{WAN}/predictions", {"input": {"prompt": "x", "duration": "5"}}),
        ("predictions", {"input": {"prompt": "x"}}),
    ):
        answer = images.post(f"/{path}", body)
        assert (answer.status_code, answer.json()["status"]) == (422, 422), body
    assert images.bought() == 0
