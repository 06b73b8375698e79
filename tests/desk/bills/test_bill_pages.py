"""The pages of bills: from the file to a settled outcome, and who may do what."""

import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from desk.bills import settling
from desk.bills.columns import BillColumns
from desk.bills.forms import SettleForm
from desk.models import BillLine, ProviderBill
from tasks.models import Call, Task
from tasks.unknown import open_calls, resolve
from tests.desk.bills import steps as bills
from tests.tasks import steps

pytestmark = pytest.mark.django_db

ADD = "admin:desk_providerbill_add"
CHOSEN = {"upstream_id": "job id", "amount": "cost", "unit": "usd", "mark": "."}


def days():
    return {"since": bills.THESE_DAYS.first.isoformat(), "until": bills.THESE_DAYS.last.isoformat()}


def upload(client, channel, *lines, **fields):
    file = SimpleUploadedFile("november.csv", bills.content(*lines), content_type="text/csv")
    return client.post(reverse(ADD), {"channel": channel.pk, "file": file, **fields})


def member(*groups):
    user = User.objects.create_user("-".join(groups), is_staff=True)
    user.groups.set(Group.objects.filter(name__in=groups))
    client = Client()
    client.force_login(user)
    return client


def page(bill):
    return reverse("admin:desk_providerbill_change", args=[bill.pk])


def do(line, action):
    return reverse("admin:desk_billline_do", args=[line.pk, action])


def test_columns_are_chosen_once_and_remembered(operator, bought, video_channel):
    bought("job-1", 40_000)
    answer = upload(operator, video_channel, "Job ID,cost", "job-1,0.04", **days())
    bill = ProviderBill.objects.get()
    columns = reverse("admin:desk_providerbill_columns", args=[bill.pk])
    assert answer.url == columns
    shown = operator.get(columns).content.decode()
    assert '<option value="Job ID" selected>' in shown
    assert "job-1" in shown
    compared = operator.post(columns, {**CHOSEN, "upstream_id": "Job ID", **days()})
    assert compared.url == page(bill)
    assert "all 1 lines match what we bought" in operator.get(page(bill)).content.decode()
    second = upload(operator, video_channel, "cost,Job ID", "0.05,job-1", **days())
    assert second.url == page(ProviderBill.objects.latest("pk"))
    assert BillLine.objects.latest("pk").verdict == "different"


def test_the_same_file_leads_to_the_same_bill(operator, video_channel):
    bill = bills.compared(video_channel, "id,cost", "job-1,0.04")
    answer = upload(operator, video_channel, "id,cost", "job-1,0.04")
    assert answer.url == page(bill)
    assert "already imported" in operator.get(answer.url).content.decode()


def test_a_file_that_is_none_and_a_bill_without_days_are_told_at_the_field(operator, video_channel):
    refused = upload(operator, video_channel, "no table")
    assert "is it a CSV file?" in refused.content.decode()
    assert not ProviderBill.objects.exists()
    upload(operator, video_channel, "job id,cost", "j,1")
    columns = reverse("admin:desk_providerbill_columns", args=[ProviderBill.objects.get().pk])
    assert "enter its first and last day" in operator.post(columns, CHOSEN).content.decode()
    assert "Enter both days" in operator.post(columns, {**CHOSEN, "since": "2026-11-01"}).content.decode()


def test_what_a_provider_writes_is_text(operator, video_channel):
    evil = '"<script>alert(1)</script>"'
    bill = bills.compared(video_channel, "id,cost", f"{evil},0.04", f"j,{evil}")
    assert "<script>alert" not in operator.get(page(bill)).content.decode()
    assert (
        "<script>alert" not in operator.get(reverse("admin:desk_providerbill_columns", args=[bill.pk])).content.decode()
    )


def test_an_unknown_outcome_is_settled_by_a_line_of_the_bill(operator, film, video_channel):
    bill = bills.compared(video_channel, "id,cost", "cgt-77,0.50")
    line, ours = BillLine.objects.order_by("id")
    assert (line.verdict, ours.verdict, ours.call_id) == ("provider_only", "ours_only", film.pk)
    shown = operator.get(do(line, "attach")).content.decode()
    assert re.search(rf'type="radio" name="call" value="{film.pk}"[^>]* checked', shown)
    assert operator.post(do(line, "attach"), {"call": film.pk, "reason": "on the bill"}).url == page(bill)
    task = Task.objects.get(retry_of=film.task_id)
    line.refresh_from_db()
    assert (line.settled, line.settled_by, line.call.task_id) == ("attached", "operator", task.pk)
    assert line.call.handle["id"] == "cgt-77"
    assert LogEntry.objects.get().change_message == f"cgt-77 is followed by {task.pk}. on the bill"
    assert not open_calls.open_calls().exists()
    again = operator.post(do(line, "attach"), {"call": film.pk, "reason": "twice"})
    assert again.status_code == 200
    assert Task.objects.filter(retry_of=film.task_id).count() == 1
    assert steps.breaches() == []


