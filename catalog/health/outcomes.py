"""What the outcome of a paid call says about its channel: one place for tasks and relayed calls.

Whose fault a refusal is, the adapter's or the dialect's documented words decide (`adapters.base.FAULTS`). Nothing here
raises the catalog version but a refusal of `stream_options`: claims read these rows themselves.
"""

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from adapters.base import FAULTS, ErrorKind, Fault, UpstreamError
from catalog.health import cooldowns, probes, rests
from catalog.health.calls import ChannelCall
from catalog.health.rests import Noted, Scope
from catalog.models import Rest
from common import backoff, redaction, sql

logger = logging.getLogger(__name__)

MODEL_SECONDS, LONGEST_MODEL_SECONDS = 3_600.0, 86_400.0
ACCOUNT_SECONDS, LONGEST_ACCOUNT_SECONDS = 60.0, 3_600.0
ACCOUNT_WINDOW_SECONDS = 600
ENOUGH = 2
"""Refusals that are evidence for a rest."""


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


def read_marks(channel_ids: Collection[int]) -> Marks:
    """Read what counts against these channels. One statement; mostly it finds nothing."""
    rows = sql.fetch(_marks_statement(len(channel_ids), sql.now()), [*channel_ids] * 3)
    return Marks(found=frozenset(tuple(row) for row in rows))


@lru_cache(maxsize=64)
def _marks_statement(channels: int, now: str) -> str:
    return MARKS.format(channels=sql.places(range(channels)), now=now)


def _of(call: ChannelCall) -> Iterator[Mark]:
    channel, credential = call.channel_id, call.credential_id or 0
    yield "channel", channel, 0, 0, ""
    yield "credential", channel, 0, credential, ""
    yield "rate", channel, 0, credential, ""
    yield "rate", channel, 0, credential, call.upstream_model
    for account in (0, call.account_id):
        yield "model", channel, account, 0, call.upstream_model
        yield "account", channel, account, credential, ""


def succeeded(calls: Collection[ChannelCall]) -> None:
    """The calls were answered as they should: what counted against their channels is forgotten. Writes only where
    something is."""
    against = read_marks({call.channel_id for call in calls})
    if not against.found:
        return
    for call in calls:
        if against.concern(call):
            rests.clear(call)
            probes.cleared(call.credential_id)
    for channel_id in {call.channel_id for call in calls}:
        if against.has_channel(channel_id):
            cooldowns.reached(channel_id)


def refused(call: ChannelCall, error: UpstreamError) -> None:
    """The call raised: what that says about the request, the model, the credential, the account or the channel. Safe
    to repeat."""
    said = described(error)
    match FAULTS.get(error.kind):
        case Fault.MODEL if error.is_documented:
            _refused_model(call, said)
        case Fault.CREDENTIAL:
            _refused_credential(call, said)
        case Fault.ACCOUNT:
            _refused_account(call, said)
        case Fault.REQUEST:
            _refused_request(call)
        case _:
            _failed(call, error, said)
    if call.tried:
        rests.end_trial(call)


def described(error: UpstreamError) -> str:
    """Kind, code and the provider's words, without secrets."""
    spoken = " ".join(redaction.clean(error.message).split())
    what = f"{error.kind.value} {error.code or error.http_status or ''}".strip()
    return f"{what}: {spoken}"[:200]


def _refused_request(call: ChannelCall) -> None:
    """Nothing changes, but that the provider has answered: what the call tried is there again."""
    cooldowns.reached(call.channel_id)
    if call.tried:
        rests.clear(call)


def _refused_model(call: ChannelCall, said: str) -> None:
    """It rests for the account from its second refusal in a row, for all from those of two accounts or two tasks."""
    cause, model = Rest.Cause.MODEL, call.upstream_model
    for scope in (
        Scope(cause=cause, upstream_model=model, account_id=call.account_id),
        Scope(cause=cause, upstream_model=model, counts=rests.OF_ANOTHER),
    ):
        _rest_ever_longer(rests.note(scope, call, said), MODEL_SECONDS, LONGEST_MODEL_SECONDS, said)


