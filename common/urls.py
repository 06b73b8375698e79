"""Which URLs and addresses of others may be used: checks of syntax and of literal addresses, without DNS.

A submission checks whole URLs, the outbound door every address that a name resolves to. The tables are
our own: what `ipaddress` calls global changes with the interpreter and lets transition addresses pass.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

MAX_BYTES = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}
LOOPBACK = IPv4Address("127.0.0.1")

# IANA's special-purpose registry, multicast, reserved space, and the address of Azure's platform.
CLOSED_IPV4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
# Everything outside global unicast is closed, which covers mapped, NAT64, local and multicast addresses.
OPEN_IPV6 = IPv6Network("2000::/3")
CLOSED_IPV6 = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48")
)

# Top-level names that lead into a private network or nowhere.
CLOSED_SUFFIXES = frozenset(
    {"alt", "arpa", "consul", "corp", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain"}
    | {"localhost", "mail", "onion", "private", "svc", "test"}
)
# Ports of 1024 and above where a database, queue, cache or control plane listens.
SERVICE_PORTS = frozenset(
    {1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5060, 5061, 5432, 5672, 5900, 5984, 5985, 5986}
    | {6000, 6379, 6443, 6667, 9042, 9092, 9200, 9300, 10250, 10255, 11211, 27017, 27018}
)

URL = re.compile(r"(https?)://([^/?]*)(?:[/?].*)?", re.IGNORECASE)
AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::([1-9][0-9]{0,4}))?")
NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
NUMERIC = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlPolicy:
    """The operator's say: deny wins over everything, allow over the tables. `own_hosts` as `own_hosts()` makes it."""

    allow_networks: tuple[Network, ...] = ()
    deny_networks: tuple[Network, ...] = ()
    own_hosts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlParts:
    """A well-formed URL. `host`: lower case, without trailing dot or brackets; `port` is never left open."""

    host: str
    port: int
    is_literal: bool

    @property
    def authority(self) -> str:
        """`host:port`, with the brackets of IPv6."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def split(url: str) -> UrlParts:
    """The parts of an absolute HTTP(S) URL. Raises ValueError with a reason in words for any other text."""
    match = URL.fullmatch(_checked_text(url))
    if match is None:
        raise ValueError("must be an absolute http or https URL")
    scheme, authority = match[1].lower(), match[2]
    if "@" in authority:
        raise ValueError("must not contain user information")
    found = AUTHORITY.fullmatch(authority)
    if found is None or (found[2] and int(found[2]) > 65_535):
        raise ValueError("must have a valid host and port")
    host, is_literal = _host(found[1].lower())
    return UrlParts(
        host=host,
        port=int(found[2] or (443 if scheme == "https" else 80)),
        is_literal=is_literal,
    )


def problem(url: str, policy: UrlPolicy) -> str | None:
    """Why a URL is refused at submission, in words that follow the field's name; None if it is acceptable."""
    try:
        parts = split(url)
    except ValueError as error:
        return str(error)
    if _is_own(parts, policy):
        return "must not point at this service"
    if parts.is_literal:
        address = _address(parts.host)
        return address_problem(address, policy) or (None if _within(address, policy.allow_networks) else _port(parts))
    if parts.host == "localhost" and _within(LOOPBACK, policy.allow_networks):
        return address_problem(LOOPBACK, policy)
    return _name(parts.host) or _port(parts)


def address_problem(address: Address, policy: UrlPolicy) -> str | None:
    """Why an address must not be reached, in words; None if it may."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    if _within(address, policy.deny_networks) or (mapped and _within(mapped, policy.deny_networks)):
        return "must not point at an address that the operator has closed"
    if _within(address, policy.allow_networks):
        return None
    if isinstance(address, IPv4Address):
        is_public = not _within(address, CLOSED_IPV4)
    else:
        is_public = address in OPEN_IPV6 and not _within(address, CLOSED_IPV6)
    return None if is_public else "must point at a public address"


def is_own(url: str, policy: UrlPolicy) -> bool:
    """Whether a URL points at this service itself; false for what is no URL."""
    try:
        return _is_own(split(url), policy)
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether a host, an address or a name, is this machine itself; an address of IPv4 may be mapped into IPv6."""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def own_hosts(public_base_url: str) -> frozenset[str]:
    """The `own_hosts` of a policy: a public name on every port; a literal or local name on its own port only,
    because an operator's receivers may live on the same machine. Raises ValueError for what is no URL."""
    parts = split(public_base_url)
    if not parts.is_literal and "." in parts.host:
        return frozenset({parts.host})
    spellings = ("127.0.0.1", "localhost", "[::1]") if is_loopback(parts.host) else ()
    return frozenset({parts.authority, *(f"{spelling}:{parts.port}" for spelling in spellings)})


def base_url(url: str) -> str:
    """The address of a service, which may be private, without a slash at its end. Raises ValueError with a reason in
    words."""
    try:
        parts = urlsplit(url)
        is_plain = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        raise ValueError("must be a valid URL") from None
    if parts.scheme not in ("http", "https") or not is_plain or re.search(r"[\s?#\\]", url):
        raise ValueError("must be an http(s) URL without user, query and fragment")
    return url.rstrip("/")


@lru_cache(maxsize=1_000)
def origin(url: str) -> str:
    """Scheme, host and port of an http(s) address in one spelling, the scheme's own port left out; empty for what has
    none. Addresses of one origin may differ in case, in a dot after the name, and in how they write an IP address."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removesuffix("."), parts.port or DEFAULT_PORTS[parts.scheme]
    except (KeyError, ValueError):
        return ""
    if not host:
        return ""
    with suppress(ValueError):
        address = ip_address(host)
        mapped = getattr(address, "ipv4_mapped", None)
        host = f"::ffff:{mapped}" if mapped else str(address)  # interpreters differ about the former
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port == DEFAULT_PORTS[parts.scheme] else f":{port}")


def _checked_text(url: str) -> str:
    if url[:5].lower() == "data:":
        raise ValueError("must be a public http or https URL, not a Data URL")
    if len(url) > MAX_BYTES or len(url.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise ValueError(f"must be at most {MAX_BYTES} bytes long")
    # Only plain visible ASCII reaches a parser: parsers disagree about everything else.
    if not all("!" <= character <= "~" for character in url):
        raise ValueError("must not contain blanks, control or non-ASCII characters")
    if "\\" in url or "#" in url:
        raise ValueError("must not contain a backslash or a fragment")
    return url


def _host(text: str) -> tuple[str, bool]:
    """The canonical host and whether it is an IP literal."""
    try:
        if text.startswith("["):
            return str(IPv6Address(text[1:-1])), True
        if NUMERIC.fullmatch(text):
            return str(IPv4Address(text)), True
    except ValueError:
        raise ValueError("must not have a malformed IP address as host") from None
    name = text.removesuffix(".")
    if not NAME.fullmatch(name):
        raise ValueError("must have a valid host name")
    return name, False


def _address(host: str) -> Address:
    return IPv6Address(host) if ":" in host else IPv4Address(host)


def _within(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)


def _is_own(parts: UrlParts, policy: UrlPolicy) -> bool:
    return parts.host in policy.own_hosts or parts.authority in policy.own_hosts


def _name(host: str) -> str | None:
    if "." not in host or host.rpartition(".")[2] in CLOSED_SUFFIXES:
        return "must have a public host name"
    return None


def _port(parts: UrlParts) -> str | None:
    if parts.port in (80, 443) or (parts.port >= 1024 and parts.port not in SERVICE_PORTS):
        return None
    return "must use port 80, 443 or one from 1024 that is not a well-known service's"
