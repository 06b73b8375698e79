"""What every documented error of both protocols means, and every way in which a paid call can break."""

import json
import socket
import threading
from contextlib import ExitStack
from typing import Any

import pytest
import responses

from adapters.base import ErrorKind, NothingSent, UpstreamError
from adapters.kit import error_kinds, http
from adapters.kit.http import error_body
from adapters.registry import ADAPTERS
from common.outbound import Reply
from common.outgoing import dial
from common.outgoing.lookup import CUSTOMERS, OPERATOR, OPERATORS, customer
from tests import deadlines
from tests.adapters.making import (
    API_KEY,
    connection_to,
    image_request,
    image_target,
    says_nothing_secret,
    video_request,
    video_target,
)
from tests.adapters.raw_server import Behaviour, answer, first_bytes, raw_server
from tests.silence import HOST, hanging
from tools.children import PATIENCE

IMAGES = "https://images.example.com/v1"
ARK = "https://ark.example.com/api/v3"
TAKEN = b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"id": "cgt-1"}'
UPSTREAM = {
    "openai_images": ADAPTERS["openai_images"].build(image_request(), image_target()),
    "ark_content_tasks": ADAPTERS["ark_content_tasks"].build(video_request(), video_target()),
}
BASES = {"openai_images": IMAGES, "ark_content_tasks": ARK}


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


def test_openai_errors() -> None:
    for status, code, kind in [
        (400, "moderation_blocked", ErrorKind.CONTENT_POLICY),
        (400, "content_policy_violation", ErrorKind.CONTENT_POLICY),
        (400, "billing_hard_limit_reached", ErrorKind.QUOTA_EXHAUSTED),
        (429, "insufficient_quota", ErrorKind.QUOTA_EXHAUSTED),
        (429, "rate_limit_exceeded", ErrorKind.RATE_LIMITED),
        (401, "invalid_api_key", ErrorKind.AUTH),
        (404, "model_not_found", ErrorKind.MODEL_UNAVAILABLE),
        (400, "invalid_value", ErrorKind.INVALID_REQUEST),
        (500, "server_error", ErrorKind.AMBIGUOUS),
        (503, None, ErrorKind.OVERLOADED),
        (200, "moderation_blocked", ErrorKind.CONTENT_POLICY),
    ]:
        error = refused("openai_images", status, json={"error": {"message": "no", "type": "x", "code": code}})
        assert (error.kind, error.http_status, error.message) == (kind, status, "no"), (status, code)
        assert error.code == (code or "x")


def test_ark_errors() -> None:
    for status, code, kind in [
        (400, "InputTextSensitiveContentDetected", ErrorKind.CONTENT_POLICY),
        (400, "InputImageSensitiveContentDetected.PrivacyInformation", ErrorKind.CONTENT_POLICY),
        (400, "OutputVideoSensitiveContentDetected.PolicyViolation", ErrorKind.CONTENT_POLICY),
        (401, "AuthenticationError", ErrorKind.AUTH),
        (403, "AccessDenied", ErrorKind.AUTH),
        (404, "ModelNotOpen", ErrorKind.MODEL_UNAVAILABLE),
        (404, "InvalidEndpointOrModel.NotFound", ErrorKind.MODEL_UNAVAILABLE),
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
    ]:
        spoken = {"error": {"code": code, "message": "no", "param": "", "type": "x"}}
        error = refused("ark_content_tasks", status, json=spoken)
        assert (error.kind, error.code) == (kind, code), (status, code)


def test_a_busy_answer_that_says_when_to_come_back_was_not_accepted() -> None:
    for status in (503, 529):
        for wait in ("7", "0"):
            error = refused("ark_content_tasks", status, headers={"Retry-After": wait})
            assert (error.kind, error.retry_after) == (ErrorKind.OVERLOADED, float(wait)), (status, wait)


