"""Headline of the page Now: the service's state in one sentence with numbers, the worst case first. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from catalog.snapshot import Catalog
from desk.now.channel_rows import ChannelNow
from desk.now.live_tasks import LiveTasks, WaitingTasks
from desk.now.needs import ServiceHealth
from desk.now.strips import Sums
from pages import words

FEW = 5
"""Fewest tasks of the last hour for a meaningful success rate."""
POOR = 80
"""Success rate in percent below which the headline reports failures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """Headline. `tone` is good, warn, bad or empty. `target` names the rows behind it (`desk/now/views.py`). If `until`
    is set, its time follows `text`, and `end` follows the time."""

    tone: str
    text: str
    target: str = ""
    until: datetime | None = None
    end: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Data that the headline is made from. `paused_models` maps ids of paused models to names."""

    health: ServiceHealth
    live: LiveTasks
    hour: Sums
    channels: Sequence[ChannelNow]
    catalog: Catalog
    paused_models: Mapping[int, str]
    now: datetime


def compose(situation: Situation) -> Sentence:
    """Return the sentence of the first case that applies."""
    return next(sentence for case in CASES for sentence in case(situation))


def _off(s: Situation) -> Iterator[Sentence]:
    if s.health.is_off:
        yield Sentence(tone="bad", text="The Task API is switched off: every request is refused.", target="service")
    if s.health.is_paused:
        text = f"Submissions are paused: no new task is accepted, {words.counted(s.live.queued, 'task', 'wait')}."
        yield Sentence(tone="warn", text=text, target="service")


def _unattended(s: Situation) -> Iterator[Sentence]:
    if not s.health.workers and (s.live.queued or s.live.at_work):
        text = f"No worker runs: {words.counted(s.live.queued, 'task', 'wait')} and none is started."
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
    """Explain why these tasks are not started, and find the channel at fault."""
    routes = [route for route in map(s.catalog.route, group.routes) if route is not None]
    if not routes:
        return "they have no route left", None
    if (name := s.paused_models.get(routes[0].model_id)) is not None:
        return f"model {name} is paused by an operator", None
    by_id = {channel.id: channel for channel in s.channels}
    channels = [by_id[route.channel.id] for route in routes if route.channel.id in by_id]
    held = [channel for channel in channels if channel.obstacle()]
    if held and len(held) == len(channels):
        first = min(held, key=lambda channel: (channel.until is None, channel.until or s.now))
        return first.obstacle(), first
    if s.health.max_running is not None and s.live.at_work >= s.health.max_running:
        return f"the service runs {s.live.at_work} tasks, its limit", None
    return "their keys or accounts are at their limits, or all workers are busy", None


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
    if s.health.unknown:
        calls = words.counted(s.health.unknown, "paid call")
        verb = "has" if s.health.unknown == 1 else "have"
        text = f"{calls} {verb} an unknown outcome: check with the provider, and settle them."
        yield Sentence(tone="warn", text=text, target="unknown")


def _empty(s: Situation) -> Iterator[Sentence]:
    if not s.health.has_tasks:
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
"""Cases, the worst first; the last one always applies."""
