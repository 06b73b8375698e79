"""Adds what operators did at the end of the history: refunds, budgets, and a comparison with a provider's bill.

Uses the domain's functions, as the pages do.
"""

import csv
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from io import StringIO

from billing import budgets, refunds
from catalog.models import Channel
from desk.bills import imports
from desk.bills.columns import BillColumns
from tasks.figures.folding import Folding
from tasks.models import Call, Task
from tools.seed.customers import Payer

DOLLAR = 1_000_000
BY = "operator"
REASONS = ("The picture shows six fingers", "Delivered after the customer's own deadline")
BUDGETS = {"web": (60 * DOLLAR, 900 * DOLLAR), "trailers": (25 * DOLLAR, None)}
"""Budgets by the key's name: for a day and for a month."""
ACCOUNT_BUDGET = 2_500 * DOLLAR
BILLED, BILLED_DAYS = "cinema", 7
COLUMNS = BillColumns(upstream_id="job", amount="cost", time="created", model="model")
DEARER, LEFT_OUT = 0.04, 0.03
"""Shares of jobs billed higher than expected, and not billed at all: at least one job each."""
FOREIGN = 3


def refund() -> None:
    """Refunds some of the newest charges in full."""
    newest = Task.objects.filter(status="succeeded", actual_micros__gt=0).order_by("-pk")
    for task, reason in zip(newest[3 : 3 + len(REASONS)], REASONS, strict=False):
        refunds.refund(task.pk, task.actual_micros or 0, reason=reason, by=BY)


def limit(payers: Sequence[Payer]) -> None:
    """Sets budgets for some keys and for the first account."""
    budgets.set_limits(payers[0].account, day_micros=None, month_micros=ACCOUNT_BUDGET)
    for payer in payers:
        for caller in payer.callers:
            if found := BUDGETS.get(caller.habit.name):
                day, month = found
                budgets.set_limits(caller.key, day_micros=day, month_micros=month)


def compare_bill(rng: random.Random, until: datetime) -> None:
    """Imports a film provider's bill for the last days, most of it as expected."""
    channel = Channel.objects.get(name=BILLED)
    since = until - timedelta(days=BILLED_DAYS)
    found = Call.objects.filter(channel=channel, state__in=("done", "lost"), created_at__gte=since)
    calls = list(found.filter(cost_micros__gt=0, handle__isnull=False).order_by("pk"))
    if not calls:
        return
    file = StringIO()
    writer = csv.writer(file)
    writer.writerow([COLUMNS.upstream_id, COLUMNS.time, COLUMNS.model, COLUMNS.amount])
    left_out = calls[len(calls) // 2]
    for call in calls:
        if call is not left_out and rng.random() >= LEFT_OUT:
            dearer = 1.25 if rng.random() < DEARER else 1
            writer.writerow(_line((call.handle or {})["id"], call, (call.cost_micros or 0) * dearer))
    for _ in range(FOREIGN):
        call = rng.choice(calls)
        writer.writerow(_line(f"cgt-{rng.getrandbits(48):012x}", call, call.cost_micros or 0))
    bill, _ = imports.receive(channel, f"{BILLED}-{until:%Y-%m-%d}.csv", file.getvalue().encode(), by=BY)
    imports.compare(bill, COLUMNS, None)


def _line(upstream_id: str, call: Call, micros: float) -> list[str]:
    return [
        upstream_id,
        f"{call.created_at:%Y-%m-%dT%H:%M:%SZ}",
        call.target["upstream_model"],
        f"{micros / DOLLAR:.6f}",
    ]


def fold_figures() -> None:
    """Sums up the figures as the janitor does, so that pages need not."""
    folding = Folding()
    while folding.step():
        pass
