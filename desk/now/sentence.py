"""The answer on top: how the service does, in one sentence with its numbers; the worst first, calm when all is well.
Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from catalog.snapshot import Catalog
from desk.now.channel_rows import ChannelNow
from desk.now.live_tasks import LiveTasks, WaitingTasks
from desk.now.needs import ServiceStanding
from desk.now.strips import Sums
from pages import words

FEW = 5
"""So many must have ended within the hour before a rate means anything."""
POOR = 80
"""Percent of success below which the sentence is about failures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """`tone` is good, warn, bad or empty. `target` names the rows behind it (`desk/now/views.py`, targets). Where there
    is one, `until` is a moment that `end` goes on after."""

    tone: str
    text: str
    target: str = ""
    until: datetime | None = None
    end: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the sentence is made of. `paused_models` are those that an operator paused, by id."""

    standing: ServiceStanding
    live: LiveTasks
    hour: Sums
    channels: Sequence[ChannelNow]
    catalog: Catalog
    paused_models: Mapping[int, str]
    now: datetime


def of(situation: Situation) -> Sentence:
    return next(sentence for case in CASES for sentence in case(situation))


def _off(s: Situation) -> Iterator[Sentence]:
    if s.standing.is_off:
        yield Sentence(tone="bad", text="The Task API is switched off: every request is refused.", target="service")
    if s.standing.is_paused:
        text = f"Submissions are paused: nothing new is taken, {words.counted(s.live.queued, 'task', 'wait')}."
        yield Sentence(tone="warn", text=text, target="service")


def _unattended(s: Situation) -> Iterator[Sentence]:
    if not s.standing.workers and (s.live.queued or s.live.at_work):
        text = f"No worker runs: {words.counted(s.live.queued, 'task', 'wait')} and nothing is started."
        yield Sentence(tone="bad", text=f"{text} Start one with manage.py run_worker.", target="workers")


def _waiting(s: Situation) -> Iterator[Sentence]:
    if not s.live.overdue:
        return
    worst = max(s.live.waiting, key=lambda group: (group.overdue, group.oldest_at))
    reason, channel = why(worst, s)
    text = f"{words.counted(s.live.overdue, 'task', 'wait')} longer than usual: {reason}"
    until = channel.until if channel else None
    if until is None:
        yield Sentence(tone="warn", text=f"{text}.", target="queued")
    else:
        left = words.span(max(1, round((until - s.now).total_seconds())))
        yield Sentence(tone="warn", text=f"{text} until", target="queued", until=until, end=f", for {left} more.")


def why(group: WaitingTasks, s: Situation) -> tuple[str, ChannelNow | None]:
    """Why these tasks are not started, and the channel that it is because of."""
    routes = [route for route in map(s.catalog.route, group.routes) if route is not None]
    if not routes:
        return "no route is left for them", None
    if (name := s.paused_models.get(routes[0].model_id)) is not None:
        return f"model {name} is paused by an operator", None
    by_id = {channel.id: channel for channel in s.channels}
    channels = [by_id[route.channel.id] for route in routes if route.channel.id in by_id]
    held = [channel for channel in channels if channel.obstacle()]
    if held and len(held) == len(channels):
        first = min(held, key=lambda channel: (channel.until is None, channel.until or s.now))
        return first.obstacle(), first
    if s.standing.max_running is not None and s.live.at_work >= s.standing.max_running:
        return f"the service runs {s.live.at_work} tasks, as many as it may", None
    return "their keys or accounts run as many as they may, or the workers have no seat free", None


def _failing(s: Situation) -> Iterator[Sentence]:
    hour = s.hour
    if hour.judged >= FEW and hour.rate is not None and hour.rate < POOR:
        text = (
            f"{hour.judged - hour.succeeded} of {words.counted(hour.judged, 'task')} did not succeed in the last hour."
        )
        yield Sentence(tone="bad", text=text, target="failed")


def _disabled(s: Situation) -> Iterator[Sentence]:
    for channel in s.channels:
        if channel.health == "disabled":
            text = f"{channel.obstacle()[0].upper()}{channel.obstacle()[1:]}."
            yield Sentence(tone="bad", text=text, target="channels")


def _waits_for_you(s: Situation) -> Iterator[Sentence]:
    if s.standing.unknown:
        calls = words.counted(s.standing.unknown, "paid call")
        verb = "has" if s.standing.unknown == 1 else "have"
        text = f"{calls} {verb} an outcome that nobody knows: look at the provider, and settle them."
        yield Sentence(tone="warn", text=text, target="unknown")


def _empty(s: Situation) -> Iterator[Sentence]:
    if not s.standing.has_tasks:
        yield Sentence(tone="", text="No task has been submitted yet.")


def _calm(s: Situation) -> Iterator[Sentence]:
    text = f"All is well: {words.counted(s.live.at_work, 'task', 'run')}"
    if s.live.oldest_at is not None:
        text += f", {s.live.queued} wait (the oldest for {words.span((s.now - s.live.oldest_at).total_seconds())})"
    else:
        text += ", none waits"
    if s.hour.rate is not None:
        text += f", and {s.hour.rate} % of {s.hour.judged} succeeded in the last hour"
    yield Sentence(tone="good", text=f"{text}.", target="tasks")


CASES: tuple[Callable[[Situation], Iterator[Sentence]], ...] = (
    _off,
    _unattended,
    _waiting,
    _failing,
    _disabled,
    _waits_for_you,
    _empty,
    _calm,
)
"""The worst first; the last one always has a word."""