def test_what_was_settled_stays_noted_when_the_bill_is_compared_again(operator, film, video_channel):
    bill = bills.compared(video_channel, "id,cost", "cgt-77,0.50")
    line = BillLine.objects.get(number=2)
    operator.post(do(line, "write-off"), {"call": film.pk, "reason": "nobody wants it"})
    assert Call.objects.get(pk=film.pk).state == "lost"
    operator.post(reverse("admin:desk_providerbill_do", args=[bill.pk, "compare"]))
    line = BillLine.objects.get()
    assert (line.run, line.settled, line.call_id) == (2, "written off", film.pk)
    assert (
        operator.post(reverse("admin:desk_providerbill_do", args=[bill.pk, "remove"]), {"reason": "x"}).status_code
        == 200
    )
    assert ProviderBill.objects.exists()


def test_a_call_that_the_bill_does_not_name_was_not_run(operator, film, video_channel):
    bills.compared(video_channel, "id,cost", "cgt-77,0.50")
    ours = BillLine.objects.get(number=None)
    assert operator.post(do(ours, "not-run"), {"reason": "complete bill"}).status_code == 302
    call = Call.objects.get(pk=film.pk)
    assert (call.state, call.outcome["resolved"], call.outcome["by"]) == ("refused", "not run", "operator")
    with pytest.raises(open_calls.Refused):
        resolve.mark_not_run(film.pk, by="ada")


def test_a_bill_is_removed_and_can_be_imported_again(operator, video_channel):
    bill = bills.compared(video_channel, "id,cost", "job-1,0.04")
    operator.post(reverse("admin:desk_providerbill_do", args=[bill.pk, "remove"]), {"reason": "wrong channel"})
    assert not ProviderBill.objects.exists()
    assert not BillLine.objects.exists()
    bills.compared(video_channel, "id,cost", "job-1,0.04")


def test_finance_imports_operators_settle_and_viewers_look(film, video_channel):
    bill = bills.compared(video_channel, "id,cost", "cgt-77,0.50")
    line = BillLine.objects.get(number=2)
    columns = reverse("admin:desk_providerbill_columns", args=[bill.pk])
    remove = reverse("admin:desk_providerbill_do", args=[bill.pk, "remove"])
    expected = {"viewer": (403, 403, 403, 403), "operator": (403, 403, 403, 200), "finance": (200, 200, 200, 403)}
    for group, codes in expected.items():
        client = member(group)
        assert client.get(page(bill)).status_code == 200, group
        found = [client.get(url).status_code for url in (reverse(ADD), columns, remove, do(line, "attach"))]
        assert tuple(found) == codes, group
        assert (">Settle<" in client.get(page(bill)).content.decode()) == (codes[3] == 200)


def test_each_list_has_pages_and_asks_for_little(operator, video_channel, django_assert_max_num_queries):
    lines = [f"job-{number},1" for number in range(130)]
    bill = bills.compared(video_channel, "id,cost", *lines)
    first = operator.get(page(bill)).content.decode()
    assert "All 130" in first
    assert "job-20<" not in first
    with django_assert_max_num_queries(12):
        whole = operator.get(f"{page(bill)}?show=provider_only").content.decode()
    assert "job-99<" in whole
    assert "job-100<" not in whole
    assert "job-129<" in operator.get(f"{page(bill)}?show=provider_only&p=2").content.decode()
    for odd in ("?show=x&p=0", "?p=²", "?show=matched&p=99999999999"):
        assert operator.get(page(bill) + odd).status_code == 200


def test_of_several_calls_the_operator_chooses_and_the_nearest_is_the_first(film, video_channel):
    columns = BillColumns(upstream_id="id", amount="cost", time="at", model="model")
    at = (film.created_at + timedelta(seconds=90)).isoformat()
    lines = ("id,cost,at,model", f"cgt-77,0.50,{at},seedance-1")
    bill = bills.compared(video_channel, *lines, columns=columns)
    other = Call.objects.get(pk=film.pk)
    other.pk, other.attempt, other.target = None, 2, {"upstream_model": "another"}
    other.save()
    found = settling.candidates(BillLine.objects.get(bill=bill, number=2))
    assert [(each.call_id, each.is_alike) for each in found] == [(film.pk, True), (other.pk, False)]
    form = SettleForm(found)
    assert "1 min 30 s before the line: same model as the line" in str(form)
    assert "checked" not in str(form)
    assert not SettleForm(found, {"call": "999", "reason": "x"}).is_valid()
