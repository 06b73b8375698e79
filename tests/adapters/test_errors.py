"""What every documented error of both protocols means, and every way in which a paid call can break."""

import json
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
import responses

from adapters.base import ErrorKind, UpstreamError
from adapters.faults import retry_after
from adapters.registry import ADAPTERS
from tests.adapters.making import (
    API_KEY,
    connection_to,
    image_request,
    image_target,
    says_nothing_secret,
    video_request,
    video_target,
)
from tests.adapters.raw_server import Behaviour, answer, raw_server

IMAGES = "https://images.example.com/v1"
ARK = "https://ark.example.com/api/v3"
UPSTREAM = {
    "openai_images": ADAPTERS["openai_images"].build(image_request(), image_target()),
    "ark_content_tasks": ADAPTERS["ark_content_tasks"].build(video_request(), video_target()),
}
BASES = {"openai_images": IMAGES, "ark_content_tasks": ARK}
PROTOCOLS = list(UPSTREAM)


def error_of(protocol: str, base_url: str, **changes: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        ADAPTERS[protocol].submit(UPSTREAM[protocol], connection_to(base_url, **changes))
    assert says_nothing_secret(caught.value)
    return caught.value


def refused(protocol: str, status: int, **reply: Any) -> UpstreamError:
    """The error of a submit that the provider answers so."""
    with responses.RequestsMock() as provider:
        provider.post(BASES[protocol] + UPSTREAM[protocol].path, status=status, **reply)
        error = error_of(protocol, BASES[protocol])
        assert len(provider.calls) == 1
    return error


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "moderation_blocked", ErrorKind.CONTENT_POLICY),
        (400, "content_policy_violation", ErrorKind.CONTENT_POLICY),
        (400, "billing_hard_limit_reached", ErrorKind.QUOTA_EXHAUSTED),
        (429, "insufficient_quota", ErrorKind.QUOTA_EXHAUSTED),
        (429, "rate_limit_exceeded", ErrorKind.RATE_LIMITED),
        (429, None, ErrorKind.RATE_LIMITED),
        (401, "invalid_api_key", ErrorKind.AUTH),
        (403, None, ErrorKind.AUTH),
        (404, "model_not_found", ErrorKind.INVALID_REQUEST),
        (400, "invalid_value", ErrorKind.INVALID_REQUEST),
        (413, None, ErrorKind.INVALID_REQUEST),
        (500, "server_error", ErrorKind.AMBIGUOUS),
        (503, None, ErrorKind.OVERLOADED),
        (200, "moderation_blocked", ErrorKind.CONTENT_POLICY),
    ],
)
def test_openai_errors(status: int, code: str | None, kind: ErrorKind) -> None:
    error = refused("openai_images", status, json={"error": {"message": "no", "type": "x", "code": code}})
    assert (error.kind, error.http_status, error.message) == (kind, status, "no")
    assert error.code == (code or "x")


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "InputTextSensitiveContentDetected", ErrorKind.CONTENT_POLICY),
        (400, "InputImageSensitiveContentDetected.PrivacyInformation", ErrorKind.CONTENT_POLICY),
        (400, "OutputVideoSensitiveContentDetected.PolicyViolation", ErrorKind.CONTENT_POLICY),
        (401, "AuthenticationError", ErrorKind.AUTH),
        (403, "AccessDenied", ErrorKind.AUTH),
        (404, "ModelNotOpen", ErrorKind.INVALID_REQUEST),
        (404, "InvalidEndpointOrModel.NotFound", ErrorKind.INVALID_REQUEST),
        (403, "AccountOverdueError", ErrorKind.QUOTA_EXHAUSTED),
        (429, "QuotaExceeded", ErrorKind.QUOTA_EXHAUSTED),
        (429, "RateLimitExceeded.EndpointRPMExceeded", ErrorKind.RATE_LIMITED),
        (429, "ModelAccountRpmRateLimitExceeded", ErrorKind.RATE_LIMITED),
        (429, "ModelAccountTpmRateLimitExceeded", ErrorKind.RATE_LIMITED),
        (429, "ServerOverloaded", ErrorKind.OVERLOADED),
        (429, "ModelLoadingError", ErrorKind.OVERLOADED),
        (500, "InternalServiceError", ErrorKind.AMBIGUOUS),
        (400, "MissingParameter", ErrorKind.INVALID_REQUEST),
        (400, "InvalidParameter.OversizeImage", ErrorKind.INVALID_REQUEST),
    ],
)
def test_ark_errors(status: int, code: str, kind: ErrorKind) -> None:
    error = refused(
        "ark_content_tasks", status, json={"error": {"code": code, "message": "no", "param": "", "type": "x"}}
    )
    assert (error.kind, error.code, error.model_specific) == (kind, code, status == 404)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("status", "kind", "model_specific"),
    [
        (301, ErrorKind.INVALID_REQUEST, True),
        (304, ErrorKind.INVALID_REQUEST, True),
        (400, ErrorKind.INVALID_REQUEST, False),
        (402, ErrorKind.QUOTA_EXHAUSTED, False),
        (404, ErrorKind.INVALID_REQUEST, True),
        (408, ErrorKind.TRANSIENT, False),
        (409, ErrorKind.TRANSIENT, False),
        (418, ErrorKind.INVALID_REQUEST, False),
        (422, ErrorKind.INVALID_REQUEST, False),
        (429, ErrorKind.RATE_LIMITED, False),
        (500, ErrorKind.AMBIGUOUS, False),
        (501, ErrorKind.INVALID_REQUEST, True),
        (502, ErrorKind.AMBIGUOUS, False),
        (503, ErrorKind.OVERLOADED, False),
        (504, ErrorKind.AMBIGUOUS, False),
        (524, ErrorKind.AMBIGUOUS, False),
        (529, ErrorKind.OVERLOADED, False),
    ],
)
@pytest.mark.parametrize(
    "body", ["", "<html>no</html>", '{"detail": [1]}', '{"error": null}', '{"error": {"code": {}}}']
)
def test_without_a_known_code_the_status_decides(
    protocol: str, status: int, kind: ErrorKind, model_specific: bool, body: str
) -> None:
    error = refused(protocol, status, body=body)
    assert (error.kind, error.model_specific, error.http_status) == (kind, model_specific, status)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("body", ["", "garbage", "[]", "{}", '{"id": 0}', '{"id": ""}', '{"data": "x"}', "null"])
