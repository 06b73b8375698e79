"""What a key spent: sums that are the ledger's, by day and model, and of nobody else."""

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from billing import ledger, refunds
from billing.models import LedgerEntry
from common import months, sql
from common.months import Month
from console.usage import entries, spend_chart, spending, statement_csv
from tests.billing.entries import book
from tests.console.usage.spent import REQUEST, SECOND, charge, opened
from tests.rows import make_key
from tests.tasks import steps

pytestmark = pytest.mark.django_db

OCTOBER, NOVEMBER = (Month(year=2026, number=number) for number in (10, 11))
EPOCH = datetime(2026, 9, 28, tzinfo=UTC)
ENTRY = st.tuples(
    st.integers(0, 40 * 24 * 3600), st.integers(1, 10**9), st.integers(0, 2), st.sampled_from(["aurora", "comet"])
)


def caller(key):
    return steps.admitted(key).caller


def told(key, month):
    return list(csv.DictReader(io.StringIO("".join(statement_csv.lines(caller(key), month)))))


@settings(max_examples=20)
@given(st.lists(ENTRY, max_size=12))
def test_page_statement_and_ledger_have_the_same_sums_for_each_key(drawn):
    with transaction.atomic():
        account = opened("acme")
        keys = [make_key(account, name) for name in ("one", "two")] + [make_key(opened("other"))]
        owned = {key.id: [] for key in keys}
        for number, (seconds, micros, owner, model) in enumerate(sorted(drawn)):
            key, at = keys[owner], EPOCH + timedelta(seconds=seconds)
            task = charge(key, at, micros, model=model)
            owned[key.id].append(task.id)
            if number % 3 == 0:
                book(key.account, at, (micros + 1) // 2, "refund", reference=task.id)
        for key in keys:
            for month in (OCTOBER.later(-1), OCTOBER, NOVEMBER):
                check_month(key, month, owned[key.id])
        transaction.set_rollback(True)


def check_month(key, month, task_ids):
    legs = LedgerEntry.objects.filter(
        book="customer", reference__in=task_ids, at__gte=month.start, at__lt=month.end
    ).values_list("reference", "kind", "amount_micros")
    spend, lines = spending.read(caller(key), month), told(key, month)
    assert [(line["task"], line["kind"], -micros(line)) for line in lines] == list(legs.order_by("id"))
    assert spend.total.spent_micros == sum(map(micros, lines)) == -sum(amount for _, _, amount in legs)
    for groups in (spend.days, spend.models):
        assert sum(group.spent_micros for group in groups) == spend.total.spent_micros
        assert sum(group.charges for group in groups) == spend.total.charges


def micros(line):
    return int(Decimal(line["spent_usd"]) * 1_000_000)


def test_models_say_what_was_made_of_them_and_what_one_task_cost(key):
    at = datetime(2026, 10, 3, tzinfo=UTC)
    charge(key, at, 80_000)
    charge(key, at, 40_000)
    charge(key, at, 550_000, model="comet-video", modality="video", price=SECOND)
    charge(key, at, 300_000, model="form-3d", modality="3d", price=REQUEST)
    charge(key, at, 70_000, model="ancient", price={"n": 1})
    assert [
        (model.name, model.modality, model.charges, model.units, model.average_micros)
        for model in spending.read(caller(key), OCTOBER).models
    ] == [
        ("comet-video", "video", 1, "5.5 seconds", 550_000),
        ("form-3d", "3d", 1, "1 request", 300_000),
        ("aurora-image", "image", 2, "3 pictures", 60_000),
        ("ancient", "image", 1, "", 70_000),
    ]


def test_a_day_is_one_of_utc_and_a_refund_counts_on_its_own(key):
    task = charge(key, datetime(2026, 10, 3, 23, 59, 59, tzinfo=UTC))
    charge(key, datetime(2026, 10, 4, tzinfo=UTC), 50_000)
    book(key.account, datetime(2026, 10, 9, tzinfo=UTC), 15_000, "refund", reference=task.id)
    october = spending.read(caller(key), OCTOBER)
    assert [(day.name, day.charges, day.spent_micros) for day in october.days] == [
        ("2026-10-09", 0, -15_000),
        ("2026-10-04", 1, 50_000),
        ("2026-10-03", 1, 40_000),
    ]
    assert (october.on("2026-10-04"), october.on("2026-10-05")) == (50_000, 0)
    assert (october.total.refunded_micros, october.total.spent_micros) == (15_000, 75_000)
    assert october.days[0].average_micros is None


def test_a_task_that_ends_and_is_refunded_is_two_lines(key, image_model):
    task = steps.start(key, steps.worker())
    steps.end(task)
    refunds.refund(task.id, 15_000, reason="secret words of the operator", by="ada")
    ledger.credit(key.account.pk, 5, reference="wire-1", reason="paid")
    month = months.of(LedgerEntry.objects.get(reference=task.id, kind="charge", book="customer").at)
    assert [(line["kind"], line["task"], line["model"], line["spent_usd"]) for line in told(key, month)] == [
        ("charge", task.id, "aurora-image", "0.04"),
        ("refund", task.id, "aurora-image", "-0.015"),
    ]
    assert "secret" not in "".join(statement_csv.lines(caller(key), month))
    assert steps.breaches() == []


def test_long_months_are_read_a_page_at_a_time(key, monkeypatch):
    monkeypatch.setattr(entries, "PAGE", 2)
    tasks = [charge(key, datetime(2026, 10, 3, number, tzinfo=UTC)) for number in range(5)]
    assert [line["task"] for line in told(key, OCTOBER)] == [task.id for task in tasks]
    assert [line["time"] for line in told(key, OCTOBER)][:2] == ["2026-10-03 00:00:00", "2026-10-03 01:00:00"]


def test_no_name_of_a_model_begins_a_formula(key):
    charge(key, datetime(2026, 10, 3, tzinfo=UTC), model='=HYPERLINK("x")')
    assert [line["model"] for line in told(key, OCTOBER)] == ['\'=HYPERLINK("x")']


def test_the_chart_has_a_column_for_each_day_of_the_month(key):
    charge(key, datetime(2026, 10, 3, tzinfo=UTC))
    charge(key, datetime(2026, 10, 31, tzinfo=UTC), 80_000)
    chart = spend_chart.draw(spending.read(caller(key), OCTOBER))
    assert (chart.width, [bar.title for bar in chart.bars]) == (
        31 * 12,
        ["2026-10-03: $0.04 for 1 charge", "2026-10-31: $0.08 for 1 charge"],
    )
    assert [(bar.x, bar.height) for bar in chart.bars] == [(2 * 12, 60), (30 * 12, 120)]
    assert chart.description == "At most $0.08, on 2026-10-31."
    assert spend_chart.labels(Month(year=2026, number=2)) == ["1 Feb", "14 Feb", "28 Feb"]


def test_what_a_key_spent_is_found_by_indexes(key):
    """The ledger holds everybody's entries."""
    if sql.is_postgresql():
        pytest.skip("there a small table is read whole; SQLite plans without counting")
    asker = caller(key)
    with steps.captured() as statements:
        spending.read(asker, OCTOBER)
        entries.latest(asker, OCTOBER.start, OCTOBER.end, model="aurora", most=20)
        list(entries.lines(asker, OCTOBER.start, OCTOBER.end))
    assert len(statements) == 9
    for each in statements:
        steps_of = steps.explained(each).splitlines()
        assert not [step for step in steps_of if re.match("SCAN (billing|tasks|e|t|n)", step)], steps_of


def test_a_day_narrows_the_latest_entries_and_so_does_a_model(key):
    asker, day = caller(key), date(2026, 10, 3)
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    own = charge(key, start, model="comet")
    charge(key, start + timedelta(hours=1))
    charge(key, start + timedelta(days=1), model="comet")
    found = entries.latest(asker, start, start + timedelta(days=1), model="comet", most=5)
    assert [each.task_id for each in found] == [own.id]
    assert len(entries.latest(asker, OCTOBER.start, OCTOBER.end, most=2)) == 2
