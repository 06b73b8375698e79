"""Whose request it is: the peer, or the address that TRUSTED_PROXIES name in `X-Forwarded-For`.

The header is read from the right, where our own proxies write. What stands left of the first address that is not
theirs was written by anybody.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def of(request: HttpRequest) -> Address | None:
    """None where the server knows no peer, as on a socket of the file system."""
    meta = request.META
    return judged(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""), settings.TRUSTED_PROXIES)


def place(request: HttpRequest) -> str:
    """Where a request comes from, to count by: of IPv6 the network of 64 bits, which is one customer's."""
    address = of(request)
    return str(ip_network((address, 64), strict=False) if isinstance(address, IPv6Address) else address)


def judged(peer: str, forwarded: str, trusted: Iterable[Network]) -> Address | None:
    """The client's address. Garbage where a proxy should have named one counts as the peer."""
    nearest = parsed(peer)
    if nearest is None or not within(nearest, trusted):
        return nearest
    client = nearest
    for hop in reversed(forwarded.split(",")):
        named = parsed(hop)
        if named is None:
            return nearest
        client = named
        if not within(client, trusted):
            return client
    return client


def within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def parsed(text: str) -> Address | None:
    """An address, with or without brackets and a port. IPv4 inside IPv6 is IPv4; an interface's name is dropped."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped or IPv6Address(int(address))
    return address
