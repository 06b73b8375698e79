"""Bodies as OpenAI's SDKs send them."""

import hashlib
import json

import pytest
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from common import strict_json
from common.errors import InvalidRequest, UnsupportedMediaType
from tasks_api.openai import bodies
from tests.tasks_api.openai.forms import form

FILES = ("image", "image[]", "mask")
PNG = b"\x89PNG\r\n\x1a\n..."


def request(raw: bytes, content_type: str, **headers: str) -> Request:
    return Request(APIRequestFactory().generic("POST", "/v1/images/edits", raw, content_type, headers=headers))


def read(raw: bytes, content_type: str, **headers: str) -> bodies.SentBody:
    return bodies.read(request(raw, content_type, **headers), files=FILES)


def digest(raw: bytes, content_type: str) -> str:
    return bodies.digest_of(request(raw, content_type), files=FILES)


def refused(raw: bytes, content_type: str, **headers: str) -> tuple[int, str | None]:
    with pytest.raises((InvalidRequest, UnsupportedMediaType)) as caught:
        read(raw, content_type, **headers)
    return caught.value.status, caught.value.param


def test_json_is_read_as_everywhere():
    sent = read(b'{"prompt": "a boat", "n": 2}', "application/json; charset=utf-8")
    assert (sent.fields, sent.files, sent.is_form) == ({"prompt": "a boat", "n": 2}, (), False)


def test_a_form_has_texts_and_files_in_order():
    sent = read(*form(("prompt", "a boat"), ("image[]", PNG), ("image[]", b"GIF89a."), ("mask", PNG), ("n", "2")))
    assert (sent.fields, sent.is_form) == ({"prompt": "a boat", "n": "2"}, True)
    assert [(file.name, file.content) for file in sent.named("image", "image[]")] == [
        ("image[]", PNG),
        ("image[]", b"GIF89a."),
    ]
    assert [file.content for file in sent.named("mask")] == [PNG]


def test_an_image_is_what_its_bytes_are():
    sent = read(*form(*(("image[]", content) for content in (PNG, b"\xff\xd8\xff..", b"RIFF1234WEBP", b"a text"))))
    assert [file.image_type for file in sent.files] == ["image/png", "image/jpeg", "image/webp", None]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (form(("prompt", "a"), ("prompt", "b")), (400, "prompt")),
        (form(("image", PNG), ("image", PNG)), (400, "image")),
        (form(("size[]", "a"), ("size[]", "b")), (400, "size[]")),
        (form(("markup", PNG)), (400, "markup")),
        (form(("mask", "https://example.com/mask.png")), (400, "mask")),
        ((b"--", "multipart/form-data; boundary=x"), (400, None)),
        ((b"[]", "application/json"), (400, None)),
        ((b'{"n": 1, "n": 2}', "application/json"), (400, "n")),
        ((b"prompt=a", "application/x-www-form-urlencoded"), (415, None)),
        ((b"{}", ""), (415, None)),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_part(sent, expected):
    assert refused(*sent) == expected


def test_no_coded_body_is_read():
    assert refused(*form(("prompt", "a")), **{"Content-Encoding": "gzip"}) == (415, None)


def test_the_digest_is_that_of_what_was_sent_whatever_the_boundary():
    sent = [("prompt", "a boat"), ("image", PNG)]
    known = digest(*form(*sent))
    assert known == read(*form(*sent)).digest == digest(*form(*sent, boundary="other"))
    assert known != digest(*form(("prompt", "a boat"), ("image", PNG + b".")))
    assert known != digest(*form(("prompt", "two boats"), ("image", PNG)))
    document = {"prompt": "a boat"}
    assert digest(json.dumps(document).encode(), "application/json") == strict_json.digest_of(document)


def test_the_digest_of_what_cannot_be_read_is_that_of_its_bytes():
    raw, content_type = form(("prompt", "a"), ("prompt", "b"))
    assert digest(raw, content_type) == hashlib.sha256(raw).hexdigest()
