"""xAI's Images protocol: the pictures that the sandbox makes, and how strict it is."""

import pytest

from adapters.base import ImageRef
from tests.adapters.making import stored
from tests.sandbox.driving import check_keys

LINK = {"url": "https://x.example.com/a.png"}


@pytest.fixture
def xai(caller):
    return caller("openai_images", "/xai/v1", "image", "grok-imagine-image", options={"dialect": "xai"})


def test_pictures_at_once(xai):
    for prompt, count in (("a fox", 0), ("a fox [url]", 1), ("a fox", 2)):
        images = (ImageRef(stored=stored()),) * count
        ((_, size),) = xai.pictures(prompt=prompt, aspect_ratio="2:1", images=images)
        assert size == (1024, 512)


def test_keys_are_told_apart(xai):
    check_keys(xai, probe_knows=())


def test_the_sandbox_is_strict(xai):
    for path, fields, status in (
        ("generations", {"size": "1024x1024"}, 400),
        ("generations", {"resolution": "2K"}, 400),
        ("generations", {"image": LINK}, 400),
        ("edits", {}, 400),
        ("edits", {"image": "https://x.example.com/a.png"}, 400),
        ("edits", {"image": LINK, "images": []}, 400),
        ("generations", {"model": "no-such-model"}, 404),
    ):
        answer = xai.post(f"/images/{path}", {"model": "m", "prompt": "a fox"} | fields)
        assert answer.status_code == status, fields
        assert answer.json().keys() == {"code", "error"}, fields
    assert xai.bought() == 0
