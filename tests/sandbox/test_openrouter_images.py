"""OpenRouter's Images protocol: the pictures that the sandbox makes, and how strict it is."""

import pytest

from adapters.base import ImageRef
from tests.adapters.making import stored
from tests.sandbox.driving import check_keys


@pytest.fixture
def openrouter(caller):
    return caller("openrouter_images", "/openrouter/api/v1", "image", "google/gemini")


def test_pictures_at_once(openrouter):
    images = (ImageRef(stored=stored()), ImageRef(url="https://x.example.com/a.png"))
    made = openrouter.pictures(n=2, image_size="0.5K", aspect_ratio="2:1", images=images)
    assert made == [("PNG", (512, 256))] * 2


def test_keys_are_told_apart(openrouter):
    check_keys(openrouter)


def test_the_sandbox_is_strict(openrouter):
    for changes, status in (
        ({"n": 11}, 400),
        ({"resolution": "0.5K"}, 400),
        ({"aspect_ratio": "7:3"}, 400),
        ({"colour": "red"}, 400),
        ({"size": "512x512", "resolution": "512"}, 400),
        ({"input_references": ["https://x.example.com/a.png"]}, 400),
        ({"prompt": None}, 400),
        ({"model": "no-such-model"}, 404),
    ):
        answer = openrouter.post("/images", {"model": "m", "prompt": "a fox"} | changes)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, status), changes
    assert openrouter.bought() == 0
