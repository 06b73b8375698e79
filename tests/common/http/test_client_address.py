"""Whose address counts when proxies stand in between."""

from ipaddress import ip_network

import pytest

from common.http import client_address

OURS = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))
CASES = [
    ("203.0.113.9", "", "203.0.113.9"),
    ("203.0.113.9", "198.51.100.1", "203.0.113.9"),  # nobody trusts this peer
    ("10.0.0.1", "", "10.0.0.1"),
    ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
    ("10.0.0.1", "6.6.6.6, 198.51.100.1", "198.51.100.1"),
    ("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2, fd00::3", "198.51.100.1"),
    ("10.0.0.1", "nonsense, 198.51.100.1", "198.51.100.1"),
    ("10.0.0.1", "198.51.100.1, nonsense", "10.0.0.1"),
    ("10.0.0.1", "198.51.100.1, , 10.0.0.2", "10.0.0.1"),
    ("10.0.0.1", "unknown", "10.0.0.1"),
    ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
    ("10.0.0.1", "198.51.100.1:4711", "198.51.100.1"),
    ("10.0.0.1", "[2001:db8::9]:4711", "2001:db8::9"),
    ("fd00::1", "2001:db8::9", "2001:db8::9"),
    ("::ffff:10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
    ("fe80::1%eth0", "", "fe80::1"),
    ("", "198.51.100.1", None),
]


@pytest.mark.parametrize(("peer", "forwarded", "client"), CASES)
def test_the_header_counts_from_the_right_and_only_from_proxies_that_are_trusted(peer, forwarded, client):
    found = client_address.judged(peer, forwarded, OURS)
    assert (found and str(found)) == client


def test_without_trusted_proxies_only_the_peer_counts():
    assert str(client_address.judged("10.0.0.1", "198.51.100.1", ())) == "10.0.0.1"
