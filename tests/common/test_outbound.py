"""The outbound door against real sockets: what it dials, what it follows, and when it gives up."""

import json
import select
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from common.outbound import AddressRefused, Failed, Limits, UrlPolicy, open_url
from common.outgoing import dial, fault_words
from common.outgoing.connections import tls_context
from common.outgoing.dial import Deadline
from common.outgoing.lookup import customer
from tests import deadlines
from tests.adapters.raw_server import answer, first_bytes, raw_server, read_request
from tools.children import PATIENCE

LOOPBACK = UrlPolicy(allow_networks=(ip_network("127.0.0.0/8"),))
CHOOSER = customer("1")
LIMITS = Limits(max_bytes=1_000_000, total_seconds=PATIENCE, connect_seconds=PATIENCE)
BAD_URLS = Path(__file__).parents[1] / "data" / "bad_urls.jsonl"
ROWS = [json.loads(line) for line in BAD_URLS.read_text(encoding="utf-8").splitlines()]
AFTER_DNS = [row for row in ROWS if row["verdict"] == "reject_after_dns"]
PUBLISHED = UrlPolicy(deny_networks=(ip_network("198.41.0.99/32"),), own_hosts=frozenset({"api.ours.example"}))

dialled: list[tuple[str, int]] = []
is_recording = False


def record_dials(event: str, arguments: tuple[object, ...]) -> None:
    if is_recording and event == "socket.connect":
        dialled.append(arguments[1])  # type: ignore[arg-type]


sys.addaudithook(record_dials)


@pytest.fixture(autouse=True)
def patient_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dial, "LOOKUP_SECONDS", PATIENCE)


@pytest.fixture
def dials() -> Iterator[list[tuple[str, int]]]:
    """Every address that the interpreter connects to during the test, as it reports them itself."""
    global is_recording
    dialled.clear()
    is_recording = True
    yield dialled
    is_recording = False


def reset(connection: socket.socket, _: bytes) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def fetch(url: str, *, policy: UrlPolicy = LOOPBACK, limits: Limits = LIMITS, **options: object) -> tuple[int, bytes]:
    with open_url(url, policy=policy, limits=limits, chosen_by=CHOOSER, **options) as reply:  # type: ignore[arg-type]
        return reply.status, b"".join(reply.chunks)


def failed(url: str, **options: object) -> Failed:
    with pytest.raises(Failed) as caught:
        fetch(url, **options)  # type: ignore[arg-type]
    return caught.value


