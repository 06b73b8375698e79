"""The OpenAI Images protocol over a socket."""

import base64
import io
from dataclasses import replace

import pytest
import requests
from PIL import Image

from tests.sandbox.conftest import first_picture


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


@pytest.mark.parametrize("size", ["1024x1024", "2720x1536", "3840x2160", "2880x2880", "1536x2720", "auto", "3824x1632"])
def test_the_sizes_of_the_current_models_are_taken(client, size):
    assert client.image("a fox", size=size).status_code == 200


@pytest.mark.parametrize(
    ("fields", "param"),
    [
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
    ],
)
def test_a_bad_field_is_refused_by_name_and_buys_nothing(client, sandbox, fields, param):
    response = client.image("a fox", **fields)
    assert response.status_code == 400
    assert error_of(response)["param"] == param
    assert sandbox.audit()["jobs"] == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(client, body):
    response = client.call("POST", "/openai/v1/images/generations", data=body)
    assert response.status_code == 400
    assert error_of(response)["type"] == "invalid_request_error"


def test_an_unknown_model_is_not_found(client):
    response = client.image("a fox", model="no-such-model")
    assert (response.status_code, error_of(response)["code"]) == (404, "model_not_found")


def test_a_call_without_key_is_unauthorized(client):
    response = requests.post(client.sandbox.url + "/openai/v1/images/generations", json={}, timeout=10)
    assert response.status_code == 401
    assert error_of(response)["type"] == "invalid_request_error"


def test_a_wrong_key_is_unauthorized_and_a_broke_one_out_of_quota(client):
    wrong, broke = (replace(client, key=key).image("a fox") for key in ("wrong", "broke"))
    assert (wrong.status_code, error_of(wrong)["code"]) == (401, "invalid_api_key")
    assert (broke.status_code, error_of(broke)["code"]) == (429, "insufficient_quota")


@pytest.mark.parametrize(("field", "count"), [("image", 1), ("image[]", 1), ("image[]", 16)])
def test_an_edit_takes_reference_images(client, sandbox, png, field, count):
    sandbox.reset()
    files = [(field, ("reference.png", png, "image/png"))] * count
    response = client.edit(files, n="2", size="1248x832")
    assert response.status_code == 200
    assert len(response.json()["data"]) == 2
    assert Image.open(io.BytesIO(first_picture(response))).size == (1248, 832)
    assert sandbox.audit()["by_prompt"] == {"a fox": 1}


def test_an_edit_takes_a_mask(client, png):
    files = [("image", ("a.png", png, "image/png")), ("mask", ("mask.png", png, "image/png"))]
    assert client.edit(files).status_code == 200


def test_an_edit_sent_in_chunks_is_read(client, png):
    form = requests.Request(
        "POST", "http://x", data={"model": "m", "prompt": "a fox"}, files={"image": ("a.png", png, "image/png")}
    ).prepare()
    pieces = (form.body[start : start + 1000] for start in range(0, len(form.body), 1000))
    headers = {"Content-Type": form.headers["Content-Type"]}
    assert client.call("POST", "/openai/v1/images/edits", data=pieces, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("files", "param"),
    [
        ([("image", ("a.png", b"no picture", "image/png"))], "image"),
        ([("image[]", ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"))], "image[]"),
    ],
)
def test_an_edit_without_usable_images_is_refused(client, files, param):
    response = client.edit(files)
    assert response.status_code == 400
    assert error_of(response)["param"] == param


def test_an_edit_without_any_image_is_refused(client, png):
    response = client.edit([("mask", ("mask.png", png, "image/png"))])
    assert (response.status_code, error_of(response)["param"]) == (400, "image")


def test_an_edit_with_too_many_images_is_refused(client, png):
    assert client.edit([("image[]", ("a.png", png, "image/png"))] * 17).status_code == 400


def test_an_edit_that_is_no_form_is_refused(client):
    for body, content_type in ((b"{}", "application/json"), (b"--x\r\nbroken", "multipart/form-data; boundary=x")):
        response = client.call("POST", "/openai/v1/images/edits", data=body, headers={"Content-Type": content_type})
        assert response.status_code == 400
        assert error_of(response)["message"]
