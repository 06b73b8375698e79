"""Credentials that the service itself has disabled are tried from time to time with something that buys nothing."""

import logging

from adapters import registry
from adapters.base import Target, UpstreamError
from catalog import connections, credential_probes
from catalog.models import Credential
from common import urls
from common.database.database_retry import release_connection

logger = logging.getLogger(__name__)
TIMEOUT_SECONDS = 10.0


def probe_one() -> bool:
    """Probe one credential that is due, for all workers together; False if none was. One that passes is enabled."""
    credential_id = credential_probes.claim_probe()
    if credential_id is None:
        return False
    row = Credential.objects.select_related("channel").filter(id=credential_id).first()
    if row is not None and (fault := _fault(row)):
        logger.info("channel %s: credential %s stays disabled: %s", row.channel.name, row, fault)
    elif row is not None and credential_probes.recover(credential_id):
        logger.warning("channel %s: credential %s passed its probe and is enabled again", row.channel.name, row)
    return True


def _fault(row: Credential) -> str:
    """Why the channel cannot be used with this credential now; empty if it can."""
    channel = row.channel
    adapter = registry.get(channel.adapter)
    if adapter is None:
        return f"adapter {channel.adapter} is not registered"
    target = Target(
        adapter=channel.adapter, base_url=channel.base_url, upstream_model="", options=channel.options or {}
    )
    if row.origin != urls.origin(channel.base_url):
        return f"it was entered for {row.origin or 'no address'}, and the channel is elsewhere now"
    opened, connection = connections.to(channel.pk, target, total_timeout=TIMEOUT_SECONDS, credential_id=row.pk)
    if opened != row.pk:
        return "no key of ENCRYPTION_KEYS opens it"
    release_connection()
    try:
        adapter.probe(connection)
    except UpstreamError as error:
        return str(error)
    except Exception as error:  # whatever a probe meets, the lane goes on
        logger.exception("the probe of channel %s broke off", channel.name)
        return repr(error)
    return ""
