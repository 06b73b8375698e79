"""The history of `make run SEED=1`: plausible, the same for the same number, and with books that are right."""

from datetime import UTC, datetime

import pytest
from django.db import transaction

from accounts.models import Account, ApiKey
from billing.models import LedgerEntry, RelayedCall
from callbacks.models import Delivery
from catalog import snapshot
from catalog.health import states
from catalog.models import Credential
from desk.models import BillLine
from storage import blobs
from tasks import ledger_check, route_sets
from tasks.models import Asset, Call, Task
from tasks.unknown import open_calls
from tools.seed import command
from tools.seed.command import NotEmpty, Size
from tools.seed.fates import FATES

pytestmark = pytest.mark.django_db
UNTIL = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
SMALL = Size(tasks=180, pictures=2)


def told() -> list[object]:
    """What two histories have in common: ids of rows, secrets and names of files are drawn anew."""
    tasks = Task.objects.order_by("id").values_list("id", "status", "attempt", "created_at", "finished_at")
    entries = (
        LedgerEntry.objects.exclude(kind="refund")
        .order_by("id")
        .values_list("reference", "kind", "amount_micros", "at")
    )
    deliveries = Delivery.objects.order_by("id").values_list("id", "status", "attempts", "next_attempt_at")
    prompts = Task.objects.order_by("id").values_list("payload__params__prompt", flat=True)
    calls = Call.objects.order_by("id").values_list("task_id", "state", "cost_micros", "mismatch", "ended_at")
    return [list(rows) for rows in (tasks, entries, deliveries, prompts, calls)]


def test_the_history_has_every_outcome_and_books_that_are_right():
    command.fill(1, SMALL, until=UNTIL)
    assert set(Task.objects.values_list("status", flat=True)) == set(Task.Status.values)
    assert {fate.failure.type for fate in FATES if fate.failure} <= set(
        Task.objects.values_list("error__type", flat=True)
    )
    assert set(Delivery.objects.values_list("status", flat=True)) == set(Delivery.Status.values)
    assert set(Call.objects.values_list("state", flat=True)) >= {"done", "refused", "unknown", "lost"}
    assert set(Call.objects.values_list("outcome__resolved", flat=True)) >= {None, "lost", "retried", "attached"}
    assert open_calls.open_calls().exists()
    assert Call.objects.exclude(mismatch="").exists()
    assert set(RelayedCall.objects.values_list("state", flat=True)) == {"settled", "released"}
    assert LedgerEntry.objects.filter(kind="credit", book="customer", amount_micros__lt=0).exists()
    assert LedgerEntry.objects.filter(kind="refund").exists()
    assert set(BillLine.objects.values_list("verdict", flat=True)) >= {"matched", "provider_only", "ours_only"}
    assert ApiKey.objects.filter(budget_day_micros__isnull=False).exists()
    assert Credential.objects.filter(disabled_at__isnull=False).exists()
    assert states.unusable()[1]
    assert ledger_check.check().breaches == ()


def test_no_account_was_ever_without_money_for_what_it_did():
    command.fill(1, SMALL)
    for account in Account.objects.all():
        balance, lowest = 0, 0
        for amount in (
            LedgerEntry.objects.filter(account=account).order_by("id").values_list("amount_micros", flat=True)
        ):
            balance += amount
            lowest = min(lowest, balance)
        assert (lowest, balance) == (0, account.balance_micros)


def test_the_newest_results_can_be_looked_at():
    command.fill(1, SMALL)
    kept = list(Asset.objects.filter(deleted_at=None))
    assert {asset.kind for asset in kept} == {"image", "video"}
    for asset in kept:
        with blobs.open(asset.storage_key) as file:
            assert len(file.read()) == asset.size_bytes


def test_the_same_number_makes_the_same_history():
    found = []
    for seed in (1, 1, 2):
        with transaction.atomic():
            command.fill(seed, Size(tasks=40, pictures=0, live=False), until=UNTIL)
            found.append(told())
            transaction.set_rollback(True)
        route_sets.forget()
        snapshot.forget()
    assert found[0] == found[1] != found[2]


def test_an_installation_with_tasks_is_left_alone():
    command.fill(1, Size(tasks=5, pictures=0))
    before = Task.objects.count()
    with pytest.raises(NotEmpty):
        command.fill(1, SMALL)
    assert Task.objects.count() == before
