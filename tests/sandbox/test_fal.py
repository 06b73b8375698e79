"""fal's queue: the template adapter's jobs, what can be cancelled, and how strict the sandbox is."""

import pytest

from adapters.base import Done, ErrorKind
from tests.adapters.template.templates import SIZES
from tests.sandbox.driving import FilmFacts, check_keys

FLUX = "fal-ai/flux/dev"
KLING = "fal-ai/kling-video/v3/text-to-video"


@pytest.fixture
def images(caller):
    options = {"template": "fal_image", "poll_seconds": 0.2}
    return caller("http_template", "/fal", "image", FLUX, options=options, capabilities={"size_table": SIZES})


@pytest.fixture
def films(caller):
    return caller("http_template", "/fal", "video", KLING, options={"template": "fal_video", "poll_seconds": 0.2})


def test_pictures_and_films_from_order_to_file(images, films):
    assert [size for _, size in images.pictures(n=2)] == [(1024, 1024)] * 2
    done = films.result(duration=3)
    assert (done.duration, films.film(done)) == (3.0, FilmFacts(3, False, films.film(done).has_sound))


def test_an_attached_job_is_found_by_its_id(films):
    for job_id, is_there in ((films.handle()["id"], True), ("nothing", False)):
        state = films.ended(films.speaks.attach(job_id, films.target))
        assert isinstance(state, Done) if is_there else state.kind is ErrorKind.EMPTY_RESULT


def test_only_a_queued_job_is_cancelled(films):
    queued, running = films.handle(prompt="[queued=99999]"), films.handle(prompt="[held]")
    assert [films.speaks.cancel(job, films.connection) for job in (queued, running)] == [True, False]
    assert films.ended(queued).kind is ErrorKind.PROVIDER_FAILED


def test_keys_are_told_apart(films):
    check_keys(films)


def test_the_sandbox_is_strict(images):
    for model, body, kind in (
        (FLUX, {}, "missing"),
        (FLUX, {"prompt": ""}, "value_error"),
        (FLUX, {"prompt": "x", "num_images": 11}, "value_error"),
        (FLUX, {"prompt": "x", "image_size": {"width": 5}}, "value_error"),
        (FLUX, {"prompt": "x", "duration": 5}, "extra_forbidden"),
        (KLING, {"prompt": "x", "num_images": 1}, "extra_forbidden"),
        (KLING, {"prompt": "x", "image_url": "file:///etc/passwd"}, "value_error"),
        (KLING, [], "value_error"),
    ):
        answer = images.post(f"/{model}", body, Authorization="Key any")
        assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, kind), body
    assert images.bought() == 0


def test_the_sandbox_wants_fals_scheme_and_model(images):
    assert images.post(f"/{FLUX}", {"prompt": "x"}, Authorization="Bearer any").status_code == 401
    assert images.post("/fal-ai/no-such-model", {"prompt": "x"}, Authorization="Key any").status_code == 404
