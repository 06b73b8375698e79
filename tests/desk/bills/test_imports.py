"""A bill is kept once, compared with our calls in bounded work, and changes no book."""

from datetime import date

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models import Channel
from desk.bills import bill_facts, imports, our_calls
from desk.bills.columns import BillColumns
from desk.bills.imports import BillRefused, Period
from desk.bills.tables import UnreadableTable
from desk.models import BillLine, ProviderBill, RememberedColumns
from tasks.models import Call
from tests.desk.bills import steps as bills
from tests.tasks import steps

pytestmark = pytest.mark.django_db

PLAIN = BillColumns(upstream_id="id", amount="cost")
THESE_DAYS = bills.THESE_DAYS


def verdicts(bill):
    rows = BillLine.objects.filter(bill=bill, run=bill.run).order_by("id")
    return [(row.number, row.upstream_id, row.verdict) for row in rows]


def test_each_line_and_each_call_of_ours_finds_its_list(bought, video_channel):
    bought("job-1", 40_000), bought("job-2", 40_000), bought("job-3", 40_000)
    bought("elsewhere", 7, channel=Channel.objects.create(name="other", adapter="x", base_url="https://x.example"))
    bill = bills.compared(video_channel, "id,cost", "job-1,0.04", "job-2,0.05", "job-9,1")
    assert verdicts(bill) == [
        (2, "job-1", "matched"),
        (3, "job-2", "different"),
        (4, "job-9", "provider_only"),
        (None, "job-3", "ours_only"),
    ]
    lists = {each.verdict: each for each in bill_facts.lists(bill)}
    assert lists["different"].lines[0].difference_micros == 10_000
    assert lists["different"].lines[0].task_id == Call.objects.get(handle__id="job-2").task_id
    assert {name: (each.count, each.provider_micros, each.own_micros) for name, each in lists.items()} == {
        "different": (1, 50_000, 40_000),
        "provider_only": (1, 1_000_000, 0),
        "ours_only": (1, 0, 40_000),
        "matched": (1, 40_000, 40_000),
    }
    assert list(Call.objects.order_by("id").values_list("cost_micros", flat=True)) == [40_000] * 3 + [7]


def test_the_same_file_twice_is_the_same_bill(video_channel, image_channel):
    content = b"id,cost\nj,1\n"
    first, is_new = imports.receive(video_channel, "may.csv", content, by="ada")
    assert is_new
    assert imports.receive(video_channel, "copy.csv", content, by="bob") == (first, False)
    assert imports.receive(image_channel, "may.csv", content, by="ada")[1]
    assert ProviderBill.objects.count() == 2


def test_what_is_no_table_is_not_kept(video_channel):
    with pytest.raises(UnreadableTable):
        imports.receive(video_channel, "may.pdf", b"%PDF-1.4 \x00", by="ada")
    assert not ProviderBill.objects.exists()


def test_comparing_again_shows_what_is_known_now_and_keeps_nothing_twice(bought, video_channel):
    bill = bills.compared(video_channel, "id,cost", "job-1,0.04")
    bought("job-1", 40_000)
    imports.compare(bill, PLAIN, THESE_DAYS)
    assert verdicts(bill) == [(2, "job-1", "matched")]
    assert BillLine.objects.count() == 1
    assert RememberedColumns.objects.get().columns["upstream_id"] == "id"


def test_a_run_that_began_earlier_and_ends_later_is_left_over(bought, video_channel, monkeypatch):
    bought("job-1", 40_000)
    bill = bills.compared(video_channel, "id,cost", "job-1,0.04")
    around = our_calls.around

    def overtaken(*arguments):
        monkeypatch.setattr(our_calls, "around", around)
        imports.compare(ProviderBill.objects.get(), PLAIN, THESE_DAYS)
        return iter([])

    monkeypatch.setattr(our_calls, "around", overtaken)
    imports.compare(bill, PLAIN, THESE_DAYS)
    assert verdicts(bill) == [(2, "job-1", "matched")]
    assert BillLine.objects.count() == 1


