"""What `/metrics` says: read from the database at each scrape, so that it holds for all processes together."""

from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from catalog import pausing
from catalog.health import states
from common import modalities, sql
from common.money import MICROS
from tasks import leases, swallowed_counts
from tasks.models import ENDED
from tasks.shown import eta
from tasks_api import running_totals
from tasks_api.running_totals import merged

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
RECENT_SECONDS = 3_600
MOST_DURATIONS = 10_000
QUANTILES = (0.5, 0.9)


def exposition() -> bytes:
    """The text of one scrape."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Darkroom())
    return generate_latest(registry)


class Darkroom(Collector):
    """The service as its database sees it."""

    def collect(self) -> Iterator[Metric]:
        channels = dict(sql.fetch("SELECT id, name FROM catalog_channel"))
        yield from queue()
        yield from running(channels)
        yield channel_states(channels)
        yield from history(channels)
        yield durations()
        yield from relayed(channels)
        yield from money()
        yield gauge("deliveries_pending", "Callbacks not yet delivered.", sql.value(PENDING))
        yield gauge("workers_alive", "Workers whose heartbeat is within their lease.", leases.alive())
        yield swallowed()


def queue() -> Iterator[Metric]:
    depth = GaugeMetricFamily("darkroom_queued_tasks", "Tasks waiting for a worker.", labels=["modality"])
    oldest = GaugeMetricFamily("darkroom_queued_oldest_seconds", "Age of the oldest of them.", labels=["modality"])
    rows = sql.fetch(QUEUED.format(age=sql.seconds_between("min(created_at)", sql.now())))
    found = {modality: (count, float(age)) for modality, count, age in rows}
    for modality in modalities.NAMES:
        count, age = found.get(modality, (0, 0.0))
        depth.add_metric([modality], count)
        oldest.add_metric([modality], max(age, 0.0))
    yield depth
    yield oldest


def running(channels: dict[int, str]) -> Iterator[Metric]:
    family = GaugeMetricFamily("darkroom_running_tasks", "Tasks at work.", labels=["channel"])
    for channel, count in sql.fetch(RUNNING):
        family.add_metric([channels.get(channel, "")], count)
    yield family


def channel_states(channels: dict[int, str]) -> Metric:
    """1 for the state that each channel is in, 0 for the others."""
    family = GaugeMetricFamily("darkroom_channel_state", "How channels fare.", labels=["channel", "state"])
    disabled, resting = states.unusable()
    paused, _ = pausing.paused()
    for channel, name in sorted(channels.items()):
        states_now = {"disabled": disabled, "paused": paused, "resting": resting}
        now = next((state for state, found in states_now.items() if channel in found), "ok")
        for state in ("ok", "resting", "paused", "disabled"):
            family.add_metric([name, state], int(state == now))
    return family


def history(channels: dict[int, str]) -> Iterator[Metric]:
    ended = CounterMetricFamily("darkroom_tasks_ended", "Tasks that ended, by how.", labels=["status"])
    claims = CounterMetricFamily("darkroom_claims", "Times a worker took up a task.")
    told = running_totals.transitions.totals()
    claims.add_metric([], told.get(("running",), 0))
    for status in ENDED:
        ended.add_metric([status], told.get((status,), 0))
    yield claims
    yield ended
    # A gauge by form: a call moves from one state to the next.
    paid = GaugeMetricFamily("darkroom_provider_calls", "Paid calls by state.", labels=["channel", "state"])
    counts = running_totals.calls.totals()
    counted = [(channels.get(channel, ""), state, count) for (channel, state, _), count in counts.items()]
    for (name, state), count in merged({}, counted).items():  # all channels that were deleted share one name
        paid.add_metric([name, state], count)
    yield paid
    yield mismatches(channels, counts)


def mismatches(channels: dict[int, str], counts: running_totals.Sums) -> Metric:
    meaning = "Paid calls of which the provider reports something else than was billed."
    flagged = [(channel, count) for (channel, _, differs), count in counts.items() if differs]
    return by_channel("billing_mismatches", meaning, channels, flagged)


def durations() -> Metric:
    """Medians and ninth deciles of the tasks that succeeded within the last hour."""
    family = GaugeMetricFamily(
        "darkroom_task_seconds", "Seconds spent, over the last hour.", labels=["modality", "phase", "quantile"]
    )
    statement = DURATIONS.format(
        queued=sql.seconds_between("t.created_at", "t.started_at"),
        running=sql.seconds_between("t.started_at", "t.finished_at"),
        since=sql.later("-1 * %s"),
    )
    spent: dict[tuple[str, str], list[float]] = {}
    for modality, queued, worked in sql.fetch(statement, [RECENT_SECONDS, MOST_DURATIONS]):
        spent.setdefault((modality, "queued"), []).append(float(queued))
        spent.setdefault((modality, "running"), []).append(float(worked))
    for (modality, phase), seconds in sorted(spent.items()):
        for quantile in QUANTILES:
            family.add_metric([modality, phase, str(quantile)], eta.quantile(seconds, quantile))
    return family


def relayed(channels: dict[int, str]) -> Iterator[Metric]:
    """Calls of general keys: those at work, those charged, and how many of them an operator may want to look at."""
    ((now_open, losses, estimated),) = sql.fetch(RELAYED)
    yield gauge("relayed_calls_open", "Relayed calls at work.", now_open)
    for name, meaning, count in (
        ("settled", "Relayed calls that were charged.", sum(running_totals.relayed.totals().values())),
        ("lost", "Relayed calls that the provider may bill and nobody paid.", losses),
        ("estimated", "Relayed calls that were charged by an estimate.", estimated),
    ):
        family = CounterMetricFamily(f"darkroom_relayed_calls_{name}", meaning)
        family.add_metric([], count)
        yield family
    meaning = "Relayed calls whose usage would have cost more than its hold."
    yield by_channel("relay_overruns", meaning, channels, sql.fetch(OVERRUNS))


def by_channel(name: str, meaning: str, channels: dict[int, str], counted: Iterable[tuple[Any, ...]]) -> Metric:
    """A counter of what was counted by channel id. Of each channel, also where there is none: a series that begins with
    its first one would hide that."""
    family = CounterMetricFamily(f"darkroom_{name}", meaning, labels=["channel"])
    named = [(channels.get(channel, ""), count) for channel, count in counted]
    for (channel_name,), count in merged({(found,): 0 for found in channels.values()}, named).items():
        family.add_metric([channel_name], count)
    return family


def money() -> Iterator[Metric]:
    held = int(sql.value(HELD) or 0) / MICROS
    yield gauge("held_usd", "Reserved for tasks and relayed calls that have not ended.", held)
    revenue = CounterMetricFamily("darkroom_settled_usd", "Charged for tasks that succeeded and for relayed calls.")
    revenue.add_metric([], sum(running_totals.charges.totals().values()) / MICROS)
    yield revenue


def swallowed() -> Metric:
    """Faults that no caller heard of, which the log has with their tracebacks."""
    family = CounterMetricFamily("darkroom_swallowed_errors", "Errors that reached no caller.", labels=["where"])
    for place, count in sorted(swallowed_counts.totals().items()):
        family.add_metric([place], count)
    return family


def gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"darkroom_{name}", meaning, value=value)


QUEUED = "SELECT modality, count(*), {age} FROM tasks_task WHERE status = 'queued' GROUP BY modality"
RUNNING = "SELECT channel_id, count(*) FROM tasks_task WHERE status = 'running' GROUP BY channel_id"
# By way of the models, whose tasks an index holds in the order of their ends.
DURATIONS = """
SELECT t.modality, {queued}, {running}
FROM catalog_mediamodel m JOIN tasks_task t ON t.media_model_id = m.id
WHERE t.status = 'succeeded' AND t.finished_at > {since} AND t.started_at IS NOT NULL
LIMIT %s
"""
# Each by a partial index of its own: the calls that have ended well are not read.
RELAYED = """
SELECT (SELECT count(*) FROM billing_relayedcall WHERE state = 'open'),
    (SELECT count(*) FROM billing_relayedcall WHERE is_loss),
    (SELECT count(*) FROM billing_relayedcall WHERE is_estimated)
"""
OVERRUNS = "SELECT channel_id, count(*) FROM billing_relayedcall WHERE overrun_micros > 0 GROUP BY channel_id"
HELD = "SELECT sum(held_micros) FROM accounts_account"
# In two parts, each of which has an index of its own.
PENDING = """
SELECT (SELECT count(*) FROM callbacks_delivery WHERE status = 'pending' AND claimed_at IS NULL)
    + (SELECT count(*) FROM callbacks_delivery WHERE status = 'pending' AND claimed_at IS NOT NULL)
"""
