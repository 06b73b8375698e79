"""What the server refuses before the front sees it: in our words, whatever was sent."""

import json
import random
import re
import socket

import pytest

from common.http import dialects
from front.server import refusals
from tests.front.server.talking import HOST, is_closed, said, statuses
from tests.front.test_front import lines_of

CHUNKED = b"Transfer-Encoding: chunked\r\n"
POST = b"POST /v1/echo HTTP/1.1\r\n" + HOST
UNREADABLE = {
    "no request line": (400, b"GARBAGE\r\n\r\n"),
    "binary": (400, bytes(range(128, 256)) + b"\r\n\r\n"),
    "TLS": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\r\n"),
    "HTTP/0.9": (400, b"GET /\r\n"),
    "HTTP/2": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "version": (400, b"GET / HTTP/1.7\r\n\r\n"),
    "method": (400, b"g<script>t / HTTP/1.1\r\n\r\n"),
    "target": (400, b"GET /\xff HTTP/1.1\r\n\r\n"),
    "bare line feed": (400, b"GET / HTTP/1.1\nHost: x\n\n"),
    "header without a colon": (400, b"GET / HTTP/1.1\r\nnothing\r\n\r\n"),
    "header name": (400, b"GET / HTTP/1.1\r\n<script>: 1\r\n\r\n"),
    "folded header": (400, b"GET / HTTP/1.1\r\nA: 1\r\n 2\r\n\r\n"),
    "NUL in a header": (400, b"GET / HTTP/1.1\r\nA: 1\x002\r\n\r\n"),
    "two hosts": (400, b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n"),
    "two lengths": (400, POST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx"),
    "length and chunked": (400, POST + CHUNKED + b"Content-Length: 3\r\n\r\n"),
    "negative length": (400, POST + b"Content-Length: -1\r\n\r\n"),
    "length of 5000 digits": (400, POST + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n"),
    "chunked in HTTP/1.0": (400, b"POST / HTTP/1.0\r\n" + CHUNKED + b"\r\n0\r\n\r\n"),
    "not chunked at last": (400, POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n"),
    "unknown coding": (501, POST + b"Transfer-Encoding: sdch\r\n\r\n"),
    "compressed body": (501, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    "long line": (414, b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    "long line without an end": (414, b"GET /" + b"x" * 70_000),
    "long header": (431, b"GET / HTTP/1.1\r\nA: " + b"x" * 70_000 + b"\r\n\r\n"),
    "many headers": (431, b"GET / HTTP/1.1\r\n" + b"A: x\r\n" * 101 + b"\r\n"),
    "large headers": (431, b"GET / HTTP/1.1\r\n" + (b"A: " + b"x" * 60_000 + b"\r\n") * 9),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_refused_in_json_and_the_connection_ends(dial, name):
    status, sent = UNREADABLE[name]
    connection = dial(sent)
    answer = said(connection)
    assert (answer.status, answer.error["type"]) == (status, "TASK_INVALID_REQUEST")
    assert answer.error["message"]
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-Id"])
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Connection"] == "close"
    assert b"script" not in answer.body
    assert is_closed(connection)


GET = b"GET / HTTP/1.1\r\n"
NAMED = {
    "Host: given more than once.": UNREADABLE["two hosts"][1],
    "Host: is required in HTTP/1.1.": GET + b"X-Host: x\r\n\r\n",
    "Host: must be the name of a host, with its port where it has one.": GET + b"Host: \r\n\r\n",
    "Idempotency-Key: must not contain control characters.": POST + b"A: :b\r\nIdempotency-Key: k\x7f\r\nZ: 1\r\n\r\n",
    "A: must not contain control characters.": UNREADABLE["NUL in a header"][1],
    "Content-Length: given more than once.": UNREADABLE["two lengths"][1],
    "Content-Length: must be a number of bytes.": UNREADABLE["negative length"][1],
    "Content-Length: must not be given beside Transfer-Encoding.": UNREADABLE["length and chunked"][1],
    "Content-Type: given more than once.": POST + b"Content-Type: a/b\r\n" * 2 + b"\r\n",
    "Transfer-Encoding: HTTP/1.0 has none.": b"POST / HTTP/1.0\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked must be the last coding.": UNREADABLE["not chunked at last"][1],
    "Transfer-Encoding: chunked is given more than once.": POST + CHUNKED + CHUNKED + b"\r\n",
    "A: is over 64 KiB.": UNREADABLE["long header"][1],
    "The headers are more than 100.": UNREADABLE["many headers"][1],
    "The name of a header is not valid: it begins with Idempotency.": POST + b"Idempotency Key: k\r\n\r\n",
}


@pytest.mark.parametrize("message", NAMED)
def test_a_refusal_names_the_header_that_is_wrong(dial, message):
    answer = said(dial(NAMED[message]))
    assert answer.error["message"] == message


def test_a_length_of_too_many_digits_is_named_too(dial):
    assert said(dial(UNREADABLE["length of 5000 digits"][1])).error["message"].startswith("Content-Length: ")


def test_a_header_is_named_however_its_bytes_come(dial):
    connection = dial(POST + b"Idempotency-")
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for piece in (b"Key: a\x7f", b"b", b"c\r\n\r\n"):
        connection.sendall(piece)
    assert said(connection).error["message"].startswith("Idempotency-Key: ")


@pytest.mark.parametrize("host", [b"a b", b"a/b", b"user@a", b"[::1", b"a:b", b"\xff", b"http://a"])
def test_a_host_that_is_none_is_refused(dial, host):
    assert said(dial(GET + b"Host: " + host + b"\r\n\r\n")).error["message"].startswith("Host: ")


@pytest.mark.parametrize("head", [b"1.0\r\n", b"1.1\r\nHost: [::1]:80\r\n", b"1.1\r\nHOST: 127.0.0.1:\r\n"])
def test_a_host_is_needed_in_the_newer_version_alone(dial, head):
    assert said(dial(b"GET /healthz HTTP/" + head + b"\r\n")).status == 200


def test_a_refusal_keeps_a_sane_request_id_and_is_in_the_access_log(front, dial):
    answer = said(dial(b"GET / HTTP/1.1\r\nX-Request-Id: refused-1\r\n" + HOST + HOST + b"\r\n"))
    assert answer.headers["X-Request-Id"] == "refused-1"
    (line,) = lines_of(front, "refused-1")
    assert (line["logger"], line["status"]) == ("darkroom.access", 400)


def test_a_refusal_does_not_keep_another_request_id(dial):
    answer = said(dial(b"GET / HTTP/1.1\r\nX-Request-Id: <script>\r\n" + HOST + HOST + b"\r\n"))
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-Id"])


def test_a_body_whose_framing_breaks_is_refused_once_in_the_name_of_its_request(front, dial):
    broken = (b"zz\r\n", b"3\r\nabcdef\r\n", b"1;\r=\r\nx\r\n", b"0\r\nHost: x\r\n\r\n", b"1\nx")
    for number, body in enumerate(broken):
        connection = dial(POST + CHUNKED + b"X-Request-Id: broken-%d\r\n\r\n" % number + body)
        answer = said(connection)
        assert (answer.status, answer.error["type"]) == (400, "TASK_INVALID_REQUEST"), body
        assert answer.headers["X-Request-Id"] == f"broken-{number}", body
        assert is_closed(connection)
        assert [line["status"] for line in lines_of(front, f"broken-{number}")] == [400], body


def test_what_follows_a_request_is_refused_after_its_answer(dial):
    connection = dial(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\nGARBAGE\r\n\r\n")
    assert statuses(connection) == [200, 400]


def test_a_broken_body_that_came_behind_another_request_is_refused_too(dial):
    connection = dial(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n" + POST + CHUNKED + b"\r\nzz\r\n")
    assert statuses(connection) == [200, 400]


@pytest.mark.parametrize("framing", ["declared", "chunked"])
def test_an_answer_that_says_the_connection_ends_ends_it(dial, framing):
    body = b"x" * 65_537
    refused = {
        "declared": b"Content-Length: 65537\r\n\r\n" + body,
        "chunked": CHUNKED + b"\r\n10001\r\n" + body + b"\r\n1\r\nx\r\n0\r\n\r\n",
    }
    head = b"POST /v1/tasks HTTP/1.1\r\n" + HOST
    assert statuses(dial(head + refused[framing] + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")) == [401]


def test_a_client_that_writes_on_is_not_reset_over_its_refusal(dial):
    connection = dial(b"GET /" + b"x" * 70_000)
    assert said(connection).status == 414
    for _ in range(8):
        connection.sendall(b"x" * 65_536)
    assert connection.recv(1) == b""


UPGRADES = {
    "websocket": b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "old websocket": b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    "TLS": b"Connection: upgrade\r\nUpgrade: TLS/1.2, something\r\n",
}


@pytest.mark.parametrize("protocol", UPGRADES)
def test_an_upgrade_is_ignored_on_every_path(dial, protocol):
    def status_of(line: bytes) -> int:
        return said(dial(line + b" HTTP/1.1\r\n" + HOST + UPGRADES[protocol] + b"\r\n")).status

    assert status_of(b"GET /healthz") == status_of(b"GET /v1/echo") == 200
    assert status_of(b"GET /v1/tasks") == status_of(b"GET /v1/tasks/events") == 401
    assert status_of(b"GET /v1/nothing") == 404


def test_a_connection_goes_on_after_an_upgrade_that_was_ignored(dial):
    upgrade = b"GET /healthz HTTP/1.1\r\n" + HOST + UPGRADES["websocket"] + b"\r\n"
    last = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    assert statuses(dial(upgrade + last)) == [200, 200]


def test_no_100_is_sent_before_a_refusal_by_the_declared_length(dial):
    connection = dial(POST + b"Expect: 100-continue\r\nContent-Length: 40000000\r\n\r\n")
    assert connection.recv(12) == b"HTTP/1.1 413"


SEEDS = (
    b"GET /healthz HTTP/1.1\r\n" + HOST + b"Accept: */*\r\nX-Request-Id: fuzzed\r\n\r\n",
    POST + b"Content-Length: 5\r\nContent-Type: application/json\r\n\r\nhello",
    POST + CHUNKED + b"Expect: 100-continue\r\n\r\n5;a=b\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
    b"GET /v1/tasks?limit=1 HTTP/1.0\r\nAuthorization: Bearer x\r\nConnection: keep-alive\r\nUpgrade: h2c\r\n\r\n",
)
PIECES = (
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b":",
    b"\xff",
    b"\t",
    b"%00",
    b"0",
    b"9" * 30,
    b"HTTP/1.1",
    HOST,
    CHUNKED,
    b";",
)


def mutated(dice: random.Random) -> bytes:
    """A request with a few bytes cut out, put in, doubled or changed."""
    sent = bytearray(dice.choice(SEEDS))
    for _ in range(dice.randint(1, 5)):
        start = dice.randrange(len(sent) + 1)
        end = min(len(sent), start + dice.choice((0, 0, 1, 1, 2, 8, 40)))
        sent[start:end] = dice.choice((b"", bytes([dice.randrange(256)]), dice.choice(PIECES), sent[start:end] * 2))
    return bytes(sent)


@pytest.mark.slow
def test_no_mutated_request_brings_anything_but_an_answer_a_refusal_or_an_end(front, dial):
    tracebacks = front.logs().count("Traceback")
    for seed in range(3_000):
        sent = mutated(random.Random(seed))
        with dial(sent) as connection:
            connection.shutdown(1)
            received = b"".join(iter(lambda: connection.recv(65_536), b""))
        statuses = {int(status) for status in re.findall(rb"HTTP/1\.[01] (\d\d\d) ", received)}
        assert all(status < 500 or status == 501 for status in statuses), (seed, sent, received)
        assert b"text/plain" not in received, (seed, sent, received)
    assert front.logs().count("Traceback") == tracebacks


def test_a_front_that_gives_no_answer_is_the_documented_500():
    head, _, body = refusals.spoken(refusals.of_fault("mine-1", dialects.TASKS)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert b"x-request-id: mine-1" in head
    assert json.loads(body)["error"]["type"] == "TASK_INTERNAL_ERROR"
    _, _, body = refusals.spoken(refusals.of_fault("mine-2", dialects.ANTHROPIC)).partition(b"\r\n\r\n")
    assert (json.loads(body)["error"]["type"], json.loads(body)["request_id"]) == ("api_error", "mine-2")
