"""A channel's credential: stored encrypted, opened only for a call, shown only by its last four characters."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.models import Channel, Credential
from common import redaction
from common.encryption import Undecryptable, decrypt_mapping, encrypt_mapping

SHOWN_FROM_LENGTH = 12  # four characters of a shorter secret would give away too much of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A usable credential in the clear."""

    id: int
    values: Mapping[str, str] = field(repr=False)


def current(channel_id: int) -> Credential | None:
    """The channel's credential: the oldest enabled one, else the oldest."""
    rows = list(Credential.objects.filter(channel_id=channel_id).order_by("id"))
    return next((row for row in rows if row.disabled_at is None), rows[0] if rows else None)


def opened(channel_id: int) -> Opened | None:
    """What a call to this channel authenticates with; None without an enabled credential. Raises Undecryptable."""
    credential = current(channel_id)
    if credential is None or credential.disabled_at is not None:
        return None
    values = decrypt_mapping(credential.ciphertext)
    for value in values.values():
        redaction.redact(value)
    return Opened(id=credential.id, values=values)


def store(channel: Channel, values: Mapping[str, str]) -> bool:
    """Make this the channel's credential; False if it already is. A changed one is enabled again."""
    credential = current(channel.id) or Credential(channel=channel)
    if credential.pk and readable(credential.ciphertext) == dict(values):
        return False
    credential.ciphertext, credential.last4 = encrypt_mapping(values), last4(values)
    credential.disabled_at, credential.reason = None, ""
    credential.save()
    return True


def readable(ciphertext: str) -> dict[str, str] | None:
    """The values, or None where no key of ENCRYPTION_KEYS opens them or they are no mapping."""
    try:
        return decrypt_mapping(ciphertext)
    except (Undecryptable, ValueError):
        return None


def last4(values: Mapping[str, str]) -> str:
    """The end of the api_key, or of the last value; empty for a short one."""
    secret = values.get("api_key") or next(reversed(list(values.values())), "")
    return secret[-4:] if len(secret) >= SHOWN_FROM_LENGTH else ""