def test_two_runs_that_begin_together_are_two(bought, video_channel):
    bought("job-1", 40_000), bought("job-2", 40_000)
    bill, begun = bills.compared(video_channel, "id,cost", "job-1,0.04"), []

    def meanwhile(execute, statement, *arguments):
        if len(begun) == 1:
            begun.append("by somebody else")
            imports.compare(ProviderBill.objects.get(), PLAIN, THESE_DAYS)
        if statement.startswith("UPDATE") and "begun" in statement and not begun:
            begun.append("by us")
        return execute(statement, *arguments)

    with connection.execute_wrapper(meanwhile):
        imports.compare(bill, PLAIN, THESE_DAYS)
    assert verdicts(bill) == [(2, "job-1", "matched"), (None, "job-2", "ours_only")]
    assert BillLine.objects.count() == 2


def test_a_bill_that_was_removed_is_compared_no_more(video_channel):
    bill = bills.compared(video_channel, "id,cost", "job-1,0.04")
    ProviderBill.objects.filter(pk=bill.pk).delete()
    with pytest.raises(BillRefused, match="has been removed"):
        imports.compare(bill, PLAIN, THESE_DAYS)


def test_rows_that_are_no_lines_are_named_and_the_others_compared(video_channel):
    bill = bills.compared(video_channel, "id,cost", "job-1,0.04", "job-2,free", ",3")
    assert (bill.bad_count, bill.bad_rows) == (2, [[3, "“free” is not an amount"], [4, "the id of the job is missing"]])
    with pytest.raises(BillRefused, match=r"Line 2: “a” is not an amount"):
        bills.compared(video_channel, "id,cost", "job-1,a")


def test_without_a_period_the_times_of_the_lines_say_it(video_channel):
    timed = BillColumns(upstream_id="id", amount="cost", time="at")
    rows = ("id,cost,at", "j1,1,2026-10-03 09:00", "j2,1,2026-10-28T23:59:59Z")
    bill = bills.compared(video_channel, *rows, columns=timed, period=None)
    assert (bill.since, bill.until) == (date(2026, 10, 3), date(2026, 10, 28))
    with pytest.raises(BillRefused, match="enter its first and last day"):
        bills.compared(video_channel, "id,cost", "j,1", period=None)
    for day in (date(1, 1, 1), date(9999, 12, 31)):
        with pytest.raises(BillRefused, match="out of range"):
            bills.compared(video_channel, "id,cost", "j,1", period=Period(first=day, last=day))
    with pytest.raises(BillRefused, match="100 days"):
        bills.compared(video_channel, "id,cost", "j,2", period=Period(first=date(2026, 1, 1), last=date(2026, 6, 1)))


def test_a_period_with_too_many_calls_is_refused(bought, video_channel, monkeypatch):
    bought("job-1", 1), bought("job-2", 1), bought("job-3", 1)
    monkeypatch.setattr(our_calls, "MOST_CALLS", 2)
    with pytest.raises(BillRefused, match="split the bill by weeks"):
        bills.compared(video_channel, "id,cost", "job-1,1")


def test_pages_of_calls_are_all_compared(bought, video_channel, monkeypatch):
    monkeypatch.setattr(our_calls, "PAGE", 2)
    for number in range(5):
        bought(f"job-{number}", 1)
    bill = bills.compared(video_channel, "id,cost", "job-4,0.000001")
    assert bill_facts.sums_of(bill, "ours_only")["count"] == 4
    assert bill_facts.sums_of(bill, "matched")["count"] == 1


def test_ten_thousand_lines_take_a_few_dozen_statements(video_channel):
    """And no transaction holds them all."""
    lines = [f"job-{number},0.04" for number in range(10_000)]
    with CaptureQueriesContext(connection) as queries:
        bill = bills.compared(video_channel, "id,cost", *lines)
    assert bill_facts.sums_of(bill, "provider_only")["count"] == 10_000
    assert len(queries) < 60
    assert steps.breaches() == []
