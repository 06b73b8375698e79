"""The settings' rules for addresses that users and providers choose."""

from functools import cache

from django.conf import settings

from common.urls import UrlPolicy, own_hosts


@cache
def current() -> UrlPolicy:
    """The policy of this process."""
    return UrlPolicy(
        allow_networks=settings.OUTBOUND_ALLOW_NETWORKS,
        deny_networks=settings.OUTBOUND_DENY_NETWORKS,
        own_hosts=own_hosts(settings.PUBLIC_BASE_URL),
    )
