"""The proof of the books: silent when they are right, and it finds every kind of breach."""

import io
import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from billing import ledger
from billing.ledger import Reservation
from billing.models import BudgetSum, Hold, LedgerEntry
from callbacks.models import Delivery
from common import ids, sql
from tasks import ledger_check, lifecycle
from tasks.models import ENDED, LIVE, Task, TaskEvent
from tests.billing import budget_steps
from tests.rows import make_account, make_key
from tests.tasks import steps, test_ledger_check_calls

HOOK = "https://hooks.example.com/"


@pytest.fixture
def books(key, image_model, worker) -> dict[str, str]:
    """A task in every state, by status; all with a callback."""
    rich = make_key(key.account, "rich")
    made = {
        status: steps.start(rich, worker, callback_url=HOOK) for status in ("succeeded", "failed", "timeout", "running")
    }
    for status, task in made.items():
        if status != "running":
            steps.end(task, status)
    canceled = steps.submitted(rich, callback_url=HOOK)
    lifecycle.end([steps.cancellation_of(canceled)])
    queued = steps.submitted(rich, callback_url=HOOK)
    return {status: task.id for status, task in made.items()} | {"canceled": canceled, "queued": queued}


def broken() -> set[tuple[str, str]]:
    return {(breach.rule, breach.subject) for breach in ledger_check.check().breaches}


def leg(
    reference: str, amount: int, *, book: str = "revenue", kind: str = "charge", account: Account | None = None
) -> None:
    LedgerEntry.objects.create(reference=reference, kind=kind, book=book, amount_micros=amount, account=account)


def charge(reference: str, account: Account, amount: int) -> None:
    """A booking that is balanced in itself."""
    leg(reference, -amount, book="customer", account=account)
    leg(reference, amount)
    Account.objects.filter(pk=account.pk).update(balance_micros=F("balance_micros") - amount)


def test_right_books_have_no_breach(books):
    report = ledger_check.check()
    assert (report.breaches, report.tasks, report.entries, report.open_holds) == ((), 6, 4, 2)


def test_empty_books_are_right(db):
    assert ledger_check.check().breaches == ()


def test_a_booking_that_does_not_sum_to_zero_is_found(books):
    leg("wire-1", 5, kind="credit", book="funding")
    assert broken() == {("the entries of a booking sum to zero", "wire-1 credit")}


def test_a_wrong_balance_is_found(books, account):
    Account.objects.update(balance_micros=F("balance_micros") + 1)
    assert broken() == {("balance = sum of the account's entries", account.name)}


def test_a_balance_without_any_entry_is_found(db):
    Account.objects.create(name="nothing booked", balance_micros=1)
    assert broken() == {("balance = sum of the account's entries", "nothing booked")}


def test_a_wrong_held_amount_is_found(books, account):
    Account.objects.update(held_micros=F("held_micros") + 1)
    assert broken() == {("held = sum of the account's open holds", account.name)}


def test_a_task_without_a_hold_is_found(books):
    Hold.objects.filter(reference=books["failed"]).delete()
    assert broken() == {("every task has one hold of its estimate", books["failed"])}


def test_a_hold_of_another_amount_is_found(books):
    Hold.objects.filter(reference=books["failed"]).update(amount_micros=1)
    assert broken() == {("every task has one hold of its estimate", books["failed"])}


def test_a_hold_of_another_account_is_found(books, other_account):
    Hold.objects.filter(reference=books["failed"]).update(account=other_account)
    assert broken() == {("every task has one hold of its estimate", books["failed"])}


def test_a_hold_of_another_key_is_found(books, other_key):
    Hold.objects.filter(reference=books["failed"]).update(key_id=other_key.id)
    assert broken() == {("every task has one hold of its estimate", books["failed"])}


WRONG_STATES = [
    ("queued", "released"),
    ("running", "settled"),
    ("succeeded", "released"),
    ("succeeded", "open"),
    ("failed", "settled"),
    ("timeout", "open"),
    ("canceled", "open"),
]


def test_a_hold_in_the_wrong_state_is_found(books):
    for status, state in WRONG_STATES:
        Hold.objects.filter(reference=books[status]).update(state=state)
        assert ("an open hold has a live task, a live task an open hold", books[status]) in broken(), (status, state)