def test_without_a_code_the_status_decides() -> None:
    """That every adapter asks the same function: `test_what_was_surely_not_bought_is_not_left_open`."""
    for status, kind in [
        (301, ErrorKind.AMBIGUOUS),
        (304, ErrorKind.AMBIGUOUS),
        (400, ErrorKind.INVALID_REQUEST),
        (401, ErrorKind.AUTH),
        (402, ErrorKind.QUOTA_EXHAUSTED),
        (403, ErrorKind.FORBIDDEN),
        (404, ErrorKind.MODEL_UNAVAILABLE),
        (408, ErrorKind.AMBIGUOUS),
        (409, ErrorKind.AMBIGUOUS),
        (413, ErrorKind.INVALID_REQUEST),
        (418, ErrorKind.INVALID_REQUEST),
        (422, ErrorKind.INVALID_REQUEST),
        (425, ErrorKind.AMBIGUOUS),
        (429, ErrorKind.RATE_LIMITED),
        (499, ErrorKind.AMBIGUOUS),
        (500, ErrorKind.AMBIGUOUS),
        (501, ErrorKind.FORBIDDEN),
        (502, ErrorKind.AMBIGUOUS),
        (503, ErrorKind.AMBIGUOUS),
        (504, ErrorKind.AMBIGUOUS),
        (524, ErrorKind.AMBIGUOUS),
        (529, ErrorKind.AMBIGUOUS),
    ]:
        error = refused("ark_content_tasks", status)
        assert (error.kind, error.http_status) == (kind, status), status


def test_an_interrupted_request_is_open_only_where_it_is_paid_and_no_code_says_more() -> None:
    """The same four statuses of an unpaid call: `test_a_fault_of_a_poll_says_nothing_about_the_job`."""
    for status in (408, 409, 425, 499):
        assert error_kinds.by_status(status, paid=False) is ErrorKind.TRANSIENT, status
        undocumented = {"error": {"code": "conflict", "message": "no"}}
        assert refused("openai_images", status, json=undocumented).kind is ErrorKind.AMBIGUOUS, status
        documented = {"error": {"code": "rate_limit_exceeded", "message": "no"}}
        assert refused("openai_images", status, json=documented).kind is ErrorKind.RATE_LIMITED, status


def test_a_body_without_a_code_leaves_it_to_the_status() -> None:
    bodies = ["", "<html>no</html>", '{"detail": [1]}', '{"error": null}', '{"error": {"code": {}}}', "[]", "9" * 5000]
    for body in bodies:
        assert refused("openai_images", 402, body=body).kind is ErrorKind.QUOTA_EXHAUSTED, body


def test_other_shapes_of_an_error_are_read() -> None:
    for shape in ({"error": "no such thing"}, {"code": "c", "message": "no such thing"}):
        assert refused("openai_images", 400, json=shape).message == "no such thing", shape


def test_text_that_no_database_takes_is_cleaned() -> None:
    error = refused("openai_images", 400, body='{"error": {"message": "a\\u0000b\\ud800c", "code": 17}}')
    assert (error.message, error.code) == ("ab?c", "17")


def test_the_request_id_and_the_wait_are_kept() -> None:
    error = refused("openai_images", 429, headers={"Retry-After": "7", "x-request-id": "req_1"})
    assert (error.retry_after, error.request_id) == (7.0, "req_1")


def test_a_credential_that_comes_back_as_the_request_id_is_not_kept() -> None:
    error = refused("openai_images", 429, headers={"x-request-id": f"req_{API_KEY}"})
    assert error.request_id == "req_***"


def test_a_refused_connection_was_surely_not_accepted() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        for protocol in UPSTREAM:
            error = error_of(protocol, f"http://127.0.0.1:{closed.getsockname()[1]}")
            assert error.kind is ErrorKind.TRANSIENT, protocol


def test_an_address_that_leads_nowhere_was_surely_not_accepted() -> None:
    for url in ("http://nowhere.invalid", "http://[::1", "http://127.0.0.1:99999"):
        assert error_of("openai_images", url).kind is ErrorKind.TRANSIENT, url


