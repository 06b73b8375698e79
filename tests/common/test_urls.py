"""The URL rules: the table of verdicts, the operator's networks, and what counts as this service itself."""

import json
from ipaddress import IPv4Address, ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common import urls
from common.urls import UrlPolicy

ROWS = [json.loads(line) for line in (Path(__file__).parents[1] / "data/bad_urls.jsonl").read_text().splitlines()]
POLICY = UrlPolicy(deny_networks=(ip_network("198.41.0.99/32"),), own_hosts=urls.own_hosts("https://api.ours.example"))
LOCAL = UrlPolicy(
    allow_networks=(ip_network("127.0.0.0/8"), ip_network("10.1.0.0/16"), ip_network("fd00::/8")),
    deny_networks=(ip_network("10.1.2.0/24"),),
    own_hosts=urls.own_hosts("http://127.0.0.1:8000"),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['class']}-{row['why'][:40]}")
def test_the_verdict_at_submission_is_that_of_the_table(row: dict[str, str]):
    assert (urls.problem(row["url"], POLICY) is not None) == (row["verdict"] == "reject")


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("resolves_to")], ids=lambda row: row["url"][:60])
def test_the_addresses_behind_a_name_are_judged_as_the_table_says(row: dict[str, list[str]]):
    answers = [ip_address(text) for text in row["resolves_to"] if not text.startswith("->")]
    refused = any(urls.address_problem(address, POLICY) for address in answers)
    assert refused == (row["verdict"] == "reject_after_dns")


@pytest.mark.parametrize("port", [80, 443, 1024, 8000, 8080, 8443, 65535])
def test_web_and_unprivileged_ports_are_accepted(port: int):
    assert urls.problem(f"https://hooks.example.com:{port}/", POLICY) is None


@pytest.mark.parametrize("port", ["1", "79", "81", "442", "444", "1023", "65536", "99999", "0443", "080", "3306", "00"])
def test_other_ports_and_ports_with_leading_zeros_are_refused(port: str):
    assert urls.problem(f"https://hooks.example.com:{port}/", POLICY)


@pytest.mark.parametrize(
    "address",
    [
        "9.255.255.255",
        "11.0.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "2001:200::",
        "2606:4700::1111",
    ],
)
def test_addresses_beside_a_closed_network_are_open(address: str):
    assert urls.address_problem(ip_address(address), POLICY) is None


@pytest.mark.parametrize("address", ["168.63.129.16", "198.41.0.99", "::", "::1", "fe80::1", "4000::1", "1fff::1"])
def test_closed_addresses_are_refused(address: str):
    assert urls.address_problem(ip_address(address), POLICY)


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_no_private_ipv4_address_passes(address: IPv4Address):
    if address.is_private or address.is_multicast or address.is_loopback or address.is_reserved:
        assert urls.address_problem(address, POLICY)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9000/cb",
        "http://127.0.0.1:1/",
        "http://10.1.0.5:5432/",
        "http://localhost:9000/",
        "http://LOCALHOST.:22/",
        "http://[fd00::5]:8080/",
        "https://10.1.0.5/",
    ],
)
def test_an_operators_own_receivers_pass_on_any_port(url: str):
    assert urls.problem(url, POLICY)
    assert urls.problem(url, LOCAL) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://10.1.2.5/",
        "http://10.2.0.1/",
        "http://foo.localhost/",
        "http://receiver:9000/",
        "http://127.1:9000/",
        "http://127.0.0.1:0/",
        "http://user@127.0.0.1/",
        "http://[::1]:9000/",
        "ftp://127.0.0.1/",
    ],
)
def test_allowed_networks_open_nothing_else(url: str):
    assert urls.problem(url, LOCAL)


def test_denied_networks_win_also_through_mapped_addresses():
    policy = UrlPolicy(allow_networks=(ip_network("::/0"),), deny_networks=(ip_network("10.0.0.0/8"),))
    assert urls.address_problem(ip_address("::ffff:10.0.0.1"), policy)
    assert urls.address_problem(ip_address("::ffff:11.0.0.1"), policy) is None


def test_localhost_is_refused_when_its_address_is_denied():
    policy = UrlPolicy(allow_networks=(ip_network("127.0.0.0/8"),), deny_networks=(ip_network("127.0.0.1/32"),))
    assert urls.problem("http://localhost:9000/", policy)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.ours.example/x",
        "http://API.OURS.EXAMPLE./x",
        "https://api.ours.example:8443/",
        "https://api.ours.example",
    ],
)
def test_a_public_name_is_ours_on_every_port(url: str):
    assert urls.is_own(url, POLICY)
    assert urls.problem(url, POLICY) == "must not point at this service"


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/assets/x", "http://localhost:8000/", "http://[::1]:8000/"])
def test_a_local_service_is_ours_on_its_own_port(url: str):
    assert urls.is_own(url, LOCAL)
    assert urls.problem(url, LOCAL)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8001/",
        "https://other.example/",
        "https://x.api.ours.example/",
        "not a URL",
        "",
        "https://api.ours.example@evil.com/",
    ],
)
def test_other_addresses_are_not_ours(url: str):
    assert not urls.is_own(url, LOCAL)
    assert not urls.is_own(url, POLICY)


def test_split_normalises_what_may_be_written_differently():
    parts = urls.split("HTTPS://Hooks.Example.COM.?a=B")
    assert (parts.scheme, parts.host, parts.port, parts.target) == ("https", "hooks.example.com", 443, "/?a=B")
    literal = urls.split("http://[2606:2800:0:0:0:0:0:1]:8080/x")
    assert (literal.host, literal.authority, literal.is_literal) == ("2606:2800::1", "[2606:2800::1]:8080", True)


@settings(deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="htps:/@.[]0127ax%\\#?&-", max_size=60).map("http://".__add__))
def test_arbitrary_text_gets_a_verdict_and_no_other_error(text: str):
    reason = urls.problem(text, POLICY)
    assert reason is None or reason.startswith("must")


@pytest.mark.parametrize("label", ["a" * 63, "xn--bcher-kva", "a-b", "0x7g", "3com"])
def test_host_labels_within_the_rules_are_accepted(label: str):
    assert urls.problem(f"https://{label}.example.com/", POLICY) is None


@pytest.mark.parametrize("host", ["a" * 64 + ".example.com", "a_b.example.com", ".".join(["abc"] * 64), "example.123"])
def test_host_names_outside_the_rules_are_refused(host: str):
    assert urls.problem(f"https://{host}/", POLICY)
