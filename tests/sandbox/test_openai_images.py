"""The OpenAI Images protocol over a socket."""

import base64
import io
from dataclasses import replace

import pytest
import requests
from PIL import Image

from tests.sandbox.conftest import IMAGES, first_picture


@pytest.fixture
def png(client):
    return first_picture(client.image("a reference"))


def error_of(response):
    error = response.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert response.headers["x-request-id"]
    return error


def test_an_image_call_answers_like_the_provider(client):
    response = client.image("a fox", size="1360x768", n=2, quality="low", output_format="webp")
    body = response.json()
    assert response.headers["x-request-id"]
    assert body.keys() >= {"created", "data", "size", "quality", "output_format", "usage"}
    assert (body["size"], body["quality"], body["output_format"]) == ("1360x768", "low", "webp")
    assert body["usage"]["total_tokens"] == body["usage"]["input_tokens"] + body["usage"]["output_tokens"]
    images = [Image.open(io.BytesIO(base64.b64decode(item["b64_json"]))) for item in body["data"]]
    assert [(image.size, image.format) for image in images] == [((1360, 768), "WEBP")] * 2


def test_the_default_is_one_square_png(client):
    body = client.image("a fox").json()
    assert len(body["data"]) == 1
    assert (body["size"], body["output_format"]) == ("1024x1024", "png")


def test_the_smallest_and_the_largest_sizes_are_taken(client):
    for size in ("1024x1024", "2880x2880", "3840x2160", "auto"):
        assert client.image("a fox", size=size).status_code == 200, size


def test_a_bad_field_is_refused_by_name_and_buys_nothing(client, sandbox):
    for fields, param in (
        ({"size": "512x512"}, "size"),
        ({"size": "1000x1000"}, "size"),
        ({"size": "4096x2048"}, "size"),
        ({"size": "3072x1008"}, "size"),
        ({"size": "huge"}, "size"),
        ({"size": 1024}, "size"),
        ({"n": 0}, "n"),
        ({"n": 11}, "n"),
        ({"n": True}, "n"),
        ({"n": "2"}, "n"),
        ({"quality": "hd"}, "quality"),
        ({"output_format": "svg"}, "output_format"),
        ({"response_format": "b64_json"}, "response_format"),
        ({"model": ""}, "model"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": "x" * 32_001}, "prompt"),
        ({"stream": True}, "stream"),
    ):
        response = client.image("a fox", **fields)
        assert (response.status_code, error_of(response)["param"]) == (400, param), fields
    assert sandbox.audit()["jobs"] == 0


def test_a_body_that_is_no_json_object_is_refused(client):
    for body in (b"", b"{", b"[]", b'"x"', b"\xff"):
        response = client.call("POST", IMAGES, data=body)
        assert (response.status_code, error_of(response)["type"]) == (400, "invalid_request_error"), body


def test_keys_and_models_are_refused_in_the_protocols_words(client):
    nobody, wrong, broke = (replace(client, key=key).image("a fox") for key in ("", "wrong", "broke"))
    unknown = client.image("a fox", model="no-such-model")
    assert (nobody.status_code, error_of(nobody)["type"]) == (401, "invalid_request_error")
    assert (wrong.status_code, error_of(wrong)["code"]) == (401, "invalid_api_key")
    assert (broke.status_code, error_of(broke)["code"]) == (429, "insufficient_quota")
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "model_not_found")


def test_an_edit_takes_reference_images(client, sandbox, png):
    sandbox.reset()
    for field, count in (("image", 1), ("image[]", 16)):
        response = client.edit([(field, ("reference.png", png, "image/png"))] * count, n="2", size="1248x832")
        assert (response.status_code, len(response.json()["data"])) == (200, 2), field
        assert Image.open(io.BytesIO(first_picture(response))).size == (1248, 832)
    assert sandbox.audit()["by_prompt"] == {"a fox": 2}


def test_an_edit_takes_a_mask(client, png):
    for form, status in (("PNG", 200), ("WEBP", 200), ("JPEG", 400)):
        mask = io.BytesIO()
        Image.open(io.BytesIO(png)).convert("RGB").save(mask, form)
        files = [("image", ("a.png", png, "image/png")), ("mask", ("mask", mask.getvalue(), "image/png"))]
        assert client.edit(files).status_code == status, form


def test_an_edit_sent_in_chunks_is_read(client, png):
    form = requests.Request(
        "POST", "http://x", data={"model": "m", "prompt": "a fox"}, files={"image": ("a.png", png, "image/png")}
    ).prepare()
    pieces = (form.body[start : start + 1000] for start in range(0, len(form.body), 1000))
    headers = {"Content-Type": form.headers["Content-Type"]}
    assert client.call("POST", "/openai/v1/images/edits", data=pieces, headers=headers).status_code == 200


def test_an_edit_without_usable_images_or_with_too_many_is_refused(client, png):
    for files, param in (
        ([("image", ("a.png", b"no picture", "image/png"))], "image"),
        ([("image[]", ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"))], "image[]"),
        ([("mask", ("mask.png", png, "image/png"))], "image"),
        ([("image[]", ("a.png", png, "image/png"))] * 17, "image"),
    ):
        response = client.edit(files)
        assert (response.status_code, error_of(response)["param"]) == (400, param), files[0][1][0]


def test_an_edit_that_is_no_form_is_refused(client):
    for body, content_type in ((b"{}", "application/json"), (b"--x\r\nbroken", "multipart/form-data; boundary=x")):
        response = client.call("POST", "/openai/v1/images/edits", data=body, headers={"Content-Type": content_type})
        assert response.status_code == 400
        assert error_of(response)["message"]
