"""Requests of the Images API: what a price by the piece does not cover, and the pictures that go in."""

from dataclasses import replace

import pytest

from common.errors import InvalidRequest
from relay.families.registry import IMAGES
from tests.relay.families.requests.asking import GENERATIONS, paths, refused, said_no, understood
from tests.relay.families.test_images import FORM, form


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("input_fidelity", "high"),
        ("moderation", "low"),
        ("partial_images", 3),
        ("complexity", "high"),
        ("prompt_rewriter", "x"),
        ("markup", "data:image/png;base64,QUFB"),
    ],
)
def test_what_costs_more_than_a_picture_is_refused_by_the_piece_only(name, value):
    [field] = refused(GENERATIONS, {name: value})
    assert (field.name, field.path, field.only_by_piece) == (name, name, True)


def test_what_costs_nothing_passes():
    usual = {
        "mask": {"image_url": "https://a.example/b"}, "user": "u", "safety_identifier": "s", "background": "auto",
        "output_format": "webp", "output_compression": 50, "response_format": "b64_json", "style": "vivid",
        "moderation": "auto", "input_fidelity": "low", "partial_images": 0, "quality": "high", "size": "1024x1024",
    }  # fmt: skip
    call, found = understood(GENERATIONS, usual)
    assert (found, call.size, call.quality, call.pictures_in) == ([], "1024x1024", "high", 1)


def test_a_size_and_a_quality_are_texts():
    assert understood(GENERATIONS, {"size": None})[0].size == ""
    assert said_no(GENERATIONS, {"size": 1024}) == "size"
    assert said_no(GENERATIONS, {"quality": ["high"]}) == "quality"


def test_each_picture_that_goes_in_counts():
    pictures = [{"image_url": "data:image/png;base64,QUFB"}, {"image_url": "https://a.example/b"}]
    assert understood(GENERATIONS, {"images": pictures, "mask": pictures[0]})[0].pictures_in == 3
    assert understood(GENERATIONS, {"image": ["QUFB", "https://a.example/b"]})[0].pictures_in == 2


def read(raw: bytes):
    document = IMAGES.document(raw, FORM)
    call = IMAGES.read(document, raw, FORM)
    return call, list(call.refused)


def test_each_picture_of_a_form_counts():
    raw = form(
        ("model", b"m"), ("image[];a.png", b"AA"), ("image[];b.png", b"BB"), ("mask;c.png", b"C"), ("image", b"x")
    )
    call, found = read(raw)
    assert (call.pictures_in, found) == (4, [])
    assert call.input_bound == len(raw) - 5


@pytest.mark.parametrize(
    ("name", "param"), [("model[]", '["model[]"]'), ("Model", "Model"), ("N", "N"), ("prompt[]", '["prompt[]"]')]
)
def test_a_part_of_a_form_in_another_writing_is_refused(name, param):
    with pytest.raises(InvalidRequest) as refusal:
        read(form(("model", b"m"), (name, b"5")))
    assert refusal.value.param == param


def test_a_part_of_a_form_that_nobody_knows_is_named():
    _, found = read(form(("model", b"m"), ("svg[model]", b"dear"), ("brand_new", b"1")))
    assert [field.path for field in found] == ['["svg[model]"]', "brand_new"]


def test_a_second_name_in_a_parts_header_is_refused():
    raw = form(("model", b"m"), ("prompt", b"dear"))
    for second in (b"; name*=utf-8''model", b"; name*0=mo; name*1=del", b"; name=model"):
        with pytest.raises(InvalidRequest):
            read(raw.replace(b'name="prompt"', b'name="prompt"' + second))


def test_a_model_with_blanks_around_it_is_named():
    with pytest.raises(InvalidRequest) as refusal:
        read(form(("model", b"m ")))
    assert refusal.value.param == "model"


def test_a_query_is_refused():
    with pytest.raises(InvalidRequest):
        IMAGES.read({"model": "m"}, b"{}", replace(FORM, query="n=5"))
    assert paths(GENERATIONS, {"svg": {"model": "dear"}}) == ["svg"]


@pytest.mark.parametrize(
    ("said", "held"), [(3, 300), ("3", 300), (0, 0), (None, 0), ("", 0), (10**30, 10_000), ("x", 10_000)]
)
def test_pictures_that_a_stream_shows_before_they_are_done_are_held(said, held):
    call, _ = understood(GENERATIONS, {"stream": True, "partial_images": said})
    assert call.predicted_bound == held
