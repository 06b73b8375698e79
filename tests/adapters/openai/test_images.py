"""The paid image call over real sockets: what is sent, what is made of the answer, and what is left behind."""

import base64
import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from adapters.base import Connection, Done, ErrorKind, ImageRef, NothingSent, UpstreamError, UpstreamRequest
from adapters.kit import pictures
from adapters.registry import ADAPTERS
from common.concurrency.turnstile import Turnstile
from tests.adapters.making import (
    API_KEY,
    PNG,
    connection_to,
    image_request,
    image_target,
    left_in,
    says_nothing_secret,
    stored,
)
from tests.adapters.raw_server import answer, raw_server
from tests.threads import joined
from tools.children import PATIENCE, wait_until

adapter = ADAPTERS["openai_images"]
ENCODED = base64.b64encode(PNG).decode()
BIG = PNG * 300
WEBP = b"RIFF\0\0\0\0WEBPVP8 "
GENERATION = adapter.build(image_request(), image_target())


def bodied(document: object) -> Any:
    return answer(json.dumps(document).encode(), headers={"Content-Type": "application/json"})


def submit(connection: Connection, upstream: UpstreamRequest = GENERATION) -> Done:
    done = adapter.submit(upstream, connection)
    assert isinstance(done, Done)
    return done


def bytes_of(done: Done, connection: Connection) -> list[bytes]:
    contents = []
    for output in done.outputs:
        with adapter.open_output(output, connection) as chunks:
            contents.append(b"".join(chunks))
    return contents


def edit_of(*images: ImageRef, **extra: Any) -> UpstreamRequest:
    return adapter.build(image_request(images=images, extra_body=extra), image_target())


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def test_a_generation_is_posted_as_json_with_the_key() -> None:
    with raw_server(bodied({"data": [{"b64_json": ENCODED}]})) as server:
        for output in submit(connection_to(server.url + "/v1/")).outputs:
            assert output.path
            output.path.unlink()
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/images/generations HTTP/1.1\r\n")
    assert f"Authorization: Bearer {API_KEY}".encode() in head
    assert b"Connection: close" in head
    assert json.loads(body) == GENERATION.body


def test_base64_pictures_become_files(tmp_path: Path) -> None:
    head = "data:image/png;base64,"
    for name, picture, prefix in [("short", PNG, ""), ("long", BIG, head), ("tiny", b"\x89", ""), ("url", PNG, head)]:
        scratch = tmp_path / name
        scratch.mkdir()
        items = [{"b64_json": prefix + base64.b64encode(picture).decode(), "revised_prompt": 'a "red" fox'}] * 2
        with raw_server(bodied({"created": 1, "data": items, "usage": {}})) as server:
            connection = connection_to(server.url, scratch_dir=scratch)
            done = submit(connection)
        assert [(output.index, output.kind) for output in done.outputs] == [(0, "image"), (1, "image")], name
        assert bytes_of(done, connection) == [picture, picture], name
        assert len(left_in(scratch)) == 2, name


def test_urls_become_outputs(scratch: Path) -> None:
    with raw_server(bodied({"data": [{"url": "https://cdn.example.com/a.png"}, {"b64_json": ENCODED}]})) as server:
        done = submit(connection_to(server.url, scratch_dir=scratch))
    assert [output.url for output in done.outputs] == ["https://cdn.example.com/a.png", None]


def test_a_partial_answer_counts(scratch: Path) -> None:
    items = [{"error": {"code": "x"}}, {"b64_json": ENCODED}, {"b64_json": "***"}, {"b64_json": ""}, None, {"url": 1}]
    with raw_server(bodied({"data": items})) as server:
        done = submit(connection_to(server.url, scratch_dir=scratch))
    assert [output.index for output in done.outputs] == [0]
    assert len(left_in(scratch)) == 1


def test_an_answer_without_a_picture_is_an_empty_result(scratch: Path) -> None:
    for items in [[], [{}], [{"b64_json": "***"}], [{"url": "javascript:x"}]]:
        with raw_server(bodied({"data": items})) as server, pytest.raises(UpstreamError) as caught:
            submit(connection_to(server.url, scratch_dir=scratch))
        assert caught.value.kind is ErrorKind.EMPTY_RESULT, items
        assert left_in(scratch) == [], items


def test_a_garbled_success_is_ambiguous(scratch: Path) -> None:
    for body in (b"[" * 100_000, b"\xff\xfe", b"9" * 5000):
        with raw_server(answer(body)) as server, pytest.raises(UpstreamError) as caught:
            submit(connection_to(server.url, scratch_dir=scratch))
        assert caught.value.kind is ErrorKind.AMBIGUOUS, body[:2]
        assert left_in(scratch) == [], body[:2]


def test_a_body_that_breaks_off_leaves_no_files(scratch: Path) -> None:
    start = b'{"data": [{"b64_json": "' + base64.b64encode(BIG)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"
    with (
        raw_server(lambda connection, _: connection.sendall(head + start)) as server,
        pytest.raises(UpstreamError) as caught,
    ):
        submit(connection_to(server.url, scratch_dir=scratch))
    assert caught.value.kind is ErrorKind.AMBIGUOUS
    assert left_in(scratch) == []


