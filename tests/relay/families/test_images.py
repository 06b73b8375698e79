"""OpenAI's Images API: pictures and tokens, forms that go on as they came, and streams of pictures."""

import json
from dataclasses import replace

import pytest

from adapters.base import ErrorKind
from common.errors import InvalidRequest, UnsupportedMediaType
from common.token_usage import TokenUsage
from relay.families.base import AskedCall, CallPath, Endpoint
from relay.families.registry import IMAGES, find_family
from tests.relay.families.asking import SOMEWHERE, asked_of, event, taken
from tests.relay.families.requests.asking import refused_of

GENERATIONS, EDITS = "/v1/images/generations", "/v1/images/edits"
SAID = {"model": "m", "prompt": "a cat"}
TOLD = {"input_tokens": 10, "output_tokens": 50, "total_tokens": 60, "input_tokens_details": {"image_tokens": 4}}
PICTURE = b"\x89PNG\r\n\r\n--b" * 20_000
FORM = CallPath(path=EDITS, content_type='multipart/form-data; boundary="b\'x"')


def asked(**more) -> AskedCall:
    return asked_of(GENERATIONS, {**SAID, **more})[1]


def form(*parts: tuple[str, bytes]) -> bytes:
    """Names and contents; a name with a file's name behind a semicolon is a file."""
    written = b""
    for name, content in parts:
        field, _, file = name.partition(";")
        named = f'; filename="{file}"\r\nContent-Type: image/png' if file else ""
        written += (
            f'--b\'x\r\nContent-Disposition: form-data; name="{field}"{named}\r\n\r\n'.encode() + content + b"\r\n"
        )
    return written + b"--b'x--\r\n"


def completed(**usage) -> bytes:
    return event({"type": "image_generation.completed", "b64_json": "AA", "usage": usage}, "image_generation.completed")


PARTIAL = event({"type": "image_generation.partial_image", "b64_json": "AA", "partial_image_index": 0})


def test_the_bill_depends_on_the_number_of_pictures():
    call = asked(n=3, stream=True)
    assert (call.images, call.choices, call.is_stream, call.output_limit) == (3, 3, True, None)
    assert asked(n=None).images == 1
    for more, param in (({"n": 0}, "n"), ({"n": "2"}, "n"), ({"model": None}, "model"), ({"stream": "yes"}, "stream")):
        with pytest.raises(InvalidRequest) as refused:
            asked(**more)
        assert refused.value.param == param


def test_a_form_is_read_and_goes_on_as_it_came():
    raw = form(
        ("image[];a.png", PICTURE),
        ("image[];b", b""),
        ("n", b"2"),
        ("model", b"m"),
        ("stream", b"true"),
        ("prompt", b"a\0cat"),
    )
    document = IMAGES.document(raw, FORM)
    call = IMAGES.read(document, raw, FORM)
    assert (document["n"], call.model, call.images, call.is_stream) == (2, "m", 2, True)
    assert (call.input_bound, call.pictures_in) == (len(raw) - len(PICTURE), 2)
    assert IMAGES.body(document, raw, call, "m") is raw
    mapped = form(
        ("image[];a.png", PICTURE),
        ("image[];b", b""),
        ("n", b"2"),
        ("model", "üp".encode()),
        ("stream", b"true"),
        ("prompt", b"a\0cat"),
    )
    assert IMAGES.body(document, raw, call, "üp") == mapped


def test_an_empty_model_at_the_end_of_a_form_has_its_place():
    raw = form(("model", b""))
    assert raw[slice(*IMAGES.document(raw, FORM).model_span)] == b""


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        (form(("model", b"m"), ("model", b"n")), "model"),
        (form(("model", b"m"), ("n", b"1.5")), "n"),
        (form(("model", b"m"), ("n", "٣".encode())), "n"),
        (form(("model;file", b"m")), "model"),
        (form(("model", b"cheap"), ("model;file", b"dear")), "model"),
        (form(("model", b"m"), ("n;file", b"10")), "n"),
        (form(("model", b"m"), ("prompt;file", b"text" * 9_000)), "prompt"),
        (form(("model", b"m"), ("stream", b"1")), "stream"),
        (form(("model", b"m"))[:-9], None),
        (b"", None),
    ],
)
def test_a_form_that_says_nothing_clear_is_refused(raw, param):
    with pytest.raises(InvalidRequest) as refused:
        IMAGES.read(IMAGES.document(raw, FORM), raw, FORM)
    assert refused.value.param == param


