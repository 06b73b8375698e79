"""What counts against channels, credentials and models: what a success would take back. Mostly there is nothing."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from catalog.health.calls import ChannelCall
from common import sql

Mark = tuple[str, int, int, int, str]
"""Its kind, and the channel, account, credential and model that it concerns; 0 and empty are any."""

# A cool-down that was asked for runs its time whatever succeeds, and so does the rest after a rate limit.
MARKS = """
SELECT 'channel', channel_id, 0, 0, '' FROM catalog_channelhealth
WHERE channel_id IN ({channels}) AND (cooldowns > 0 OR cooldown_until <= {now}
    OR (cooldown_until IS NOT NULL AND last_kind = 'transient'))
UNION ALL
SELECT 'credential', channel_id, 0, id, '' FROM catalog_credential
WHERE channel_id IN ({channels}) AND disabled_at IS NULL AND (probes > 0 OR suspected_at IS NOT NULL)
UNION ALL
SELECT cause, channel_id, account_id, credential_id, upstream_model FROM catalog_rest
WHERE channel_id IN ({channels}) AND (cause <> 'rate' OR until IS NULL OR until <= {now})
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """All that counted against some channels when it was read."""

    found: frozenset[Mark] = frozenset()

    def concern(self, call: ChannelCall) -> bool:
        """Whether a success of this call would take something back."""
        return bool(self.found) and not self.found.isdisjoint(_of(call))

    def has_channel(self, channel_id: int) -> bool:
        """Whether something counts against the channel as a whole."""
        return ("channel", channel_id, 0, 0, "") in self.found


def read(channel_ids: Collection[int]) -> Marks:
    """One statement."""
    statement = MARKS.format(channels=sql.places(channel_ids), now=sql.now())
    return Marks(found=frozenset(tuple(row) for row in sql.fetch(statement, [*channel_ids] * 3)))


def _of(call: ChannelCall) -> Iterator[Mark]:
    channel, credential = call.channel_id, call.credential_id or 0
    yield "channel", channel, 0, 0, ""
    yield "credential", channel, 0, credential, ""
    yield "rate", channel, 0, credential, ""
    yield "rate", channel, 0, credential, call.upstream_model
    for account in (0, call.account_id):
        yield "model", channel, account, 0, call.upstream_model
        yield "account", channel, account, credential, ""
