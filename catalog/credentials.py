"""A channel's credentials: stored encrypted, opened only for a call to their own origin (`catalog/connections.py`),
shown only by their last four characters. Another secret is another row, so that each job is followed with what bought
it."""

from collections.abc import Iterable, Mapping

from django.utils import timezone

from catalog import sealing
from catalog.models import Channel, Credential
from common import urls

LEFT_OUT = "no longer in the catalog file"
REPLACED = "replaced by another"
MOVED = "the channel has moved to another origin"
SHOWN_FROM_LENGTH = 12  # four characters of a shorter secret would give away too much of it


def of_channel(channel_id: int) -> list[Credential]:
    """All of a channel's credentials, oldest first, retired ones too."""
    return list(Credential.objects.filter(channel_id=channel_id).order_by("id"))


def current(channel_id: int) -> list[Credential]:
    """Those that are not retired, oldest first."""
    return [row for row in of_channel(channel_id) if row.retired_at is None]


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


def last4(values: Mapping[str, str]) -> str:
    """The end of the api_key, or of the last value; empty for a short one."""
    secret = values.get("api_key") or next(reversed(list(values.values())), "")
    return secret[-4:] if len(secret) >= SHOWN_FROM_LENGTH else ""