def test_generations_take_no_form():
    with pytest.raises(UnsupportedMediaType):
        IMAGES.document(form(("model", b"m")), replace(FORM, path=GENERATIONS))


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"svg": {"model": "dear"}}, "svg"),
        ({"frame_count": 8}, "frame_count"),
        ({"output_format": "gif"}, "output_format"),
        ({"images": [{"image_url": "data:"}, {"file_id": "f"}]}, "images[1].file_id"),
        ({"mask": {"file_id": "f"}}, "mask.file_id"),
    ],
)
def test_what_costs_more_or_is_anothers_is_listed(fields, path):
    assert [field.path for field in refused_of(IMAGES, {**SAID, **fields}, SOMEWHERE)] == [path]


def test_addresses_are_those_of_the_paths():
    endpoint = Endpoint(
        platform="openai", base_url="https://a.example/v1/", credentials={"api_key": "k"}, upstream_model="m"
    )
    for path in (GENERATIONS, EDITS):
        family, called = find_family("POST", path)
        assert family.url(endpoint, called, asked()) == f"https://a.example{path}"
    sent = IMAGES.headers(endpoint, {"content-type": FORM.content_type})
    assert sent["content-type"] == FORM.content_type


def test_pictures_and_tokens_of_an_answer_are_counted():
    made, two = {"data": [{"b64_json": "AA"}, {"url": "https://x.example/1"}]}, asked(n=2)
    assert IMAGES.usage({**made, "usage": TOLD}, two) == TokenUsage(
        input_tokens=10, image_input_tokens=4, output_tokens=50, image_tokens=50, images=2
    )
    divided = {**TOLD, "output_tokens_details": {"image_tokens": 40, "text_tokens": 10}}
    assert IMAGES.usage({**made, "usage": divided}, two).image_tokens == 40
    assert IMAGES.usage(made, two) == TokenUsage(images=2)
    assert IMAGES.usage({**made, "usage": {"output_tokens": -1}}, two) == TokenUsage(images=2)
    assert [IMAGES.usage(document, two) for document in ({}, {"data": []}, {"data": "x"}, None)] == [None] * 4


@pytest.mark.parametrize(
    ("items", "asked_for", "images"),
    [
        ([{"b64_json": "AA"}, None, {"b64_json": None, "url": None}], 3, 1),
        ([{"b64_json": ""}, {"url": ""}, {"b64_json": 5}, {"url": ["u"]}, "AA"], 5, 0),
        ([{"b64_json": "AA"}] * 9, 1, 1),
        ([{"b64_json": None, "url": "https://x.example/1"}] * 2, 4, 2),
    ],
)
def test_a_picture_counts_where_there_is_one_and_at_most_as_many_as_were_asked_for(items, asked_for, images):
    usage = IMAGES.usage({"data": items}, asked(n=asked_for))
    assert usage == (TokenUsage(images=images) if images else None)
    assert IMAGES.delivered({"data": items}, asked(n=asked_for)).pictures == images
    assert IMAGES.is_answer({"data": items}, asked()) is bool(images)


def test_pictures_of_a_stream_count_alike():
    reader = IMAGES.stream(asked(n=3, stream=True), "m")
    kind = "image_generation.completed"
    taken(reader, *(event({"type": kind, "b64_json": data}) for data in ("AA", "", None)))
    assert (reader.usage, reader.can_end, reader.delivered.pictures) == (TokenUsage(images=1), True, 1)


def test_an_answer_tells_size_and_quality():
    told = {"data": [{"url": "https://x.example/1"}], "size": "1024x1536", "quality": "high"}
    assert IMAGES.usage(told, asked()) == TokenUsage(images=1, size="1024x1536", quality="high")
    reader = IMAGES.stream(asked(stream=True), "m")
    taken(reader, event({"type": "image_edit.completed", "b64_json": "AA", "size": "1x1", "quality": "low"}))
    assert (reader.usage.size, reader.usage.quality) == ("1x1", "low")


def test_a_stream_ends_with_its_last_picture_and_sums_them_up():
    reader = IMAGES.stream(asked(n=2, stream=True), "m")
    first, last = completed(**TOLD), completed(**TOLD)
    assert taken(reader, PARTIAL) == [PARTIAL]
    assert (reader.usage, reader.delivered.pictures, reader.can_end) == (None, 0, False)
    assert taken(reader, first) == [first]
    assert (reader.usage.images, reader.is_over, reader.can_end) == (1, False, False)
    assert taken(reader, PARTIAL, last, b"data: [DONE]\n\n") == [PARTIAL, last, b""]
    assert reader.usage == TokenUsage(
        input_tokens=20, image_input_tokens=8, output_tokens=100, image_tokens=100, images=2
    )
    assert (reader.is_over, reader.can_end, reader.error) == (True, True, None)


