"""The Ark image protocol: the pictures that the sandbox makes, and how strict it is."""

import pytest

from adapters.base import ErrorKind, ImageRef
from tests.adapters.making import stored
from tests.sandbox.driving import check_keys, fault_of

PATH = "/images/generations"
SMALL = {"size": "1280x720"}
GOOD = {"model": "seedream-4", "prompt": "a fox", **SMALL}


@pytest.fixture
def ark(caller):
    return caller("ark_images", "/ark/api/v3", "image", "seedream-4")


def test_a_call_brings_one_real_picture(ark):
    for fields, expected in (
        ({"extra_body": SMALL}, ("JPEG", (1280, 720))),
        ({"images": (ImageRef(stored=stored()),)}, ("JPEG", (1024, 1024))),
        ({"extra_body": SMALL | {"response_format": "b64_json", "output_format": "png"}}, ("PNG", (1280, 720))),
    ):
        assert ark.pictures(**fields) == [expected]
    assert ark.bought() == 3


def test_the_first_of_several_calls_can_end_without_a_picture(ark):
    assert fault_of(lambda: ark.submit(prompt="[partial]")).kind is ErrorKind.EMPTY_RESULT
    assert len(ark.submit(prompt="[partial]").outputs) == 1


def test_keys_and_models_are_told_apart(ark):
    check_keys(ark, probe_knows=("wrong", "broke"))
    answer = ark.post(PATH, GOOD | {"model": "no-such-model"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "InvalidEndpointOrModel.NotFound")


def test_a_bad_field_is_refused_by_name_and_buys_nothing(ark):
    for changes, param in (
        ({"n": 2}, "n"),
        ({"prompt": ""}, "prompt"),
        ({"size": "8K"}, "size"),
        ({"size": "512x512"}, "size"),
        ({"size": "16384x512"}, "size"),
        ({"size": []}, "size"),
        ({"image": "data:image/png;base64,AAAA"}, "image"),
        ({"image": ["https://x.example.com/a.png"] * 15}, "image"),
        ({"image": 5}, "image"),
        ({"watermark": "no"}, "watermark"),
        ({"response_format": "png"}, "response_format"),
        ({"sequential_image_generation": "auto"}, "sequential_image_generation"),
        ({"stream": True}, "stream"),
    ):
        answer = ark.post(PATH, GOOD | changes)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param), changes
    assert ark.bought() == 0


def test_the_answer_has_the_providers_shape(ark):
    answer = ark.post(PATH, GOOD).json()
    assert answer.keys() == {"model", "created", "data", "usage"}
    assert answer["data"][0].keys() == {"url", "size"}
    assert answer["usage"]["generated_images"] == 1
