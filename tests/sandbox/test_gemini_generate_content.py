"""Gemini's protocol: the pictures that the sandbox makes, and how strict it is."""

import base64

import pytest

from adapters.base import ErrorKind, ImageRef
from tests.adapters.making import stored
from tests.sandbox.driving import check_keys, fault_of

PATH = "/v1beta/models/gemini-3-pro-image:generateContent"
SMALL = {"generationConfig": {"imageConfig": {"imageSize": "512"}}}
GOOD = {"contents": [{"role": "user", "parts": [{"text": "a fox"}]}], **SMALL}


@pytest.fixture
def gemini(caller):
    return caller("gemini_generate_content", "/gemini", "image", "gemini-3-pro-image")


def test_a_call_brings_one_real_picture(gemini):
    for fields, size in (
        ({"image_size": "0.5K"}, (512, 512)),
        ({"image_size": "1K", "aspect_ratio": "16:9"}, (1360, 768)),
        ({"image_size": "0.5K", "images": (ImageRef(stored=stored()),)}, (512, 512)),
    ):
        assert gemini.pictures(**fields) == [("PNG", size)]
    assert gemini.bought() == 3


def test_the_first_of_several_calls_can_end_without_a_picture(gemini):
    fault = fault_of(lambda: gemini.submit(prompt="[partial]"))
    assert (fault.kind, fault.code) == (ErrorKind.EMPTY_RESULT, "NO_IMAGE")
    assert len(gemini.submit(prompt="[partial]").outputs) == 1


def test_keys_and_models_are_told_apart(gemini):
    check_keys(gemini, probe_knows=("wrong", "broke"))
    answer = gemini.post(PATH.replace("gemini-3-pro-image", "no-such-model"), GOOD, x_goog_api_key="any")
    assert (answer.status_code, answer.json()["error"]["status"]) == (404, "NOT_FOUND")


def test_a_bad_body_is_refused_and_buys_nothing(gemini):
    for changes in (
        {"prompt": "a fox"},
        {"contents": []},
        {"contents": [{"role": "system", "parts": [{"text": "a fox"}]}]},
        {"contents": [{"parts": [{"text": "a fox", "inlineData": {}}]}]},
        {"contents": [{"parts": [{"text": "x"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}]},
        {"contents": [{"parts": [{"text": "x"}, {"inlineData": {"mimeType": [], "data": ""}}]}]},
        {"generationConfig": {"imageConfig": {"imageSize": "3K"}}},
        {"generationConfig": {"imageConfig": {"aspectRatio": "7:5"}}},
        {"generationConfig": {"imageConfig": {"size": "1K"}}},
        {"generationConfig": {"candidateCount": 2}},
        {"generationConfig": {"responseModalities": ["TEXT"]}},
        {"generationConfig": 5},
    ):
        answer = gemini.post(PATH, GOOD | changes, x_goog_api_key="any")
        assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT"), changes
    assert gemini.bought() == 0


def test_the_answer_has_the_providers_shape(gemini):
    answer = gemini.post(PATH, GOOD, x_goog_api_key="any").json()
    assert answer.keys() == {"candidates", "usageMetadata", "modelVersion", "responseId"}
    thought, text, part = answer["candidates"][0]["content"]["parts"]
    assert (thought["thought"], list(text)) == (True, ["text"])
    assert base64.b64decode(part["inlineData"]["data"]).startswith(b"\x89PNG")