def test_an_edit_is_a_form_with_the_files_and_the_fields() -> None:
    upstream = edit_of(ImageRef(stored=stored()), transparent=True, output_compression=80, quality="high")
    with raw_server(bodied({"data": [{"url": "https://cdn.example.com/a.png"}]})) as server:
        submit(connection_to(server.url, files={"one": PNG}), upstream)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    boundary = head.partition(b"boundary=")[2].partition(b"\r\n")[0]
    parts = [part.strip(b"\r\n").partition(b"\r\n\r\n") for part in body.split(b"--" + boundary)[1:-1]]
    assert head.startswith(b"POST /images/edits ")
    assert [part[2] for part in parts] == [b"a fox", b"1", b"1024x1024", b"true", b"80", b"high", b"gpt-image-2", PNG]
    assert b'name="image"; filename="image-0.png"\r\nContent-Type: image/png' in parts[-1][0]


def test_a_mask_is_a_part_of_its_own_after_the_images() -> None:
    images = (ImageRef(stored=stored()), ImageRef(stored=stored()))
    upstream = adapter.build(image_request(images=images, mask=ImageRef(stored=stored("mask"))), image_target())
    with raw_server(bodied({"data": [{"url": "https://cdn.example.com/a.png"}]})) as server:
        submit(connection_to(server.url, files={"one": PNG, "mask": WEBP}), upstream)
    body = server.requests[0]
    assert [body.count(b'name="%s"; filename' % name) for name in (b"image[]", b"image", b"mask")] == [2, 0, 1]
    assert body.endswith(WEBP + b"\r\n" + body[body.rindex(b"--", 0, -4) :])
    assert b'name="mask"; filename="mask-2.webp"\r\nContent-Type: image/webp\r\n\r\n' + WEBP in body


def test_references_are_fetched_and_sent_in_order(scratch: Path) -> None:
    with (
        raw_server(answer(WEBP)) as host,
        raw_server(bodied({"data": [{"url": "https://cdn.example.com/a.png"}]})) as server,
    ):
        upstream = edit_of(ImageRef(url=host.url + "/ref.webp"), ImageRef(stored=stored()))
        submit(connection_to(server.url, files={"one": PNG}, scratch_dir=scratch), upstream)
    body = server.requests[0]
    assert body.index(b'name="image[]"; filename="image-0.webp"') < body.index(WEBP) < body.index(b"image-1.png")
    assert API_KEY.encode() not in host.requests[0]
    assert left_in(scratch) == []


def test_a_reference_that_cannot_be_had_buys_nothing(scratch: Path) -> None:
    for behave in [
        answer(b"gone", status="404 Not Found"),
        answer(b"<svg/>"),
        answer(b"GIF89a"),
        answer(status="302 Found", headers={"Location": "/elsewhere"}),
        lambda connection, _: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
    ]:
        with raw_server(behave) as host, raw_server(answer()) as server:
            with pytest.raises(UpstreamError) as caught:
                submit(connection_to(server.url, scratch_dir=scratch), edit_of(ImageRef(url=host.url)))
            assert server.requests == [], behave
        assert caught.value.kind is ErrorKind.ASSET_UNREACHABLE, behave
        assert left_in(scratch) == [], behave


def test_a_closed_or_missing_reference_buys_nothing() -> None:
    with raw_server(answer()) as server:
        with pytest.raises(UpstreamError) as caught:
            submit(connection_to(server.url), edit_of(ImageRef(url="http://10.0.0.5/a.png")))
        with pytest.raises(NothingSent):
            submit(connection_to(server.url), edit_of(ImageRef(stored=stored("missing"))))
        assert server.requests == []
    assert caught.value.kind is ErrorKind.ASSET_UNREACHABLE


def test_an_unusable_key_is_an_auth_error_that_does_not_quote_it() -> None:
    for key in ["", "with\r\nnewline", "ümlaut"]:
        with raw_server(answer()) as server:
            with pytest.raises(UpstreamError) as caught:
                submit(connection_to(server.url, credentials={"api_key": key}))
            assert server.requests == [], key
        assert caught.value.kind is ErrorKind.AUTH, key
        assert not key or key not in str(caught.value), key


def test_a_providers_quote_of_the_key_is_removed() -> None:
    body = {"error": {"message": f"Incorrect API key provided: {API_KEY}.", "code": "invalid_api_key"}}
    refusal = answer(json.dumps(body).encode(), status="401 Unauthorized")
    with raw_server(refusal) as server, pytest.raises(UpstreamError) as caught:
        submit(connection_to(server.url))
    assert caught.value.message == "Incorrect API key provided: ***."
    assert says_nothing_secret(caught.value)


def test_the_same_purchase_has_the_same_digest_and_another_has_not() -> None:
    again = adapter.build(image_request(), image_target())
    other = adapter.build(image_request(n=2), image_target())
    assert again.digest() == GENERATION.digest() != other.digest()


def test_answers_that_break_off_in_the_middle_hold_up_no_other() -> None:
    over = threading.Event()

    def begin(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"data": [')
        over.wait(PATIENCE)

    def ask(url: str) -> None:
        with pytest.raises(UpstreamError):
            submit(connection_to(url))

    with raw_server(begin) as slow, raw_server(bodied({"data": [{"b64_json": ENCODED}]})) as quick:
        asking = [threading.Thread(target=ask, args=(slow.url,), daemon=True) for _ in range(9)]
        for thread in asking:
            thread.start()
        wait_until(lambda: pictures.answers.waiting == 0 and len(slow.requests) == len(asking), what="nine answers")
        assert len(submit(connection_to(quick.url)).outputs) == 1
        over.set()
        joined(*asking)


def test_an_answer_that_has_come_is_read_before_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "answers", Turnstile(1, seconds=PATIENCE))
    with raw_server(bodied({"data": [{"b64_json": ENCODED}]})) as server, pictures.answers.passage(patience=0):
        assert len(submit(connection_to(server.url, total_timeout=4.0)).outputs) == 1
