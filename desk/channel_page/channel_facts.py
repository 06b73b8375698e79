"""Data of a channel's page beside its form. No statement reads more than the calls of an hour."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

from catalog import pausing, standing
from catalog.health import words as health_words
from catalog.models import Channel, ChannelHealth, ChannelModel, ChannelTest, Credential
from common import ids
from desk.channel_page import verdicts
from desk.channel_page.verdicts import ChannelVerdict
from tasks.models import Call, Task

HOUR_SECONDS = 3_600
MOST_CALLS = 5_000
MOST_RUNNING = 1_000
MOST_LINES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTest:
    """Last test with request and answer as indented JSON; `answer` is empty if it has no content."""

    row: ChannelTest
    verdict: ChannelVerdict
    cost: str
    seconds: str
    body: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFacts:
    """Data of one channel: `state` in words, `but` the addition to a good state; `halted` if an operator paused or
    drained it; `calls` by outcome, the most frequent first; `automatic` actions of the service that still apply."""

    state: str
    is_well: bool
    but: str
    halted: str
    halted_means: str
    running: int
    offers: tuple[ChannelModel, ...]
    calls: tuple[tuple[str, int], ...]
    automatic: tuple["AutomaticAction", ...]
    history: tuple[LogEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomaticAction:
    """Action of the service; `at` is None if unknown; `then` names what happens at `until`."""

    at: datetime | None
    words: str
    until: datetime | None = None
    then: str = "until"


def read(channel: Channel, now: datetime) -> ChannelFacts:
    state = standing.of_channel(channel, now)
    return ChannelFacts(
        state=state,
        is_well=state.startswith("ok") and channel.enabled,
        but=state.removeprefix("ok") if state.startswith("ok") else f", and {state}",
        halted=pausing.told(channel),
        halted_means=pausing.MEANING[pausing.standing(channel)],
        running=Task.objects.filter(status=Task.Status.RUNNING, channel=channel)[:MOST_RUNNING].count(),
        offers=tuple(channel.channel_models.select_related("model").order_by("model__modality", "model__name")),
        calls=tuple(calls(channel).most_common()),
        automatic=tuple(automatic(channel, now)),
        history=tuple(_history(channel)),
    )


def calls(channel: Channel) -> Counter[str]:
    """Count the newest calls of the last hour's tasks by outcome, read by task id."""
    since = ids.task_id_floor(time.time() - HOUR_SECONDS)
    newest = Call.objects.filter(task_id__gte=since).order_by("-task_id")
    found = newest.values_list("channel_id", "state", "outcome__kind")[:MOST_CALLS]
    return Counter(_outcome(state, kind) for channel_id, state, kind in found if channel_id == channel.pk)


def _outcome(state: str, kind: object) -> str:
    words = {"intent": "about to be sent", "accepted": "running"}.get(state)
    return words or (kind if isinstance(kind, str) and kind else state).replace("_", " ")


def automatic(channel: Channel, now: datetime) -> Iterator[AutomaticAction]:
    """Yield the stored automatic actions on the channel and its credentials, the last of each kind."""
    health: ChannelHealth | None = getattr(channel, "health", None)
    if health and health.last_at:
        yield AutomaticAction(
            at=health.last_at, words=f"the channel's last fault: {health.last_kind.replace('_', ' ')}"
        )
    if health and health.unknown_total:
        yield AutomaticAction(at=None, words=f"{health.unknown_total} paid calls of unknown outcome so far")
    for row in channel.credentials.all():
        yield from _of_credential(row)
    for rest in health_words.of_channel(channel, now):
        words = f"{rest.what} rests: {rest.why}; {rest.evidence}"
        yield AutomaticAction(at=rest.since, words=words, until=rest.until, then="until one call tries it at")


def _of_credential(row: Credential) -> Iterator[AutomaticAction]:
    if row.disabled_at and row.probe_at:
        probes = f" Probes so far: {row.probes}." if row.probes else ""
        words = f"credential {row} disabled: {standing.reason(row)}{probes}"
        yield AutomaticAction(at=row.disabled_at, words=words, until=row.probe_at, then="probed again at")
    elif row.suspected_at and not row.disabled_at:
        words = health_words.suspected(row)
        yield AutomaticAction(at=row.suspected_at, words=words, until=row.probe_at, then="probed at")


def _history(channel: Channel) -> Iterator[LogEntry]:
    kind = ContentType.objects.get_for_model(Channel)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(channel.pk)).select_related("user")
    yield from entries.order_by("-action_time")[:MOST_LINES]


def last_test(channel: Channel, now: datetime) -> ShownTest | None:
    row = ChannelTest.objects.filter(channel=channel, number__gt=0).first()
    if row is None:
        return None
    answer = verdicts.answer(row)
    return ShownTest(
        row=row,
        verdict=verdicts.tell(row, now),
        cost=verdicts.cost(row.cost_micros),
        seconds=verdicts.seconds(row),
        body=_laid_out(row.request.get("body")),
        answer=_laid_out(answer) if answer else "",
    )


def _laid_out(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)