def succeeded(index: int, **picture: str) -> bytes:
    return event({"type": "image_generation.partial_succeeded", "image_index": index, "model": "m", **picture})


ENDED = event({"type": "image_generation.completed", "usage": {"generated_images": 2, "output_tokens": 4096}})
NOT_MADE = event({"type": "image_generation.partial_failed", "image_index": 1, "error": {"code": "x"}})
URL, B64 = {"url": "https://a.example/b.png"}, {"b64_json": "AA"}


@pytest.mark.parametrize(
    ("events", "made"),
    [
        ([succeeded(0, **URL), succeeded(1, **B64)], 2),
        ([succeeded(0, **URL), NOT_MADE], 1),
        ([succeeded(0, url=""), succeeded(1)], 0),
        ([succeeded(0, **URL), succeeded(1, **B64), succeeded(2, **B64)], 2),
    ],
)
def test_pictures_that_succeed_one_by_one_count_and_one_event_ends_them(events, made):
    reader = IMAGES.stream(asked(n=2, stream=True), "m")
    assert taken(reader, *events) == events
    assert ((reader.usage or TokenUsage()).images, reader.can_end) == (made, False)
    assert taken(reader, ENDED) == [ENDED]
    assert (reader.usage.images, reader.usage.output_tokens, reader.is_over) == (made, 4096, True)


def test_pictures_that_succeed_one_by_one_are_a_whole_answer_too():
    events = [json.loads(frame[6:]) for frame in (succeeded(0, **URL), PARTIAL, succeeded(1, **B64), ENDED)]
    assert IMAGES.joined(events) == {"data": [URL, B64], "usage": {"generated_images": 2, "output_tokens": 4096}}


def test_an_error_among_the_events_is_classified():
    reader = IMAGES.stream(asked(stream=True), "m")
    frame = event({"type": "error", "error": {"code": "moderation_blocked", "message": "x"}}, "error")
    assert taken(reader, PARTIAL, frame) == [PARTIAL, b""]
    assert reader.error.kind is ErrorKind.CONTENT_POLICY
    assert json.loads(IMAGES.error_frame(InvalidRequest("x"))[6:])["error"]["message"] == "x"


@pytest.mark.parametrize(
    ("details", "pictured"),
    [
        ({}, 1000),
        (None, 1000),
        ({"image_tokens": 0, "text_tokens": 0}, 1000),
        ({"image_tokens": None, "text_tokens": None}, 1000),
        ({"text_tokens": 100}, 900),
        ({"text_tokens": 1000}, 1000),
        ({"reasoning_tokens": 100}, 900),
        ({"image_tokens": 100, "text_tokens": 100}, 900),
        ({"image_tokens": 100}, 1000),
        ({"image_tokens": 700, "text_tokens": 300}, 700),
    ],
)
def test_output_is_that_of_pictures_but_for_the_text_that_is_told(details, pictured):
    told = {"input_tokens": 10, "output_tokens": 1000, "output_tokens_details": details}
    usage = IMAGES.usage({"data": [{"b64_json": "AA"}], "usage": told}, asked())
    assert (usage.output_tokens, usage.image_tokens) == (1000, pictured)


@pytest.mark.parametrize(
    ("item", "pictures"),
    [
        ({"url": "  "}, 0),
        ({"url": "null"}, 0),
        ({"url": "/relative.png"}, 0),
        ({"url": "https://"}, 0),
        ({"url": "data:image/png;base64,"}, 0),
        ({"b64_json": "!!!!"}, 0),
        ({"b64_json": "null"}, 0),
        ({"b64_json": "  "}, 0),
        ({"url": "HTTPS://x.example/1"}, 1),
        ({"url": "data:image/png;base64,AA"}, 1),
        ({"b64_json": "iVBORw0KGgo="}, 1),
        ({"b64_json": "iVBORw0\nKGgo=\n"}, 1),
        ({"b64_json": "data:image/png;base64,iVBORw0KGgo="}, 1),
        ({"b64_json": "", "url": "http://x.example/1"}, 1),
    ],
)
def test_a_picture_is_base64_or_an_address(item, pictures):
    assert IMAGES.delivered({"data": [item]}, asked()).pictures == pictures
    reader = IMAGES.stream(asked(stream=True), "m")
    taken(reader, event({"type": "image_generation.completed", **item}))
    assert reader.delivered.pictures == pictures
