"""Fills an installation without tasks with a month of plausible history, and prints what it made as JSON.

It loads catalog.example.yaml into an empty catalog, adds its own tools/seed/catalog.yaml, opens two accounts with keys,
and writes ended tasks with all their rows; at the end some tasks are live. The same seed number gives the same history.
Nothing is bought.
"""

import argparse
import json
import os
import random
import secrets
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from billing import seals
from billing.models import RelayedCall, WebProcess
from catalog.file.load import load
from catalog.models import Credential
from tasks.models import Task, Worker
from tools import example_catalog
from tools.seed import afterwards, books, customers, deliveries, final_state, pictures, relayed, rhythm, wishes
from tools.seed.customers import Payer, SeedCaller
from tools.seed.fates import FATES, UNKNOWN, Fate, deal, fits
from tools.seed.history import Historian, Told
from tools.seed.rows import HistoryRows
from tools.seed.wishes import Order, OrderBook

CATALOG = Path(__file__).with_name("catalog.yaml")
WORKERS = 2
SHOWN = "web"
"""Key with which pages are viewed: it owns the strange prompts and the live tasks."""
LOOKED_AT = timedelta(days=3)
"""Age after which a lost answer has been settled."""
HAS_TASKS = 3
"""Exit status if the installation is left unchanged."""


class NotEmpty(Exception):
    """The installation already has tasks or calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Extent of the history: `pictures` is how many of the newest results have real files, `live` whether some tasks
    are live."""

    days: float = 30.0
    tasks: int = 4_000
    pictures: int = 30
    live: bool = True


def fill(
    seed: int, size: Size, *, until: datetime | None = None, sandbox_url: str | None = None, anyway: bool = False
) -> dict[str, Any]:
    """Writes the history that ends at `until`, by default now. Raises NotEmpty unless forced."""
    if not anyway and (Task.objects.exists() or RelayedCall.objects.exists()):
        raise NotEmpty("There are already tasks: the history is for an installation without any.")
    rng, until = random.Random(seed), until or timezone.now()
    since = until - timedelta(days=size.days)
    example_catalog.load_into_empty(sandbox_url)
    given = {**os.environ, **({"SANDBOX_URL": sandbox_url} if sandbox_url else {})}
    load(CATALOG.read_text(encoding="utf-8"), environment=given)
    with transaction.atomic():
        payers = customers.open_accounts(since, until)
    workers, process = _processes(since, until)
    rows = HistoryRows()
    historian = Historian(
        rng=rng, rows=rows, until=until, workers=[worker.pk for worker in workers], credentials=_credentials()
    )
    told = _tell(historian, payers, since, size.tasks)
    deliveries.owe(rng, rows, rows.tasks, until)
    relayed.tell(rng, rows, payers, process.pk, since, until, size.tasks)
    pictures.add(rng, rows, told, until, real=size.pictures)
    with transaction.atomic():
        books.book(rng, payers, rows, since, until)
        rows.write()
    final_state.channels()
    afterwards.refund()
    afterwards.limit(payers)
    afterwards.compare_bill(rng, until)
    afterwards.fold_figures()
    seals.seal(wait_seconds=0)
    if size.live:
        final_state.live_tasks(_shown(payers), workers[0])
    return _report(payers)


def _credentials() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pk, channel_id in Credential.objects.order_by("pk").values_list("pk", "channel_id"):
        found.setdefault(channel_id, []).append(pk)
    return found


def _processes(since: datetime, until: datetime) -> tuple[list[Worker], WebProcess]:
    """Creates the history's processes, which have stopped."""
    name = secrets.token_hex(4)
    times = {"started_at": since, "heartbeat_at": until, "stopped_at": until}
    workers = [
        Worker.objects.create(id=f"seed-{name}-{n}", host="worker", pid=n + 1, lanes="", **times)
        for n in range(WORKERS)
    ]
    return workers, WebProcess.objects.create(id=f"seed-{name}", host="web", pid=1, **times)


def _shown(payers: Sequence[Payer]) -> SeedCaller:
    return next(caller for payer in payers for caller in payer.callers if caller.habit.name == SHOWN)


def _tell(historian: Historian, payers: Sequence[Payer], since: datetime, count: int) -> list[Told]:
    rng, until = historian.rng, historian.until
    callers, shown = [caller for payer in payers for caller in payer.callers], _shown(payers)
    orders, told, owed = OrderBook(), [], list(FATES)
    moments = rhythm.moments(rng, since, until, count)
    strange, hurry = wishes.strange_places(count), max(0.25, 4 * len(FATES) / max(1, count))
    for number, at in enumerate(moments):
        order = orders.pick(rng, customers.submitter(rng, [shown] if number in strange else callers, at))
        fate = _fate(rng, owed, order, hurry, is_old=until - at > LOOKED_AT)
        words = strange.get(number) or wishes.prompt(rng, order.wish.modality)
        task = historian.tell(order, fate, at, words)
        told.append(task)
        if fate.resolved:
            told += historian.settle(task, fate.resolved, words)
    return told


def _fate(rng: random.Random, owed: list[Fate], order: Order, hurry: float, *, is_old: bool) -> Fate:
    """Chooses a fate: with probability `hurry` an owed one that fits, otherwise one dealt at random. Old tasks have no
    unknown outcomes."""
    modality, ways = order.wish.modality, len(order.routes)
    fitting = [fate for fate in owed if fits(fate, modality, ways) and not (is_old and fate.name == UNKNOWN)]
    if fitting and rng.random() < hurry:
        owed.remove(fitting[0])
        return fitting[0]
    fate = deal(rng, modality, ways)
    if is_old and fate.name == UNKNOWN:
        return rng.choice([each for each in FATES if each.resolved and fits(each, modality, ways)])
    return fate


def _report(payers: Sequence[Payer]) -> dict[str, Any]:
    return {
        "tasks": dict(Counter(Task.objects.values_list("status", flat=True))),
        "relayed_calls": RelayedCall.objects.count(),
        "keys": {
            f"{payer.account.name}/{caller.habit.name}": caller.secret for payer in payers for caller in payer.callers
        },
    }


def main(arguments: Sequence[str]) -> int:
    size = Size()
    parser = argparse.ArgumentParser(prog="python -m tools.seed", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the random seed: equal seeds make equal histories (1)")
    parser.add_argument("--days", type=float, default=size.days, help=f"length of the history ({size.days:g})")
    parser.add_argument("--tasks", type=int, default=size.tasks, help=f"how many ended tasks ({size.tasks})")
    parser.add_argument(
        "--pictures", type=int, default=size.pictures, help="how many of the newest results have real files"
    )
    parser.add_argument("--no-live", action="store_true", help="no queued and running tasks at its end")
    parser.add_argument("--sandbox-url", help="where the catalog's channels lead; SANDBOX_URL without it")
    parser.add_argument("--anyway", action="store_true", help="also if there are already tasks")
    given = parser.parse_args(arguments)
    wanted = Size(days=given.days, tasks=given.tasks, pictures=given.pictures, live=not given.no_live)
    try:
        print(json.dumps(fill(given.seed, wanted, sandbox_url=given.sandbox_url, anyway=given.anyway)))
    except NotEmpty as error:
        print(error, file=sys.stderr)
        return HAS_TASKS
    return 0
