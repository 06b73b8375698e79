"""The settings' rules for addresses that users and providers choose."""

from functools import cache

from django.conf import settings

from common.urls import UrlPolicy, own_hosts


@cache
def current() -> UrlPolicy:
    """The policy of this process. Its own hosts are that of PUBLIC_BASE_URL and each name of ALLOWED_HOSTS."""
    names = [host for host in settings.ALLOWED_HOSTS if host.strip("*.") == host and "." in host and host[-1].isalpha()]
    return UrlPolicy(
        allow_networks=settings.OUTBOUND_ALLOW_NETWORKS,
        deny_networks=settings.OUTBOUND_DENY_NETWORKS,
        own_hosts=own_hosts(settings.PUBLIC_BASE_URL).union(*(own_hosts(f"https://{name}") for name in names)),
    )