def stub(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda host, port: list(addresses)


def test_a_body_arrives_as_it_was_sent() -> None:
    with raw_server(answer(b"hello", headers={"Content-Encoding": "gzip"})) as server:
        assert fetch(server.url) == (200, b"hello")


def test_the_request_carries_no_proxy_netrc_or_compression(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with raw_server(answer()) as server:
        fetch(server.url + "/a?b=c", headers={"X-Mine": "1"})
    head = server.requests[0].decode().lower()
    assert head.startswith("get /a?b=c http/1.1\r\n")
    assert "accept-encoding: identity" in head
    assert "x-mine: 1" in head
    assert "authorization" not in head


def test_a_post_sends_its_body() -> None:
    with raw_server(answer(status="204 No Content")) as server:
        assert fetch(server.url, method="POST", body=b'{"a":1}') == (204, b"")
    assert server.requests[0].endswith(b'\r\n\r\n{"a":1}')


def test_a_name_is_dialled_at_its_address_and_named_in_host() -> None:
    with raw_server(answer(b"ok")) as server:
        assert fetch(f"http://hooks.example.com:{server.port}/", resolve=stub("127.0.0.1")) == (200, b"ok")
    assert f"Host: hooks.example.com:{server.port}".encode() in server.requests[0]


def test_localhost_is_the_loopback_address_without_a_lookup() -> None:
    with raw_server(answer(b"ok")) as server:
        assert fetch(f"http://localhost:{server.port}/", resolve=stub("10.0.0.1")) == (200, b"ok")


def test_no_address_is_dialled_when_one_is_not_public(dials: list[tuple[str, int]]) -> None:
    assert AFTER_DNS
    for row in AFTER_DNS:
        with pytest.raises((AddressRefused, Failed)):
            pytest.fail(f"{row}: {fetch(row['url'], policy=PUBLISHED, resolve=stub(*row['resolves_to']))}")
        assert dials == [], row


def test_a_name_is_looked_up_once_and_rebinding_finds_nothing(dials: list[tuple[str, int]]) -> None:
    answers = [["127.0.0.2"], ["127.0.0.1"], ["127.0.0.1"]]
    policy = UrlPolicy(allow_networks=(ip_network("127.0.0.2/32"),))
    with pytest.raises(Failed):
        fetch("http://rebind.example.com:9100/", policy=policy, resolve=lambda host, port: answers.pop(0))
    assert dials == [("127.0.0.2", 9100)]
    assert len(answers) == 2


def test_a_literal_address_that_is_not_public_is_refused(dials: list[tuple[str, int]]) -> None:
    with pytest.raises(AddressRefused, match="public address"):
        fetch("http://127.0.0.1:9100/", policy=UrlPolicy())
    assert dials == []


@pytest.mark.parametrize("url", ["http://a\\@b/", "http://x.example.com/#f", "http://x.example.com/ü", "ftp://x.com/"])
def test_a_malformed_url_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        fetch(url, resolve=stub("127.0.0.1"))


def test_a_long_signed_target_passes() -> None:
    with raw_server(answer(b"ok")) as server:
        assert fetch(f"{server.url}/film.mp4?token={'a' * 4000}") == (200, b"ok")


@pytest.mark.parametrize("interim", ["100 Continue", "102 Processing", "103 Early Hints\r\nLink: </a.css>"])
def test_what_a_server_says_meanwhile_is_not_its_answer(interim: str) -> None:
    said = f"HTTP/1.1 {interim}\r\n\r\n" * 2 + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    with raw_server(lambda connection, _: connection.sendall(said.encode())) as server:
        assert fetch(server.url) == (200, b"ok")


def test_malformed_headers_are_no_news_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    said = b"HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok"
    with raw_server(lambda connection, _: connection.sendall(said)) as server:
        assert fetch(f"{server.url}/hooks/a-secret-of-the-path") == (200, b"ok")
    assert not caplog.records


def test_a_redirect_is_a_reply_where_none_are_followed() -> None:
    with raw_server(answer(status="302 Found", headers={"Location": "http://169.254.169.254/"})) as server:
        assert fetch(server.url)[0] == 302


@pytest.mark.parametrize("location", ["/endless", "http://[", "//", "\xff"])
def test_a_redirect_is_neither_parsed_nor_read_beyond_the_cap(location: str) -> None:
    def pour(connection: socket.socket, _: bytes) -> None:
        connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n".encode("latin-1"))
        while True:
            connection.sendall(b"x" * 65536)

    with raw_server(pour) as server, open_url(server.url, policy=LOOPBACK, limits=LIMITS, chosen_by=CHOOSER) as reply:
        assert reply.status == 302
        with pytest.raises(Failed, match="larger"):
            list(reply.chunks)


def test_a_redirect_to_a_closed_address_is_refused(dials: list[tuple[str, int]]) -> None:
    with raw_server(answer(status="302 Found", headers={"Location": "http://169.254.169.254/x"})) as server:
        with pytest.raises(AddressRefused):
            fetch(server.url, redirects=3)
        assert dials == [("127.0.0.1", server.port)]


def test_a_redirect_to_a_name_is_looked_up_and_judged(dials: list[tuple[str, int]]) -> None:
    with raw_server(
        answer(status="307 Temporary Redirect", headers={"Location": "http://inner.example.com/"})
    ) as server:
        with pytest.raises(AddressRefused):
            fetch(server.url, redirects=3, resolve=stub("10.0.0.5"))
        assert dials == [("127.0.0.1", server.port)]


def test_a_followed_redirect_takes_no_headers_along() -> None:
    moved = answer(status="301 Moved Permanently", headers={"Location": "/there"})
    with raw_server(moved, answer(b"film")) as server:
        assert fetch(server.url + "/here", redirects=3, headers={"X-Secret": "s"}) == (200, b"film")
    assert server.requests[1].startswith(b"GET /there ")
    assert b"X-Secret" not in server.requests[1]


def test_a_fourth_redirect_is_a_failure() -> None:
    with raw_server(answer(status="302 Found", headers={"Location": "/again"})) as server:
        with pytest.raises(Failed, match="redirects"):
            fetch(server.url, redirects=3)
        assert len(server.requests) == 4


def drip(head: bytes, drop: bytes) -> Callable[[socket.socket, bytes], None]:
    def behave(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(drop)
            threading.Event().wait(0.02)

    return behave


def test_a_deadline_ends_a_read() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, Deadline(0.05) as deadline:
        deadline.watch(ours)
        assert ours.recv(1) == b""
        assert deadline.is_over


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(drip(b"HTTP/1.1 200 OK\r\nX-Drip: ", b"a"), id="header bytes"),
        pytest.param(drip(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", b"a"), id="a body with a length"),
        pytest.param(drip(b"HTTP/1.1 200 OK\r\n\r\n", b"a"), id="a body without a length"),
        pytest.param(drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"), id="chunks"),
        pytest.param(drip(b"HTTP/1.1 103 Early Hints\r\nLink: ", b"a"), id="an interim answer"),
        pytest.param(lambda connection, _: connection.recv(1), id="silence"),
    ],
)
def test_the_total_time_is_kept_whatever_drips(behave: Callable[[socket.socket, bytes], None]) -> None:
    with (
        raw_server(behave) as server,
        deadlines.ended_once(lambda: server.requests),
        pytest.raises(Failed) as caught,
    ):
        fetch(server.url)
    assert (caught.value.reason, caught.value.was_sent) == ("time", True)


def test_a_tls_handshake_that_never_ends_is_cut() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        deadlines.ended_once(lambda: select.select([silent], [], [], 0)[0]),
        pytest.raises(Failed) as caught,
    ):
        fetch(f"https://127.0.0.1:{silent.getsockname()[1]}/")
    assert (caught.value.reason, caught.value.was_sent) == ("time", False)


def test_a_hanging_lookup_is_outlived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dial, "LOOKUP_SECONDS", 0.05)
    over = threading.Event()
    with pytest.raises(Failed, match="the name lookup took too long"):
        fetch("http://slow.example.com/", resolve=lambda host, port: over.wait() and [])
    over.set()


def test_an_endless_body_is_cut_at_the_cap() -> None:
    def pour(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with raw_server(pour) as server, pytest.raises(Failed) as caught:
        fetch(server.url)
    assert caught.value.reason == "size"


def test_a_declared_length_over_the_cap_is_not_read() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"
    with raw_server(lambda connection, _: connection.sendall(head)) as server, pytest.raises(Failed) as caught:
        fetch(server.url)
    assert caught.value.reason == "size"


def test_a_truncated_body_is_a_failure() -> None:
    with raw_server(lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")) as server:
        with pytest.raises(Failed) as caught:
            fetch(server.url)
        assert caught.value.was_sent


def test_a_refused_connection_was_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(Failed) as caught:
        fetch(f"http://127.0.0.1:{port}/")
    assert not caught.value.was_sent


def test_a_connection_that_takes_too_long_is_a_matter_of_time() -> None:
    with raw_server(answer()) as server, pytest.raises(Failed) as caught:
        fetch(server.url, limits=replace(LIMITS, connect_seconds=0))
    assert (caught.value.reason, caught.value.was_sent) == ("time", False)
    assert caught.value.words == "the connection took too long"


def test_the_next_address_is_tried_when_the_first_is_dead() -> None:
    with raw_server(answer(b"ok")) as server:
        url = f"http://two.example.com:{server.port}/"
        assert fetch(url, resolve=stub("127.0.0.9", "127.0.0.1")) == (200, b"ok")


def test_a_request_that_nobody_takes_is_a_matter_of_time() -> None:
    over = threading.Event()
    with raw_server(answer(), read=lambda connection: over.wait() and b"") as server:
        fault = failed(server.url, method="POST", body=b"x" * 64_000_000, limits=replace(LIMITS, connect_seconds=0.1))
        over.set()
    assert fault.reason == "time"


def test_a_reset_after_sending_was_sent() -> None:
    with raw_server(reset) as server, pytest.raises(Failed) as caught:
        fetch(server.url, method="POST", body=b"x")
    assert caught.value.was_sent


def test_a_failure_does_not_quote_headers() -> None:
    with pytest.raises(Failed) as caught:
        fetch("http://127.0.0.1:9100/", headers={"Authorization": "Bearer hunter2\r\nX: y"})
    assert "hunter2" not in str(caught.value)


@pytest.fixture
def certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """A server's context for hooks.example.com, by an authority that this test trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hooks.example.com")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("hooks.example.com")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "certificate.pem"
    pem.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    tls_context.cache_clear()
    yield context
    tls_context.cache_clear()


@pytest.mark.parametrize("host", ["hooks.example.com", "hooks.example.com."])
def test_tls_is_checked_against_the_name(certified: ssl.SSLContext, host: str) -> None:
    with raw_server(answer(b"ok"), tls=certified) as server:
        assert fetch(f"https://{host}:{server.port}/", resolve=stub("127.0.0.1")) == (200, b"ok")


def test_a_tls_connection_is_kept(certified: ssl.SSLContext) -> None:
    def behave(connection: socket.socket, request: bytes) -> None:
        while request:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            request = read_request(connection)

    with raw_server(behave, tls=certified) as server:
        url = f"https://hooks.example.com:{server.port}/"
        assert [fetch(url, resolve=stub("127.0.0.1"), keeps=True) for _ in range(3)] == [(200, b"ok")] * 3
        assert len(server.requests) == 1


def test_a_certificate_of_another_name_is_refused_before_anything_is_sent(certified: ssl.SSLContext) -> None:
    with raw_server(answer(b"ok"), tls=certified) as server:
        with pytest.raises(Failed, match="Hostname mismatch") as caught:
            fetch(f"https://other.example.com:{server.port}/", resolve=stub("127.0.0.1"))
        assert server.requests == []
    assert not caught.value.was_sent


def test_a_dripping_body_over_tls_is_cut(certified: ssl.SSLContext) -> None:
    with (
        raw_server(drip(b"HTTP/1.1 200 OK\r\n\r\n", b"a"), tls=certified) as server,
        deadlines.ended_once(lambda: server.requests),
        pytest.raises(Failed) as caught,
    ):
        fetch(f"https://hooks.example.com:{server.port}/", resolve=stub("127.0.0.1"))
    assert caught.value.reason == "time"


def test_an_unknown_authority_is_refused() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with raw_server(answer(b"ok"), tls=context) as server, pytest.raises(Failed):
        fetch(f"https://hooks.example.com:{server.port}/", resolve=stub("127.0.0.1"))


def nobody(host: str, port: int) -> list[str]:
    raise socket.gaierror(-2, "Name or service not known")


FAULTS: list[tuple[str, Callable[[socket.socket, bytes], None], str]] = [
    ("http", lambda c, r: c.sendall(b"SSH-2.0-OpenSSH_9.6\r\n"), "the answer is malformed"),
    ("http", lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000), "the answer is malformed"),
    ("http", lambda c, r: None, "the connection broke off"),
    ("http", lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), "the connection broke off"),
    ("https", lambda c, r: c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "the TLS connection failed"),
    ("https", reset, "the connection broke off"),
]


def test_a_fault_has_words_of_ours_and_the_raw_error_is_apart() -> None:
    for scheme, behave, words in FAULTS:
        with raw_server(behave, read=first_bytes) as server:
            fault = failed(f"{scheme}://hooks.example.com:{server.port}/", resolve=stub("127.0.0.1"))
        assert fault.words == words
        assert str(fault).startswith(f"{words}: ")
        assert "SSH" not in str(fault)


def test_a_name_or_address_that_leads_nowhere_has_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert failed(f"http://127.0.0.1:{port}/").words == "the connection was refused"
    unknown = failed("http://hooks.example.com/", resolve=nobody)
    assert (unknown.words, str(unknown)[-26:]) == ("the host name cannot be resolved", " Name or service not known")
    assert failed("http://hooks.example.com/", resolve=stub()).words == "the host name has no address"


def test_each_fault_of_a_certificate_has_words(certified: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(answer(b"ok"), tls=certified) as server:
        other = failed(f"https://other.example.com:{server.port}/", resolve=stub("127.0.0.1"))
        address = failed(f"https://127.0.0.1:{server.port}/")
        monkeypatch.delenv("SSL_CERT_FILE")
        tls_context.cache_clear()
        unknown = failed(f"https://hooks.example.com:{server.port}/", resolve=stub("127.0.0.1"))
    assert other.words == address.words == "the certificate is not valid for this host"
    assert unknown.words == "the certificate is not trusted"
    expired = ssl.SSLCertVerificationError()
    expired.verify_code = 10
    assert fault_words.of_fault(expired, is_late=False, was_sent=False) == "the certificate has expired"
