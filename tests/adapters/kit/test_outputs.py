"""Fetching what was produced: credentials, redirects, caps and what a failure means."""

from pathlib import Path
from typing import Any

import pytest

from adapters.base import Connection, ErrorKind, Output, UpstreamError
from adapters.kit import outputs
from adapters.registry import ADAPTERS
from common.outbound import AddressRefused, joined
from tests.adapters.making import API_KEY, connection_to
from tests.adapters.raw_server import answer, raw_server

adapter = ADAPTERS["ark_content_tasks"]
ELSEWHERE = "https://provider.example.com/v1"
KEY = API_KEY.encode()


def fetch(url: str, connection: Connection, kind: str = "video") -> bytes:
    with adapter.open_output(Output(index=0, kind=kind, url=url), connection) as chunks:
        return b"".join(chunks)


def moved(location: str) -> Any:
    return answer(status="302 Found", headers={"Location": location})


def failure(url: str, connection: Connection, kind: str = "video") -> ErrorKind:
    with pytest.raises(UpstreamError) as caught:
        fetch(url, connection, kind)
    return caught.value.kind


def test_the_channels_own_origin_gets_the_key_and_may_be_private() -> None:
    with raw_server(answer(b"film")) as server:
        assert fetch(server.url + "/f.mp4", connection_to(server.url + "/api/v3", allow_networks=())) == b"film"
    assert KEY in server.requests[0]


def test_another_origin_gets_no_key() -> None:
    with raw_server(answer(b"film")) as server:
        assert fetch(server.url + "/f.mp4", connection_to(ELSEWHERE)) == b"film"
    assert KEY not in server.requests[0]


def test_another_port_is_another_origin() -> None:
    with raw_server(answer(b"film")) as cdn, raw_server(answer()) as channel:
        assert fetch(cdn.url, connection_to(channel.url)) == b"film"
        assert KEY not in cdn.requests[0]


def test_an_address_that_only_looks_like_the_origin_gets_nothing() -> None:
    for disguise in [
        "http://{evil}\\@{own}/",
        "http://{own}@{evil}/",
        "http://{evil}#@{own}/",
        "http://{own}.x@{evil}/",
    ]:
        with raw_server(answer(b"film")) as evil, raw_server(answer(b"film")) as channel:
            url = disguise.format(evil=f"127.0.0.1:{evil.port}", own=f"127.0.0.1:{channel.port}")
            assert failure(url, connection_to(channel.url)) is ErrorKind.EMPTY_RESULT, disguise
            assert (evil.requests, channel.requests) == ([], []), disguise


def test_an_origin_is_scheme_host_and_port() -> None:
    for url, base_url, is_own in [
        ("https://A.example.com/f", "https://a.example.com/v1", True),
        ("https://a.example.com:443/f", "https://a.example.com", True),
        ("http://a.example.com:80?x", "http://a.example.com/", True),
        ("http://a_b:8900/f", "http://a_b:8900", True),
        ("http://[::1]:8900/f", "http://[::1]:8900/v1", True),
        ("http://a.example.com/f", "https://a.example.com", False),
        ("https://a.example.com:8443/f", "https://a.example.com", False),
        ("https://a.example.com.evil.com/f", "https://a.example.com", False),
        ("https://a.example.comevil/f", "https://a.example.com", False),
        (" https://a.example.com/f ", "https://a.example.com/v1", True),
        ("https://a.example.com/ä b#part", "https://a.example.com/v1", True),
        ("https://a.example.com /f", "https://a.example.com/v1", False),
        ("https://ä.example.com/f", "https://ä.example.com/v1", False),
        ("http\u017f://a.example.com/f", "https://a.example.com/v1", False),
        ("https://\u212a.example.com/f", "https://k.example.com/v1", False),
        ("nonsense", "nonsense", False),
    ]:
        assert outputs.is_own(url, connection_to(base_url)) is is_own, (url, base_url)


@pytest.mark.parametrize("own", [True, False])
def test_an_address_is_fetched_as_any_client_would(own: bool) -> None:
    for told, asked in [
        (" {}/a b.png ", b"/a%20b.png"),
        ("{}/a.png#page=1", b"/a.png"),
        ("{}/a.png?name=x y#", b"/a.png?name=x%20y"),
        ("{}/\u00e4/\u732b\u00a0.png", b"/%C3%A4/%E7%8C%AB%C2%A0.png"),
        ("{}/a%20b%2F%C3%A4.png", b"/a%20b%2F%C3%A4.png"),
    ]:
        with raw_server(answer(b"film")) as server:
            url = told.format(server.url)
            assert outputs.is_url(url), told
            assert fetch(url, connection_to(server.url if own else ELSEWHERE)) == b"film", told
        assert server.requests[0].startswith(b"GET " + asked + b" HTTP"), told


@pytest.mark.parametrize("own", [True, False])
def test_what_no_client_would_fetch_is_refused(own: bool) -> None:
    for told in ["{}/a\nb", "{}/a\tb", "{}/a\x7f", "{}/a\x85", "{}/a\0", "{}/\ud800", "\n{}/a", "ftp:{}/a", "/a", ""]:
        with raw_server(answer(b"film")) as server:
            url = told.format(server.url)
            assert not outputs.is_url(url), told
            assert failure(url, connection_to(server.url if own else ELSEWHERE)) is ErrorKind.EMPTY_RESULT, told
            assert server.requests == [], told