def test_names_of_customers_that_hang_hold_up_no_paid_call() -> None:
    with ExitStack() as silent, raw_server(answer(b'{"id": "cgt-1"}')) as server:
        for account in range(CUSTOMERS.seats // CUSTOMERS.each):
            silent.enter_context(hanging(customer(str(account)), CUSTOMERS.each))
        connection = connection_to(f"http://localhost:{server.port}")
        assert ADAPTERS["ark_content_tasks"].submit(UPSTREAM["ark_content_tasks"], connection)


def test_a_paid_call_without_a_seat_for_its_lookup_was_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says nothing of the channel, as an UpstreamError would."""
    monkeypatch.setattr(dial, "LOOKUP_SECONDS", 0.01)
    for protocol in UPSTREAM:
        with hanging(OPERATOR, OPERATORS.each), pytest.raises(NothingSent, match="name lookups of this host hang"):
            ADAPTERS[protocol].submit(UPSTREAM[protocol], connection_to(f"http://{HOST}"))


def test_a_failed_tls_handshake_was_surely_not_accepted() -> None:
    with raw_server(answer(), hang, read=first_bytes) as server:
        for code in ("network", "time"):
            error = error_of("openai_images", f"https://127.0.0.1:{server.port}")
            assert (error.kind, error.code) == (ErrorKind.TRANSIENT, code)


def reset(connection: socket.socket, _: bytes) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def hang(connection: socket.socket, _: bytes) -> None:
    deadlines.end()
    connection.recv(1)


def drip(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n ")
    deadlines.end()
    while True:
        connection.sendall(b" ")


def drip_head(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nX: ")
    deadlines.end()
    while True:
        connection.sendall(b"a")


def sends(data: bytes) -> Behaviour:
    return lambda connection, _: connection.sendall(data)


@pytest.mark.parametrize(
    ("behave", "code"),
    [
        pytest.param(reset, "network", id="reset"),
        pytest.param(hang, "time", id="hang"),
        pytest.param(drip, "time", id="drip"),
        pytest.param(drip_head, "time", id="dripping head"),
        pytest.param(sends(b"HTTP/1.1 100 Continue\r\n\r\n" * 11 + TAKEN), "network", id="many interim answers"),
        pytest.param(sends(b""), "network", id="close"),
        pytest.param(sends(b"SSH-2.0-nonsense\r\n"), "network", id="not http"),
        pytest.param(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"), "network", id="truncated"),
        pytest.param(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n{"), "size", id="huge"),
        pytest.param(sends(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000), "network", id="endless header"),
        pytest.param(sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "network", id="bad chunk"),
    ],
)
def test_what_breaks_after_sending_is_ambiguous_and_never_repeated(behave: Behaviour, code: str) -> None:
    """Of an answer that is spooled and of one that is read at once."""
    for protocol in UPSTREAM:
        with raw_server(behave) as server:
            error = error_of(protocol, server.url)
            assert len(server.requests) == 1
        assert (error.kind, error.code) == (ErrorKind.AMBIGUOUS, code), protocol
        assert error.maybe_accepted


def test_an_answer_in_another_protocol_leaves_the_outcome_open() -> None:
    for protocol in UPSTREAM:
        with raw_server(sends(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + TAKEN)) as server:
            error = error_of(protocol, server.url)
            assert len(server.requests) == 1
        assert (error.kind, error.http_status) == (ErrorKind.AMBIGUOUS, 101), protocol


def test_a_refusal_whose_body_drips_is_still_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    has_head = threading.Event()

    def reading(reply: Reply) -> Any:
        has_head.set()
        return error_body(reply)

    def behave(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 1000\r\n\r\n")
        assert has_head.wait(PATIENCE)
        hang(connection, b"")

    monkeypatch.setattr(http, "error_body", reading)
    with raw_server(behave) as server:
        assert error_of("openai_images", server.url).kind is ErrorKind.RATE_LIMITED


def test_credentials_go_out_in_the_header_only() -> None:
    with raw_server(answer(json.dumps({"id": "cgt-1"}).encode())) as server:
        ADAPTERS["ark_content_tasks"].submit(UPSTREAM["ark_content_tasks"], connection_to(server.url))
    assert server.requests[0].count(API_KEY.encode()) == 1


def test_a_connection_does_not_show_its_credentials() -> None:
    assert API_KEY not in repr(connection_to("http://127.0.0.1:9"))
