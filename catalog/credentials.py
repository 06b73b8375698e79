"""A channel's credentials: stored encrypted, opened only for a call to their own origin, shown only by their last four
characters. Another secret is another row, so that each job is followed with what bought it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.utils import timezone

from catalog import sealing
from catalog.models import Channel, Credential
from catalog.sealing import Unsealed
from common import redaction, sql, urls

LEFT_OUT = "no longer in the catalog file"
REPLACED = "replaced by another"
MOVED = "the channel has moved to another origin"
SHOWN_FROM_LENGTH = 12  # four characters of a shorter secret would give away too much of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A usable credential in the clear."""

    id: int
    values: Mapping[str, str] = field(repr=False)


def of_channel(channel_id: int) -> list[Credential]:
    """All of a channel's credentials, oldest first, retired ones too."""
    return list(Credential.objects.filter(channel_id=channel_id).order_by("id"))


def current(channel_id: int) -> list[Credential]:
    """Those that are not retired, oldest first."""
    return [row for row in of_channel(channel_id) if row.retired_at is None]


STORED = """
SELECT id, channel_id, origin, ciphertext, disabled_at, retired_at
FROM catalog_credential WHERE channel_id IN ({channels}) ORDER BY id
"""


def stored(channel_ids: Collection[int]) -> dict[int, list[Any]]:
    """The rows of these channels' credentials as they are now, by channel, oldest first. One statement."""
    found: dict[int, list[Any]] = {}
    for row in sql.records(STORED.format(channels=sql.places(channel_ids)), [*channel_ids]):
        found.setdefault(row.channel_id, []).append(row)
    return found


def in_turn(
    of_channel: Iterable[Any],
    turn: int,
    origin: str,
    *,
    first: int | None = None,
    last: Collection[int] = (),
    with_retired: bool = False,
) -> list[Any]:
    """A channel's stored credentials for an origin in the order in which to try to open them: the one asked for,
    whatever its state, then the enabled ones, beginning with whose turn it is, these `last`;
    where asked for, the retired ones last, newest first. Pure."""
    rows = [row for row in of_channel if row.origin and row.origin == origin]
    asked = [row for row in rows if row.id == first]
    enabled = [row for row in rows if row.disabled_at is None and row not in asked]
    ready = [row for row in enabled if row.id not in last]
    start = turn % len(ready) if ready else 0
    others = [row for row in enabled if row.id in last]
    retired = [row for row in reversed(rows) if row.retired_at and row not in asked] if with_retired else []
    return [*asked, *ready[start:], *ready[:start], *others, *retired]


def opened(credential: Any) -> Opened | None:
    """This credential, a model's row or a stored one, in the clear; None where no key of ENCRYPTION_KEYS opens it, or
    it was sealed for another origin than its row says."""
    found = _unsealed(credential.ciphertext, credential.origin, tuple(settings.ENCRYPTION_KEYS))
    if found is None:
        return None
    for value in found.values.values():
        redaction.redact(value)
    return Opened(id=credential.id, values=found.values)


@lru_cache(maxsize=1_000)
def _unsealed(ciphertext: str, origin: str, _keys: tuple[str, ...]) -> Unsealed | None:
    """What is sealed for this origin. Remembered as long as all are the same: the row is read for each call, and
    another secret has another text."""
    found = sealing.unseal(ciphertext)
    return found if found and found.is_for(origin) else None


def store(channel: Channel, values: Mapping[str, str]) -> bool:
    """Make this a credential of the channel, in place of its first enabled one; False if it already is one. What was
    for another origin than the channel has now is retired."""
    is_changed = retire_strays(channel)
    rows = current(channel.pk)
    if any(readable(row.ciphertext) == dict(values) for row in rows):
        return is_changed
    enabled = [row for row in rows if row.disabled_at is None]
    replace(next(iter(enabled or rows), None), channel, values).save()
    return True


def store_given(channel: Channel, given: Mapping[str, str] | list[dict[str, str]] | None) -> bool:
    """What a catalog file gives: one that the channel has, or a list of all that it has; None changes nothing. Whether
    anything changed."""
    if given is None:
        return False
    return store_all(channel, given) if isinstance(given, list) else store(channel, given)


def store_all(channel: Channel, wanted: Iterable[Mapping[str, str]]) -> bool:
    """Make these the channel's only credentials; False if they already are.

    The others are retired: what was bought with them is followed with them, also what is found out later to be bought.
    """
    kept, is_changed = [], False
    for values in wanted:
        row = _same(of_channel(channel.pk), channel, values)
        if row is None or row.retired_at is not None:
            row = replace(None, channel, values)
            row.save()
            is_changed = True
        kept.append(row.pk)
    for row in of_channel(channel.pk):
        if row.pk not in kept and row.retired_at is None:
            retire(row, LEFT_OUT)
            row.save()
            is_changed = True
    return is_changed


def replace(old: Credential | None, channel: Channel, values: Mapping[str, str]) -> Credential:
    """The enabled row of these values for the channel's origin: a new one, or one that is there already. The caller
    saves it; the old one is retired and saved here."""
    row = _same(of_channel(channel.pk), channel, values) if channel.pk else None
    if old is not None and old.retired_at is None and (row is None or old.pk != row.pk):
        retire(old, REPLACED)
        old.save()
    if row is None:
        row = new(channel, values)
    row.retired_at = None
    enable(row)
    return row


def _same(rows: Iterable[Credential], channel: Channel, values: Mapping[str, str]) -> Credential | None:
    """The row that holds these values for the channel's origin, one that is in use before a retired one."""
    origin = urls.origin(channel.base_url)
    found = [row for row in rows if row.origin == origin and readable(row.ciphertext) == dict(values)]
    return min(found, key=lambda row: row.retired_at is not None, default=None)


def new(channel: Channel, values: Mapping[str, str]) -> Credential:
    """A row for the channel's origin. The caller saves."""
    origin = urls.origin(channel.base_url)
    return Credential(channel=channel, origin=origin, ciphertext=sealing.seal(values, origin), last4=last4(values))


def retire_strays(channel: Channel) -> bool:
    """Retire what was entered for another origin than the channel has now; whether there was any."""
    strays = [row for row in current(channel.pk) if row.origin != urls.origin(channel.base_url)]
    for row in strays:
        retire(row, MOVED)
        row.save()
    return bool(strays)


def retire(credential: Credential, reason: str) -> None:
    """From now on it only follows the jobs that it bought, at its origin. The caller saves."""
    disable(credential, reason)
    credential.retired_at = credential.disabled_at


def enable(credential: Credential) -> None:
    """In use from the next claim on, as if it had never failed. The caller saves."""
    credential.disabled_at, credential.reason, credential.probe_at = None, "", None
    credential.suspected_at, credential.probed_at, credential.probes = None, None, 0


def disable(credential: Credential, reason: str) -> None:
    """An operator's disable: without a time to probe it, it stays. The caller saves."""
    credential.disabled_at, credential.reason, credential.probe_at = timezone.now(), reason, None
    credential.suspected_at = None


readable = sealing.readable


def is_stored(values: Mapping[str, str], origin: str) -> bool:
    """Whether these values were entered for this origin, on any channel."""
    return any(readable(row.ciphertext) == dict(values) for row in Credential.objects.filter(origin=origin))


def last4(values: Mapping[str, str]) -> str:
    """The end of the api_key, or of the last value; empty for a short one."""
    secret = values.get("api_key") or next(reversed(list(values.values())), "")
    return secret[-4:] if len(secret) >= SHOWN_FROM_LENGTH else ""
