"""The page of what a key spent, and the file behind it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from billing import ledger
from console.usage import entries
from tests.billing import budget_steps
from tests.billing.entries import book
from tests.console.usage.spent import charge
from tests.rows import make_key
from tests.tasks import steps

pytestmark = pytest.mark.django_db

USAGE = "/console/usage/"
THIRD = datetime(2026, 10, 3, 12, tzinfo=UTC)


def page(visitor, **query):
    answer = visitor.get(USAGE, query)
    assert answer.status_code == 200
    return answer.content.decode()


def plain(html):
    """The words of a page without its tags."""
    return " ".join(re.sub("<[^>]*>", "", html).split())


def file(visitor, month="2026-10"):
    answer = visitor.get(f"{USAGE}{month}.csv")
    assert answer.status_code == 200
    return answer, b"".join(answer.streaming_content).decode()


def test_the_first_sentence_says_what_was_spent_and_what_is_left(key, visitor, image_model):
    worker = steps.worker()
    steps.end(steps.start(key, worker))
    steps.submitted_many(key, 2)
    told = plain(page(visitor))
    assert "$0.04 spent this month, $9.88 left; $0.08 is held for 2 tasks." in told
    assert "balance $9.96, $0.08 of it held" in told


def test_what_is_spent_and_left_keeps_itself_up_to_date(visitor):
    told = page(visitor)
    assert re.findall('id="([^"]+)" data-live data-live-every="30"', told) == ["usage-lead", "usage-figures"]
    assert "pages/live.js" in told


def test_who_has_spent_nothing_is_shown_how_to_begin(key, visitor):
    told = page(visitor)
    assert "$0.00 spent this month, $10.00 left." in plain(told)
    assert "Nothing was spent this month." in told
    assert 'href="/console/create/"' in told
    assert "<svg viewBox" not in told


def test_a_month_is_a_chart_a_table_and_links_to_its_charges(key, visitor):
    first = charge(key, THIRD, model="<b>&")
    charge(key, THIRD + timedelta(days=1), 80_000, model="<b>&")
    told = page(visitor, month="2026-10")
    assert "October 2026: $0.12 for 2 charges" in told
    assert '<title id="spend-t">Charges per day of October 2026</title>' in told
    assert 'aria-labelledby="spend-t spend-d"' in told
    for link in ("?day=2026-10-03#charges", "?month=2026-10&amp;model=%3Cb%3E%26#charges", f"tasks/{first.id}/"):
        assert f'href="/console/usage/{link}"' in told or f'href="/console/{link}"' in told, link
    assert "<b>&" not in told
    assert "&lt;b&gt;&amp;" in told
    assert 'href="/console/usage/2026-10.csv"' in told


def test_a_day_and_a_model_narrow_the_charges_and_not_the_sums(key, visitor):
    tasks = [charge(key, THIRD, model="comet"), charge(key, THIRD), charge(key, THIRD + timedelta(days=1))]
    on_the_third = page(visitor, day="2026-10-03")
    assert [task.id in on_the_third for task in tasks] == [True, True, False]
    assert "October 2026: $0.12 for 3 charges" in on_the_third
    of_comet = page(visitor, month="2026-10", model="comet")
    assert [task.id in of_comet for task in tasks] == [True, False, False]
    assert "There is no charge here." in page(visitor, day="2026-10-04", model="comet")
    for unknown in ("none", "a\0b", "x" * 5_000):
        assert "There is no charge here." in page(visitor, month="2026-10", model=unknown)


def test_of_many_charges_the_latest_come_first_and_the_others_page_by_page(key, visitor):
    tasks = [charge(key, THIRD + timedelta(minutes=number), model="a&b") for number in range(21)]
    told = page(visitor, month="2026-10")
    assert [task.id in told for task in tasks] == [False, *[True] * 20]
    assert "Later charges" not in told
    (link,) = re.findall('href="/console/usage/([^"]*page=2)#charges"', page(visitor, day="2026-10-03", model="a&b"))
    assert link == "?day=2026-10-03&amp;model=a%26b&amp;page=2"
    last = visitor.get(USAGE + link.replace("&amp;", "&")).content.decode()
    assert [task.id in last for task in tasks] == [True, *[False] * 20]
    assert "Later charges" in last
    assert "Earlier charges" not in last
    assert len(file(visitor)[1].splitlines()) == 22


def test_a_key_sees_nothing_of_others(key, other_key, visitor):
    own = charge(key, THIRD)
    book(key.account, THIRD, 7, reference="wire-4711", reason="paid by wire")
    others = [charge(make_key(key.account, "second"), THIRD, 99_000), charge(other_key, THIRD, 98_000)]
    shown = [page(visitor, month="2026-10"), page(visitor, day="2026-10-03"), file(visitor)[1]]
    for text in shown:
        assert own.id in text
        assert not [each.id for each in others if each.id in text]
        assert not re.search(r"0\.09[89]|0\.13|wire-4711|paid by wire", text)
    assert "show only this key" in shown[0]


def test_the_statement_is_a_download_for_spreadsheets(key, visitor):
    task = charge(key, THIRD, 40_001)
    book(key.account, THIRD + timedelta(days=2), 1, "refund", reference=task.id)
    answer, text = file(visitor)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="usage-key-2026-10.csv"'
    assert answer["Cache-Control"] == "no-store"
    assert text.splitlines() == [
        "time,kind,task,model,modality,spent_usd",
        f"2026-10-03 12:00:00,charge,{task.id},aurora-image,image,0.040001",
        f"2026-10-05 12:00:00,refund,{task.id},aurora-image,image,-0.000001",
    ]
    assert "October 2026: $0.04 for 1 charge, after $0.000001 refunded" in page(visitor, month="2026-10")


def test_the_statement_is_read_a_page_at_a_time(key, visitor, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(entries, "PAGE", 2)
    tasks = [charge(key, THIRD + timedelta(minutes=number)) for number in range(3)]
    lines = visitor.get(f"{USAGE}2026-10.csv").streaming_content
    with django_assert_num_queries(3):  # two look-ups of where the month lies, and one page
        told = [next(lines) for _ in range(3)]
    with django_assert_num_queries(2):
        told.extend(lines)
    assert [line.split(b",")[2].decode() for line in told] == ["task", *[task.id for task in tasks]]


@pytest.mark.parametrize(
    "query",
    ["month=2026-13", "month=1999-01", "month=x", "day=2026-02-30", "day=2026-W01-1", "day=20261003", "day=x"],
)
def test_what_is_no_month_or_day_is_not_found(visitor, query):
    answer = visitor.get(f"{USAGE}?{query}")
    assert answer.status_code == 404
    assert "like 2026-11" in answer.content.decode()


def test_what_is_no_page_is_not_found(visitor):
    for number in ("0", "-1", "x", "10000", "9" * 30, "²"):
        assert visitor.get(USAGE, {"page": number}).status_code == 404
    assert "There is no charge here." not in page(visitor, page="9999")


def test_a_statement_of_no_month_is_not_found(visitor):
    for month in ("2026-13", "1999-01", "x", "2026-10-03"):
        assert visitor.get(f"{USAGE}{month}.csv").status_code == 404


def test_a_month_to_come_is_empty(key, visitor):
    told = page(visitor, month="2099-12")
    assert "This month has not begun." in told
    assert '<option value="2099-12" selected>' in told
    assert file(visitor, "2099-12")[1].splitlines() == ["time,kind,task,model,modality,spent_usd"]


def test_the_months_to_choose_from_begin_with_the_key(key, visitor):
    key.record.created_at = timezone.now() - timedelta(days=62)
    key.record.save()
    told = page(visitor)
    assert len(re.findall("<option ", told)) == 3
    assert len(re.findall("&larr;", told)) == 1
    assert "&rarr;" not in told


def test_budgets_say_what_is_used_and_when_they_renew(key, visitor, image_model):
    budget_steps.limit(key.record, day="0.05")
    steps.submitted(key)
    told = plain(page(visitor))
    assert "This key per day $0.04 of $0.05 used, $0.01 left; renews in" in told
    assert "The day budget of this key is nearly spent: $0.01 of it is left until it renews in" in told


def test_who_has_no_money_left_is_told_what_to_do(key, visitor):
    ledger.credit(key.account.pk, -10_000_000, reference="debit", reason="test")
    assert "Nothing is left, so new tasks are refused." in page(visitor)


def test_only_who_is_signed_in_sees_it_and_it_is_only_read(client, visitor):
    for path in (USAGE, f"{USAGE}2026-10.csv"):
        assert client.get(path).headers["Location"].startswith("/console/sign-in/")
        assert visitor.post(path).status_code == 405


def test_a_page_asks_for_little(key, visitor, django_assert_max_num_queries):
    for number in range(30):
        charge(key, THIRD + timedelta(hours=number), model=f"model-{number}")
    with django_assert_max_num_queries(14):
        page(visitor, month="2026-10")