def _refused_account(call: ChannelCall, said: str) -> None:
    """The credential rests for an account of which two tasks were refused, and for all from two accounts' refusals: so
    no account takes it from another."""
    if call.credential_id is None:
        return
    for_all = Scope(
        cause=Rest.Cause.ACCOUNT,
        credential_id=call.credential_id,
        counts=rests.OF_ANOTHER_ACCOUNT,
        window_seconds=ACCOUNT_WINDOW_SECONDS,
    )
    for_account = replace(for_all, account_id=call.account_id, counts=rests.OF_ANOTHER_TASK)
    for scope in (for_all, for_account) if call.task_id else (for_all,):
        _rest_ever_longer(rests.note(scope, call, said), ACCOUNT_SECONDS, LONGEST_ACCOUNT_SECONDS, said)


def _refused_credential(call: ChannelCall, said: str) -> None:
    """A probe is to confirm it (`catalog/health/probing.py`) before it is disabled."""
    if call.credential_id is not None and probes.suspect(call.credential_id, said):
        logger.warning(
            "channel %s: credential %d is suspected: %s", cooldowns.name_of(call.channel_id), call.credential_id, said
        )


def _failed(call: ChannelCall, error: UpstreamError, said: str) -> None:
    """Nobody's fault in particular: a rate, a busy or unreachable channel, a lost answer, a bare 403."""
    match error.kind:
        case ErrorKind.RATE_LIMITED if call.credential_id is not None:
            _refused_rate(call, error.retry_after, said)
            if cooldowns.is_last_that_opens(call.channel_id, call.credential_id):
                cooldowns.cool_down(call.channel_id, error)
        case ErrorKind.RATE_LIMITED | ErrorKind.OVERLOADED | ErrorKind.TRANSIENT:
            cooldowns.cool_down(call.channel_id, error)
        case ErrorKind.AMBIGUOUS:
            cooldowns.note(call.channel_id, error.kind)
            logger.error(
                "channel %s: nobody knows what became of a paid call: %s", cooldowns.name_of(call.channel_id), error
            )
        case ErrorKind.FORBIDDEN:
            logger.warning("channel no. %d forbids a call and does not say why: %s", call.channel_id, said)
        case _:
            cooldowns.reached(call.channel_id)


def _refused_rate(call: ChannelCall, asked: float | None, said: str) -> None:
    """The model rests with this credential; where a second one does at the same time, the whole credential."""
    cause, credential = Rest.Cause.RATE, call.credential_id or 0
    _rest_as_asked(Scope(cause=cause, credential_id=credential, upstream_model=call.upstream_model), call, asked, said)
    if rests.has_other_model(call):
        _rest_as_asked(Scope(cause=cause, credential_id=credential), call, asked, said)


def _rest_as_asked(scope: Scope, call: ChannelCall, asked: float | None, said: str) -> None:
    """For as long as the provider asks, else ever longer. Many refusals at once are one rest."""
    noted = rests.note(scope, call, said)
    if noted is None:
        return
    if noted.is_resting and asked:
        rests.lengthen(noted, min(asked, cooldowns.LONGEST_ASKED_SECONDS))
    elif not noted.is_resting:
        rests.rest(noted, min(asked, cooldowns.LONGEST_ASKED_SECONDS) if asked else backoff.seconds(noted.rests))


def _rest_ever_longer(noted: Noted | None, seconds: float, longest: float, said: str) -> None:
    if noted is None or noted.is_resting or noted.refusals < ENOUGH:
        return
    length = min(seconds * 2.0 ** min(noted.rests, 30), longest)
    if rests.rest(noted, length):
        logger.warning("rest %d of %.0f s begins: %s", noted.id, length, said)