def test_live_tasks_that_their_account_does_not_know_of_are_found(books, account):
    live = Task.objects.filter(account=account, status__in=LIVE).count()
    for known, expected in ((live, set()), (None, set()), (live - 1, {(LIVING, account.name)})):
        Account.objects.filter(pk=account.pk).update(live_at_most=known)
        assert broken() == expected


def test_a_hold_of_no_task_is_found(books, account):
    ledger.reserve([Reservation(reference="task_gone", account_id=account.pk, amount_micros=5)])
    assert broken() == {("a hold has a subject", "task_gone")}


SUCCEEDED = "a succeeded task has one charge of its actual cost, any other task none"


def test_a_charge_of_another_amount_is_found(books):
    Task.objects.filter(id=books["succeeded"]).update(actual_micros=1)
    assert broken() == {(SUCCEEDED, books["succeeded"])}


def test_a_charge_for_a_success_that_costs_nothing_is_found(books):
    Task.objects.filter(id=books["succeeded"]).update(actual_micros=0)
    assert broken() == {(SUCCEEDED, books["succeeded"])}


def test_a_success_without_a_charge_is_found(key, books, worker):
    sql.run("UPDATE accounts_apikey SET max_running = 99")
    (task,) = steps.claimed(worker)
    steps.end(task, success=steps.success(0))
    Task.objects.filter(id=task.id).update(actual_micros=7)
    assert broken() == {(SUCCEEDED, task.id)}


def test_a_charge_for_any_other_task_is_found(books, account):
    others = [task_id for status, task_id in books.items() if status != "succeeded"]
    for task_id in others:
        charge(task_id, account, 7)
    assert broken() == {(SUCCEEDED, task_id) for task_id in others}


def test_an_actual_cost_of_a_failed_task_is_found(books):
    Task.objects.filter(id=books["failed"]).update(actual_micros=7)
    assert broken() == {(SUCCEEDED, books["failed"])}


def test_a_charge_to_another_account_is_found(key, image_model, worker, other_account):
    task = steps.start(key, worker)
    steps.end(task, success=steps.success(0))
    Task.objects.filter(id=task.id).update(actual_micros=7)
    charge(task.id, other_account, 7)
    assert broken() == {(SUCCEEDED, task.id)}


def test_a_charge_for_no_task_is_found(books, account):
    charge("task_gone", account, 7)
    assert broken() == {("a charge has a subject", "task_gone")}


REFUNDS = "a refund is one, of a charge, to its account, and at most what was charged"


def give_back(reference: str, account: Account, amount: int, *, book: str = "revenue") -> None:
    """A booking that is balanced in itself."""
    leg(reference, amount, kind="refund", book="customer", account=account)
    leg(reference, -amount, kind="refund", book=book)
    Account.objects.filter(pk=account.pk).update(balance_micros=F("balance_micros") + amount)


def test_a_refund_of_a_charge_is_right(books, account):
    give_back(books["succeeded"], account, 40_000)
    assert broken() == set()


@pytest.mark.parametrize("amount", [-1, 40_001])
def test_a_refund_beyond_the_charge_is_found(books, account, amount):
    give_back(books["succeeded"], account, amount)
    assert broken() == {(REFUNDS, books["succeeded"])}


def test_a_refund_to_another_account_is_found(books, other_account):
    give_back(books["succeeded"], other_account, 5)
    assert broken() == {(REFUNDS, books["succeeded"])}


def test_a_refund_without_a_charge_is_found(books, account):
    for reference in (books["failed"], "task_gone"):
        give_back(reference, account, 5)
    assert broken() == {(REFUNDS, books["failed"]), (REFUNDS, "task_gone")}


def test_a_refund_that_reaches_no_account_is_found(books):
    leg(books["succeeded"], -5, kind="refund")
    leg(books["succeeded"], 5, kind="refund", book="funding")
    assert broken() == {(REFUNDS, books["succeeded"])}


EVENTS = "an ended task has one terminal event of its status, a live one none"


def test_a_missing_terminal_event_is_found(books):
    TaskEvent.objects.filter(status__in=ENDED).delete()
    assert broken() == {(EVENTS, books[status]) for status in ENDED}


def test_a_terminal_event_of_a_live_task_is_found(books, key):
    for status in LIVE:
        TaskEvent.objects.create(task_id=books[status], key=key.record, status="failed", attempt=1)
    assert broken() == {(EVENTS, books[status]) for status in LIVE}


