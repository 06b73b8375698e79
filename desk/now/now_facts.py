"""Data of the page Now, read by eight statements that do not count ended tasks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from catalog import snapshot
from catalog.entries import ModelEntry
from catalog.snapshot import Catalog
from desk.now import channel_rows, live_tasks, needs, sentence, strips
from desk.now.channel_rows import ChannelNow
from desk.now.live_tasks import LiveTasks
from desk.now.needs import MOST, ServiceHealth
from desk.now.sentence import Sentence, Situation
from desk.now.strips import ModelStrip, Sums
from pages import words
from tasks.figures import reading
from tasks.figures.reading import Figure

LONG_FACTOR, LONG_AT_LEAST = 3, 30.0
"""A task waits longer than usual beyond this multiple of its model's mean wait in a day, and at least these seconds."""
UNSEALED = timedelta(hours=26)
"""Longest normal time without a seal: the janitor seals once a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Item that needs an operator; `target` names its rows (`desk/now/views.py`)."""

    text: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NowFacts:
    """Data of the page. `hour` and `today` (UTC) sum up tasks that ended then; `max_running` is the limit on running
    tasks, None without one."""

    now: datetime
    sentence: Sentence
    health: ServiceHealth
    live: LiveTasks
    max_running: int | None
    hour: Sums
    today: Sums
    strips: tuple[ModelStrip, ...]
    further_models: int
    channels: tuple[ChannelNow, ...]
    needs: tuple[Need, ...]
    example: ModelEntry | None


def read(now: datetime) -> NowFacts:
    catalog = snapshot.latest()
    # In whole seconds: SQLite keeps milliseconds, and a span must not seem to begin before its start.
    an_hour_ago = (now - timedelta(hours=1)).replace(microsecond=0)
    figures = reading.spans(strips.first_hour(now), seconds=3_600, split=an_hour_ago)
    live = live_tasks.read(_usual(catalog, figures))
    channels = channel_rows.read(live.running, now)
    health = needs.read(now)
    hour = strips.summed(strips.since(figures, an_hour_ago))
    paused = {model.id: model.name for model in catalog.models() if model.id in health.paused_models}
    named = {(model.name, model.modality): model.id for model in catalog.models()}
    shown, further = strips.strips(figures, now, named)
    situation = Situation(
        health=health, live=live, hour=hour, channels=channels, catalog=catalog, paused_models=paused, now=now
    )
    return NowFacts(
        now=now,
        sentence=sentence.compose(situation),
        health=health,
        live=live,
        max_running=_max_running(health, channels),
        hour=hour,
        today=strips.summed(strips.since(figures, now.replace(hour=0, minute=0, second=0, microsecond=0))),
        strips=shown,
        further_models=further,
        channels=channels,
        needs=tuple(_needs(health, channels, catalog, now)),
        example=next((model for model in catalog.models() if model.enabled and model.modality == "image"), None),
    )


def _usual(catalog: Catalog, figures: list[Figure]) -> Mapping[int, float]:
    """Compute the wait in seconds that counts as long, by model id."""
    means = strips.usual_waits(figures)
    found = ((model.id, means.get((model.name, model.modality))) for model in catalog.models())
    return {model: max(LONG_AT_LEAST, LONG_FACTOR * mean) for model, mean in found if mean is not None}


def _max_running(health: ServiceHealth, channels: tuple[ChannelNow, ...]) -> int | None:
    limits = [channel.limit for channel in channels]
    together = None if None in limits or not limits else sum(limit for limit in limits if limit is not None)
    known = [limit for limit in (health.max_running, together) if limit is not None]
    return min(known, default=None)


def _needs(health: ServiceHealth, channels: tuple[ChannelNow, ...], catalog: Catalog, now: datetime) -> Iterator[Need]:
    if health.unknown:
        many = f"{MOST} or more paid calls" if health.unknown == MOST else words.counted(health.unknown, "paid call")
        yield Need(text=f"{many} of unknown outcome to settle", target="unknown")
    if health.exhausted:
        text = f"{words.counted(health.exhausted, 'callback')} of the last three days not delivered"
        yield Need(text=text, target="exhausted")
    if disabled := sum(channel.disabled_credentials for channel in channels):
        yield Need(text=f"{words.counted(disabled, 'credential')} disabled", target="credentials")
    for channel in channels:
        if not channel.credentials:
            yield Need(text=f"channel {channel.name} has no credential", target=f"channel {channel.id}")
    for model in catalog.models():
        if model.enabled and not catalog.routes(model.default_plan_id, model.id):
            plan = catalog.plan(model.default_plan_id).name
            yield Need(text=f"model {model.name} has no enabled route in its plan {plan}", target=f"model {model.id}")
    if health.lost_calls:
        yield Need(
            text=f"{words.counted(health.lost_calls, 'relayed call')} of the last day not paid by any customer",
            target="lost",
        )
    yield from _of_the_service(health, now)


def _of_the_service(health: ServiceHealth, now: datetime) -> Iterator[Need]:
    if health.has_tasks and not health.janitors:
        yield Need(text="no worker runs the janitor lane: no clean-up, figures or seals", target="workers")
    if health.oldest_unsealed_at is not None and now - health.oldest_unsealed_at > UNSEALED:
        yield Need(
            text="the ledger has not been sealed for more than a day: run manage.py check_ledger", target="ledger"
        )
