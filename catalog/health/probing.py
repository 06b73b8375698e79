"""Makes the probes: a request that needs the credential and buys nothing. Holds no database connection meanwhile."""

import logging
import threading

from adapters import registry
from adapters.base import ErrorKind, Target, UpstreamError
from catalog import connections
from catalog.health import probes, relay_reading
from catalog.models import Credential
from common import redaction, swallowed, urls
from common.database.database_retry import release_connection

logger = logging.getLogger(__name__)
TIMEOUT_SECONDS = 10.0


class CannotProbe(Exception):
    """No probe can be made; the message says why."""


def probe_due() -> bool:
    """Probe one credential that is due, for all processes together; False if none was."""
    credential_id = probes.claim_due()
    if credential_id is not None:
        _probe(credential_id)
    return credential_id is not None


def confirm(credential_id: int | None) -> None:
    """Probe a credential that has just been refused, unless that is done already, or was lately."""
    if credential_id is not None and probes.claim(credential_id):
        _probe(credential_id)


def confirm_soon(credential_id: int | None) -> None:
    """Do so on a thread of its own: who relays calls waits for no probe."""
    if credential_id is not None and probes.claim(credential_id):
        threading.Thread(target=_probe_apart, args=(credential_id,), name="probe", daemon=True).start()


def _probe_apart(credential_id: int) -> None:
    try:
        _probe(credential_id)
    except Exception:
        swallowed.note("catalog.health.probe")
    finally:
        release_connection()


def _probe(credential_id: int) -> None:
    row = Credential.objects.select_related("channel").filter(id=credential_id).first()
    if row is None:
        return
    try:
        fault = _fault(row)
    except CannotProbe as why:
        logger.warning("channel %s: credential %s cannot be probed: %s", row.channel.name, row, why)
        probes.passed(row.pk)
        return
    if row.disabled_at is None:
        _judge_suspected(row, fault)
    elif fault is None and probes.recover(row.pk):
        logger.warning("channel %s: credential %s passed its probe and is enabled again", row.channel.name, row)
    elif fault is not None:
        logger.info("channel %s: credential %s stays disabled: %s", row.channel.name, row, fault)
    relay_reading.forget()


def _judge_suspected(row: Credential, fault: UpstreamError | None) -> None:
    """Only a refusal of the credential itself confirms it; a provider that cannot be asked is asked again."""
    name = row.channel.name
    if fault is not None and fault.kind is ErrorKind.AUTH:
        said = " ".join(redaction.clean(fault.message).split())
        reason = f"{row.reason[:120]}; a probe confirmed it: {said}"[:200]
        if probes.disable(row.pk, reason):
            logger.error("channel %s: credential %s is disabled: %s", name, row, reason)
    elif fault is None or fault.kind not in (ErrorKind.TRANSIENT, ErrorKind.AMBIGUOUS, ErrorKind.OVERLOADED):
        probes.passed(row.pk)
        logger.info("channel %s: credential %s passed its probe and stays in use", name, row)


def _fault(row: Credential) -> UpstreamError | None:
    """What the provider says against the credential now. Raises CannotProbe."""
    channel = row.channel
    adapter = registry.get(channel.adapter)
    if adapter is None:
        raise CannotProbe(f"adapter {channel.adapter} is not registered")
    if row.origin != urls.origin(channel.base_url):
        raise CannotProbe(f"it was entered for {row.origin or 'no address'}, and the channel is elsewhere now")
    target = Target(
        adapter=channel.adapter, base_url=channel.base_url, upstream_model="", options=channel.options or {}
    )
    opened, connection = connections.to(channel.pk, target, total_timeout=TIMEOUT_SECONDS, credential_id=row.pk)
    if opened != row.pk:
        raise CannotProbe("no key of ENCRYPTION_KEYS opens it")
    release_connection()
    try:
        adapter.probe(connection)
    except UpstreamError as error:
        return error
    except Exception as error:  # whatever a probe meets, the lane goes on
        swallowed.note("catalog.health.adapter_probe")
        raise CannotProbe(repr(error)) from error
    return None