def test_a_success_without_the_promised_content_is_ambiguous(protocol: str, body: str) -> None:
    assert refused(protocol, 200, body=body).kind is ErrorKind.AMBIGUOUS


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("shape", [{"error": "no such thing"}, {"code": "c", "message": "no such thing"}])
def test_other_shapes_of_an_error_are_read(protocol: str, shape: dict[str, str]) -> None:
    assert refused(protocol, 400, json=shape).message == "no such thing"


def test_text_that_no_database_takes_is_cleaned() -> None:
    error = refused("openai_images", 400, body='{"error": {"message": "a\\u0000b\\ud800c", "code": 17}}')
    assert (error.message, error.code) == ("ab?c", "17")


def test_the_request_id_and_the_wait_are_kept() -> None:
    error = refused("openai_images", 429, headers={"Retry-After": "7", "x-request-id": "req_1"})
    assert (error.retry_after, error.request_id) == (7.0, "req_1")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        ("1e9", 86_400.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2035 00:00:00 +99999999999999", None),
    ],
)
def test_retry_after_in_seconds(value: str, seconds: float | None) -> None:
    assert retry_after(value) == seconds


def test_retry_after_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 55 < (retry_after(later) or 0) <= 60
    assert retry_after("Wed, 01 Jan 2020 00:00:00 GMT") == 0.0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_refused_connection_was_surely_not_accepted(protocol: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert error_of(protocol, f"http://127.0.0.1:{port}").kind is ErrorKind.TRANSIENT


@pytest.mark.parametrize("url", ["http://nowhere.invalid", "http://[::1", "http://127.0.0.1:99999"])
def test_an_address_that_leads_nowhere_was_surely_not_accepted(url: str) -> None:
    assert error_of("openai_images", url).kind is ErrorKind.TRANSIENT


def test_a_failed_tls_handshake_was_surely_not_accepted() -> None:
    with raw_server(answer()) as server:
        error = error_of("openai_images", f"https://127.0.0.1:{server.port}", total_timeout=0.5)
    assert error.kind is ErrorKind.TRANSIENT


def reset(connection: socket.socket, _: bytes) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def hang(connection: socket.socket, _: bytes) -> None:
    connection.recv(1)


def drip(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        connection.sendall(b" ")
        time.sleep(0.02)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "behave",
    [
        reset,
        hang,
        drip,
        lambda connection, _: None,
        lambda connection, _: connection.sendall(b"SSH-2.0-nonsense\r\n"),
        lambda connection, _: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"),
        lambda connection, _: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n{"),
        lambda connection, _: connection.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000),
        lambda connection, _: connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    ],
    ids=["reset", "hang", "drip", "close", "not http", "truncated", "huge", "endless header", "bad chunk"],
)
def test_what_breaks_after_sending_is_ambiguous_and_never_repeated(protocol: str, behave: Behaviour) -> None:
    with raw_server(behave) as server:
        started = time.monotonic()
        error = error_of(protocol, server.url, total_timeout=0.5)
        assert time.monotonic() - started < 10
        assert len(server.requests) == 1
    assert error.kind is ErrorKind.AMBIGUOUS
    assert error.maybe_accepted


def test_a_refusal_whose_body_drips_is_still_a_refusal() -> None:
    def behave(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 1000\r\n\r\n")
        connection.recv(1)

    with raw_server(behave) as server:
        assert error_of("openai_images", server.url, total_timeout=0.4).kind is ErrorKind.RATE_LIMITED


def test_credentials_go_out_in_the_header_only() -> None:
    with raw_server(answer(json.dumps({"id": "cgt-1"}).encode())) as server:
        ADAPTERS["ark_content_tasks"].submit(UPSTREAM["ark_content_tasks"], connection_to(server.url))
    assert server.requests[0].count(API_KEY.encode()) == 1


def test_a_connection_does_not_show_its_credentials() -> None:
    assert API_KEY not in repr(connection_to("http://127.0.0.1:9"))