def test_a_host_is_judged_as_it_was_told() -> None:
    for told in ["http://127.0.0.1 :{}/f", "http://127.0.0.\uff11:{}/f", "http://\u24db\u24de\u24d2alhost:{}/f"]:
        with raw_server(answer(b"film")) as server:
            assert failure(told.format(server.port), connection_to(ELSEWHERE)) is ErrorKind.EMPTY_RESULT, told
            assert server.requests == [], told


@pytest.mark.parametrize("own", [True, False])
def test_a_redirect_is_followed_as_any_client_would(own: bool) -> None:
    for location, asked in [
        ("/a b.png#part", b"/a%20b.png"),
        ("/\u00e4.png", b"/%C3%A4.png"),
        (" /there ", b"/there"),
    ]:
        with raw_server(moved(location), answer(b"film")) as server:
            assert fetch(server.url, connection_to(server.url if own else ELSEWHERE)) == b"film", location
        assert server.requests[1].startswith(b"GET " + asked + b" HTTP"), location


@pytest.mark.parametrize("location", ["/a\tb", "/a\x7fb", "https://evil\t.example/x"])
def test_a_place_with_a_control_character_is_none(location: str) -> None:
    with pytest.raises(AddressRefused):
        joined("https://a.example/x", location)


@pytest.mark.parametrize("own", [True, False])
def test_a_redirect_with_a_control_character_is_refused(own: bool) -> None:
    with raw_server(moved("/a\x01b"), answer(b"film")) as server:
        connection = connection_to(server.url if own else ELSEWHERE)
        assert failure(server.url, connection) is ErrorKind.EMPTY_RESULT
        assert len(server.requests) == 1


def test_a_private_address_elsewhere_is_refused() -> None:
    with raw_server(answer(b"film")) as server:
        assert failure(server.url, connection_to(ELSEWHERE, allow_networks=())) is ErrorKind.EMPTY_RESULT
        assert server.requests == []


def test_the_origin_may_redirect_to_a_store_which_gets_no_key() -> None:
    with raw_server(answer(b"film")) as store, raw_server(moved(f"{store.url}/signed?x=1#part")) as channel:
        assert fetch(channel.url + "/f", connection_to(channel.url)) == b"film"
        assert KEY in channel.requests[0]
        assert KEY not in store.requests[0]
        assert store.requests[0].startswith(b"GET /signed?x=1 ")


def test_the_origin_may_redirect_within_itself() -> None:
    with raw_server(moved("/there"), answer(b"film")) as channel:
        assert fetch(channel.url + "/here", connection_to(channel.url)) == b"film"
        assert KEY in channel.requests[1]


def test_the_origin_may_not_redirect_inwards() -> None:
    with raw_server(moved("http://169.254.169.254/latest")) as channel:
        assert failure(channel.url, connection_to(channel.url)) is ErrorKind.EMPTY_RESULT


@pytest.mark.parametrize("location", ["http://[", "/again"])
def test_redirects_that_lead_nowhere_end(location: str) -> None:
    with raw_server(moved(location)) as channel:
        assert failure(channel.url, connection_to(channel.url)) is ErrorKind.EMPTY_RESULT
        assert len(channel.requests) <= 4


def test_a_result_that_is_refused() -> None:
    for status, kind in [
        ("403 Forbidden", ErrorKind.EMPTY_RESULT),
        ("401 Unauthorized", ErrorKind.EMPTY_RESULT),
        ("410 Gone", ErrorKind.EMPTY_RESULT),
        ("202 Accepted", ErrorKind.TRANSIENT),
        ("404 Not Found", ErrorKind.TRANSIENT),
        ("425 Too Early", ErrorKind.TRANSIENT),
        ("429 Too Many Requests", ErrorKind.RATE_LIMITED),
        ("500 Internal Server Error", ErrorKind.TRANSIENT),
        ("503 Service Unavailable", ErrorKind.OVERLOADED),
    ]:
        with raw_server(answer(status=status)) as server:
            assert failure(server.url, connection_to(ELSEWHERE)) is kind, status
            assert failure(server.url, connection_to(server.url)) is kind, status


@pytest.mark.parametrize("own", [True, False])
def test_a_truncated_result_is_a_passing_fault(own: bool) -> None:
    with raw_server(lambda c, _: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfilm")) as server:
        connection = connection_to(server.url if own else ELSEWHERE)
        assert failure(server.url, connection) is ErrorKind.TRANSIENT


def test_each_kind_has_its_cap() -> None:
    for kind, size in [("image", 64 * 1024**2), ("video", 2 * 1024**3), ("model", 512 * 1024**2)]:
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {size + 1}\r\n\r\n".encode()
        with raw_server(lambda connection, _, head=head: connection.sendall(head)) as server:
            assert failure(server.url, connection_to(server.url), kind) is ErrorKind.EMPTY_RESULT, size


def test_a_cap_holds_where_no_length_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(outputs.MAX_OUTPUT_BYTES, "image", 1000)
    with raw_server(lambda c, _: c.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000)) as server:
        assert failure(server.url, connection_to(ELSEWHERE), "image") is ErrorKind.EMPTY_RESULT


def test_a_file_is_read_and_left(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"picture")
    for _ in range(2):
        with adapter.open_output(Output(index=0, kind="image", path=path), connection_to(ELSEWHERE)) as chunks:
            assert b"".join(chunks) == b"picture"