def test_a_terminal_event_of_another_status_is_found(books):
    TaskEvent.objects.filter(task_id=books["failed"], status="failed").update(status="timeout")
    assert broken() == {(EVENTS, books["failed"])}


DELIVERIES = "an ended task with a callback_url has one delivery, any other none"


def test_a_missing_delivery_is_found(books):
    Delivery.objects.all().delete()
    assert broken() == {(DELIVERIES, books[status]) for status in ENDED}


def test_a_delivery_of_a_live_task_is_found(books):
    task = Task.objects.get(id=books["running"])
    Delivery.objects.create(id="x.1", task=task, account=task.account, url=HOOK, host="hooks.example.com")
    assert broken() == {(DELIVERIES, books["running"])}


def test_a_delivery_that_nobody_asked_for_is_found(books):
    Task.objects.filter(id=books["failed"]).update(callback_url=None)
    assert broken() == {(DELIVERIES, books["failed"])}


SPENT = "the sum of a budget = sum of its window's holds"
LIVING = "an account has no more live tasks than it knows of"
KNOWN = "an account knows whether it or one of its keys has a budget"


@pytest.mark.parametrize(("holder", "period"), [("account", "day"), ("key", "month")])
def test_a_budget_of_another_sum_is_found(books, key, holder, period):
    budget_steps.limit(key.account, day="1", month="1")
    budget_steps.limit(key.account.keys.get(name="rich"), month="1")
    assert broken() == set()
    total = BudgetSum.objects.get(holder=holder, period=period)
    assert total.spent_micros == 3 * 40_000
    BudgetSum.objects.filter(pk=total.pk).update(spent_micros=1)
    assert broken() == {(SPENT, f"{holder} {total.holder_id} {period} {total.starts_on}")}


def test_an_account_that_does_not_know_of_its_budgets_is_found(books, account):
    Account.objects.update(has_budgets=True)
    assert broken() == {(KNOWN, account.name)}


def test_every_rule_has_a_test_that_breaks_it():
    rules = (SUCCEEDED, REFUNDS, LIVING, EVENTS, DELIVERIES, "a charge has a subject", "a hold has a subject")
    assert set(ledger_check.RULES) == {
        *rules,
        "the entries of a booking sum to zero",
        "balance = sum of the account's entries",
        "held = sum of the account's open holds",
        "every task has one hold of its estimate",
        "an open hold has a live task, a live task an open hold",
        *test_ledger_check_calls.RULES,
        SPENT,
        KNOWN,
    }


def test_many_breaches_are_listed_up_to_a_number(account):
    reservations = [Reservation(reference=ids.new_task_id(), account_id=account.pk, amount_micros=1) for _ in range(60)]
    ledger.reserve(reservations)
    assert len(ledger_check.check().breaches) == ledger_check.SHOWN


def run(*arguments: str) -> tuple[str, int]:
    """The output and exit code of the command."""
    output = io.StringIO()
    try:
        call_command("check_ledger", *arguments, stdout=output)
    except SystemExit as leave:
        return output.getvalue(), int(leave.code or 0)
    return output.getvalue(), 0


def test_the_command_is_content_with_right_books(books):
    assert run() == ("ok: 6 tasks, 0 relayed calls, 4 entries, 2 open holds\n", 0)


def test_the_command_lists_breaches_and_exits_with_one(books, account):
    Account.objects.update(held_micros=F("held_micros") + 1)
    output, code = run()
    assert code == 1
    assert f"held = sum of the account's open holds: {account.name}: held 80001, holds 80000" in output
    assert "BROKEN" in output


def test_the_command_prints_one_json_object(books):
    output, code = run("--json")
    counts = {"tasks": 6, "relayed_calls": 0, "entries": 4, "open_holds": 2, "seals": 0}
    assert (json.loads(output), code) == ({"ok": True, **counts, "breaches": []}, 0)


def test_the_command_prints_breaches_as_json(books):
    make_account("fine")
    Hold.objects.filter(reference=books["failed"]).delete()
    output, code = run("--json")
    (breach,) = json.loads(output)["breaches"]
    assert (json.loads(output)["ok"], code, breach["subject"]) == (False, 1, books["failed"])


def test_the_check_of_the_books_is_one_picture_of_the_database(books):
    with CaptureQueriesContext(connection) as queries:
        assert ledger_check.check().breaches == ()
    assert len([query for query in queries if "tasks_task" in query["sql"] or "accounts_account" in query["sql"]]) == 1
