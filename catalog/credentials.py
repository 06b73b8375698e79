"""A channel's credentials: stored encrypted, opened only for a call, shown only by their last four characters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import BooleanField, Case, When
from django.db.models.functions import Now
from django.utils import timezone

from catalog.models import Channel, Credential
from common import redaction
from common.encryption import Undecryptable, decrypt_mapping, encrypt_mapping

RETIRED = "no longer in the catalog file"
SHOWN_FROM_LENGTH = 12  # four characters of a shorter secret would give away too much of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A usable credential in the clear."""

    id: int
    values: Mapping[str, str] = field(repr=False)


def of_channel(channel_id: int) -> list[Credential]:
    """All of a channel's credentials, oldest first."""
    return list(Credential.objects.filter(channel_id=channel_id).order_by("id"))


def in_turn(channel_id: int, turn: int, *, first: int | None = None) -> list[Credential]:
    """A channel's credentials in the order in which to try to open them: the one asked for, whatever its state, then
    the enabled ones that do not cool down, beginning with whose turn it is, then those that do, soonest ready first."""
    is_cooling = Case(When(cooldown_until__gt=Now(), then=True), default=False, output_field=BooleanField())
    rows = list(Credential.objects.filter(channel_id=channel_id).annotate(is_cooling=is_cooling).order_by("id"))
    asked = [row for row in rows if row.pk == first]
    enabled = [row for row in rows if row.disabled_at is None and row not in asked]
    ready = [row for row in enabled if not row.is_cooling]
    start = turn % len(ready) if ready else 0
    cooling = sorted((row for row in enabled if row.is_cooling), key=lambda row: row.cooldown_until)
    return [*asked, *ready[start:], *ready[:start], *cooling]


def opened(credential: Credential) -> Opened | None:
    """This credential in the clear; None where no key of ENCRYPTION_KEYS opens it."""
    values = readable(credential.ciphertext)
    if values is None:
        return None
    for value in values.values():
        redaction.redact(value)
    return Opened(id=credential.pk, values=values)


def store(channel: Channel, values: Mapping[str, str]) -> bool:
    """Make this a credential of the channel, in place of its first enabled one; False if it already is one. A changed
    one is enabled again."""
    rows = of_channel(channel.pk)
    if any(readable(row.ciphertext) == dict(values) for row in rows):
        return False
    enabled = [row for row in rows if row.disabled_at is None]
    credential = next(iter(enabled or rows), Credential(channel=channel))
    fill(credential, values)
    credential.save()
    return True


def store_all(channel: Channel, wanted: Iterable[Mapping[str, str]], *, is_in_use: bool) -> bool:
    """Make these the channel's only credentials; False if they already are.

    A channel in use keeps the others disabled: what was bought with them is followed with them.
    """
    others = of_channel(channel.pk)
    is_changed = False
    for values in wanted:
        row = next((row for row in others if readable(row.ciphertext) == dict(values)), None)
        if row is not None:
            others.remove(row)
        if row is None or row.reason == RETIRED:
            row = row or Credential(channel=channel)
            fill(row, values)
            row.save()
            is_changed = True
    for row in others:
        is_changed |= _remove(row, is_in_use=is_in_use)
    return is_changed


def _remove(row: Credential, *, is_in_use: bool) -> bool:
    """Whether anything had to be done."""
    if not is_in_use:
        row.delete()
        return True
    if row.reason == RETIRED:
        return False
    disable(row, RETIRED)
    row.save()
    return True


def fill(credential: Credential, values: Mapping[str, str]) -> None:
    """New values for a row, which also enables it. The caller saves."""
    credential.ciphertext, credential.last4 = encrypt_mapping(values), last4(values)
    enable(credential)


def enable(credential: Credential) -> None:
    """In use from the next claim on, as if it had never failed. The caller saves."""
    credential.disabled_at, credential.reason, credential.probe_at = None, "", None
    credential.cooldown_until, credential.cooldowns, credential.probes = None, 0, 0


def disable(credential: Credential, reason: str) -> None:
    """An operator's disable: without a time to probe it, it stays. The caller saves."""
    credential.disabled_at, credential.reason, credential.probe_at = timezone.now(), reason, None


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
