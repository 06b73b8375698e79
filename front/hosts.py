"""Whether a request names a host of ours: by ALLOWED_HOSTS, on every path but those by which a machine looks after this
process. A load balancer asks those by our address."""

import logging
from functools import lru_cache

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from common.errors import InvalidRequest
from common.http.asgi import Scope, joined
from tasks_api import health

LONGEST = 300
logger = logging.getLogger(__name__)


class HostRefused(InvalidRequest):
    """Nothing is served under that name."""

    default_message = "Host: names no host of this service."


def check(scope: Scope) -> None:
    """Raises HostRefused. Several hosts are none; a request of HTTP/1.0 may name none."""
    names_one = any(name == b"host" for name, _ in scope["headers"])
    if not names_one or scope["path"] in health.PATHS:
        return
    host = joined(scope["headers"], b"host")
    if len(host) > LONGEST or not _is_allowed(host, tuple(settings.ALLOWED_HOSTS)):
        logger.warning("a request names a host that ALLOWED_HOSTS does not: %.100r", host)
        raise HostRefused


@lru_cache(maxsize=1_000)
def _is_allowed(host: str, allowed: tuple[str, ...]) -> bool:
    """As Django judges it."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)
