"""The URL rules: the table of verdicts, the operator's networks, and what counts as this service itself."""

import json
from collections.abc import Iterable
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


def accepted(texts: Iterable[str], policy: UrlPolicy = POLICY) -> list[str]:
    return [text for text in texts if urls.problem(text, policy) is None]


def open_to(policy: UrlPolicy, *addresses: str) -> list[str]:
    return [text for text in addresses if urls.address_problem(ip_address(text), policy) is None]


SAME_ORIGIN = [
    ("https://x.example/v1", "https://x.example"),
    ("https://x.example:443/v1", "https://x.example"),
    ("HTTPS://X.Example./v1", "https://x.example"),
    ("http://x.example:80", "http://x.example"),
    ("http://x.example:443", "http://x.example:443"),
    ("https://x.example:8443/a/b", "https://x.example:8443"),
    ("http://[0:0:0:0:0:0:0:1]:8900/v1", "http://[::1]:8900"),
    ("http://[::FFFF:7f00:1]/", "http://[::ffff:127.0.0.1]"),
    ("http://127.0.0.1:8900/openai/v1", "http://127.0.0.1:8900"),
    ("https://user:pass@x.example/", "https://x.example"),
    ("ftp://x.example/", ""),
    ("https://x.example:port/", ""),
    ("https:///v1", ""),
    ("x.example", ""),
    ("", ""),
]


def test_an_origin_has_one_spelling():
    for url, origin in SAME_ORIGIN:
        assert urls.origin(url) == origin, url


def test_the_verdict_at_submission_is_that_of_the_table():
    assert len(ROWS) > 150
    for row in ROWS:
        assert (urls.problem(row["url"], POLICY) is not None) == (row["verdict"] == "reject"), row


def test_the_addresses_behind_a_name_are_judged_as_the_table_says():
    for row in (row for row in ROWS if row.get("resolves_to")):
        answers = [text for text in row["resolves_to"] if not text.startswith("->")]
        assert (len(open_to(POLICY, *answers)) < len(answers)) == (row["verdict"] == "reject_after_dns"), row


def test_web_and_unprivileged_ports_are_accepted_and_no_others():
    ports = ["80", "443", "1024", "8000", "65535"]
    others = ["1", "79", "81", "442", "444", "1023", "65536", "99999", "0443", "080", "3306", "00"]
    assert accepted(f"https://hooks.example.com:{port}/" for port in ports + others) == [
        f"https://hooks.example.com:{port}/" for port in ports
    ]


def test_addresses_beside_a_closed_network_are_open():
    beside = ["9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0"]
    beside += ["192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "2001:200::", "2606:4700::1111"]
    assert open_to(POLICY, *beside) == beside


def test_closed_addresses_are_refused():
    assert open_to(POLICY, "168.63.129.16", "198.41.0.99", "::", "::1", "fe80::1", "4000::1", "1fff::1") == []


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_no_private_ipv4_address_passes(address: IPv4Address):
    if address.is_private or address.is_multicast or address.is_loopback or address.is_reserved:
        assert urls.address_problem(address, POLICY)


def test_an_operators_own_receivers_pass_on_any_port():
    own = ["http://127.0.0.1:9000/cb", "http://127.0.0.1:1/", "http://10.1.0.5:5432/", "http://localhost:9000/"]
    own += ["http://LOCALHOST.:22/", "http://[fd00::5]:8080/", "https://10.1.0.5/"]
    assert (accepted(own), accepted(own, LOCAL)) == ([], own)


def test_allowed_networks_open_nothing_else():
    others = ["http://10.1.2.5/", "http://10.2.0.1/", "http://foo.localhost/", "http://receiver:9000/"]
    others += ["http://127.1:9000/", "http://127.0.0.1:0/", "http://user@127.0.0.1/", "http://[::1]:9000/"]
    assert accepted([*others, "ftp://127.0.0.1/"], LOCAL) == []


def test_denied_networks_win_also_through_mapped_addresses():
    policy = UrlPolicy(allow_networks=(ip_network("::/0"),), deny_networks=(ip_network("10.0.0.0/8"),))
    assert urls.address_problem(ip_address("::ffff:10.0.0.1"), policy)
    assert urls.address_problem(ip_address("::ffff:11.0.0.1"), policy) is None


def test_localhost_is_refused_when_its_address_is_denied():
    policy = UrlPolicy(allow_networks=(ip_network("127.0.0.0/8"),), deny_networks=(ip_network("127.0.0.1/32"),))
    assert urls.problem("http://localhost:9000/", policy)


def test_a_public_name_is_ours_on_every_port():
    for rest in ("api.ours.example/x", "API.OURS.EXAMPLE./x", "api.ours.example:8443/", "api.ours.example"):
        assert urls.is_own(f"https://{rest}", POLICY), rest
        assert urls.problem(f"https://{rest}", POLICY) == "must not point at this service", rest


def test_a_local_service_is_ours_on_its_own_port():
    ours = ["http://127.0.0.1:8000/assets/x", "http://localhost:8000/", "http://[::1]:8000/"]
    assert all(urls.is_own(url, LOCAL) for url in ours)
    assert accepted(ours, LOCAL) == []


def test_other_addresses_are_not_ours():
    others = ["http://127.0.0.1:8001/", "https://other.example/", "https://x.api.ours.example/", "not a URL", ""]
    others.append("https://api.ours.example@evil.com/")
    assert [url for url in others if urls.is_own(url, LOCAL) or urls.is_own(url, POLICY)] == []


def test_split_normalises_what_may_be_written_differently():
    parts = urls.split("HTTPS://Hooks.Example.COM.?a=B")
    assert (parts.host, parts.port, parts.is_literal) == ("hooks.example.com", 443, False)
    literal = urls.split("http://[2606:2800:0:0:0:0:0:1]:8080/x")
    assert (literal.host, literal.authority, literal.is_literal) == ("2606:2800::1", "[2606:2800::1]:8080", True)


@settings(deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="htps:/@.[]0127ax%\\#?&-", max_size=60).map("http://".__add__))
def test_arbitrary_text_gets_a_verdict_and_no_other_error(text: str):
    reason = urls.problem(text, POLICY)
    assert reason is None or reason.startswith("must")


def test_host_labels_within_the_rules_are_accepted_and_no_others():
    hosts = [f"{label}.example.com" for label in ("a" * 63, "xn--bcher-kva", "a-b", "0x7g", "3com")]
    others = ["a" * 64 + ".example.com", "a_b.example.com", ".".join(["abc"] * 64), "example.123"]
    assert accepted(f"https://{host}/" for host in hosts + others) == [f"https://{host}/" for host in hosts]


def test_a_base_url_is_the_beginning_of_others() -> None:
    for url in ("https://x.example.com/v1", "http://127.0.0.1:8100", "http://[::1]:8000/a@b"):
        assert urls.base_url(f"{url}/") == url
    odd = [f"http://{rest}" for rest in ("", "x:0", "u@x", "x?a", "x#a", "x/ y", "x\\y")]
    for url in ("ftp://x", *odd):
        with pytest.raises(ValueError, match="without user, query and fragment"):
            urls.base_url(url)
    for url in ("http://[x", "http://x:99999"):
        with pytest.raises(ValueError, match="valid URL"):
            urls.base_url(url)
