"""Callbacks in the desk: the list with those that gave up on top, the page of one, and sending again."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from callbacks.models import Delivery
from common import sql
from desk.callback_page import delivery_facts
from desk.kit.actions import page_of, url_of
from tests.callbacks import steps
from tests.desk.reading import words_of
from tests.tasks import steps as task_steps

pytestmark = pytest.mark.django_db

LIST, SEND = "/admin/callbacks/delivery/", "/admin/callbacks/delivery/send/"


def give_up(task_id: str) -> Delivery:
    """As if its schedule were over."""
    Delivery.objects.filter(task_id=task_id).update(status="exhausted", next_attempt_at=None, scheduled_at=None)
    return steps.delivery(task_id)


@pytest.fixture
def viewer(db) -> Client:
    """A browser of somebody who may look at callbacks and do nothing."""
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_delivery"))
    client = Client()
    client.force_login(user)
    return client


def test_the_page_shows_every_attempt_and_what_the_receiver_said(operator, owed):
    task_id = owed()
    steps.attempted(503, duration_ms=1234, error="status 503", excerpt="<b>no & dr-task-0123456789abcdef</b>")
    answer = operator.get(page_of(steps.delivery(task_id)))
    assert "&lt;b&gt;no &amp;" in answer.content.decode()
    page = words_of(answer)
    for part in ("Pending to hooks.example.com:443: 1 attempt so far.", "HTTP 503 in 1234 ms", task_id, "tester"):
        assert part in page, part
    assert "dr-task-0123456789abcdef" not in page


def test_one_that_gave_up_says_why_and_what_to_do(operator, owed):
    task_id = owed()
    steps.attempted(500)
    page = words_of(operator.get(page_of(give_up(task_id))))
    for part in ("exhausted", "Not delivered to", "Last attempt: HTTP 500.", "then send the callback again"):
        assert part in page, part


def test_what_gave_up_stands_on_top(operator, owed):
    first, second = owed(), owed()
    assert "No callback is exhausted." in words_of(operator.get(LIST))
    give_up(first)
    page = words_of(operator.get(LIST))
    assert "1 callback exhausted" in page
    assert page.index(first) < page.index(second)


def test_the_list_is_filtered_and_searched(operator, owed):
    there, elsewhere = owed(), owed("https://other.example.com/")
    give_up(there)
    for query, names in (
        ({"status__exact": "exhausted"}, {there}),
        ({"status": "pending"}, {elsewhere}),
        ({"host": "other.example.com:443"}, {elsewhere}),
        ({"host": "nobody:1"}, set()),
        ({"status": "burnt"}, set()),
        ({"host": "a\x00b"}, set()),
    ):
        page = words_of(operator.get(LIST, query))
        found = {task_id for task_id in (there, elsewhere) if page.count(task_id)}
        assert found == names or ("Select a valid choice" in page or "Null characters" in page), query
    for wanted in (there, f"{there}.1"):
        assert operator.get(LIST, {"q": wanted}).headers["Location"] == f"{LIST}{there}.1/change/"
    assert "No callback has this" in words_of(operator.get(LIST, {"q": "'; --\x00"}, follow=True))


def test_a_rare_filter_stops_and_goes_on_from_there(owed, monkeypatch):
    rare = give_up(owed())
    rest = [steps.delivery(owed()) for _ in range(4)]
    monkeypatch.setattr(delivery_facts, "SCANNED", 3)
    first = delivery_facts.find(status="exhausted")
    assert (first.rows, first.older, first.is_cut) == ((), rest[1].pk, True)
    second = delivery_facts.find(status="exhausted", before=first.older)
    assert (second.rows, second.older, second.is_cut) == ((rare,), None, False)


def test_a_longer_list_asks_no_more(operator, owed, django_assert_max_num_queries):
    for _ in range(6):
        give_up(owed())
    with django_assert_max_num_queries(6):
        operator.get(LIST)


def test_a_callback_is_sent_again_from_its_page(operator, owed):
    delivery = steps.delivery(owed())
    steps.attempted(200)
    answer = operator.post(url_of(delivery, "send"), {"done_before": 1, "reason": "They asked."}, follow=True)
    assert "Sent the callback again." in words_of(answer)
    assert steps.attempted(200).number == 2
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.change_message) == (delivery.pk, "Sent the callback again. They asked.")


def test_chosen_ones_are_sent_again_together_and_once_for_a_form(operator, owed):
    chosen = [give_up(owed()), give_up(owed())]
    address = f"{SEND}?id={chosen[0].pk}&id={chosen[1].pk}&id=no%00where"
    assert "now for 2 callbacks, to hooks.example.com:443" in words_of(operator.get(address))
    operator.post(address, {"done_before": 0})
    assert len(steps.claimed()) == 2
    assert LogEntry.objects.count() == 2
    Delivery.objects.update(attempts=1, status="exhausted", next_attempt_at=None)
    assert "sent in the meantime" in words_of(operator.post(address, {"done_before": 0}))
    assert LogEntry.objects.count() == 2


def test_nothing_chosen_sends_nothing(operator, owed):
    give_up(owed())
    assert "No callback was selected." in words_of(operator.post(SEND, {"done_before": 0}))
    assert steps.claimed() == ()


def test_who_may_only_look_cannot_send(viewer, owed):
    delivery = give_up(owed())
    assert "Send again" not in words_of(viewer.get(LIST))
    assert "Send the callback again" not in words_of(viewer.get(page_of(delivery)))
    for address in (url_of(delivery, "send"), f"{SEND}?id={delivery.pk}"):
        assert viewer.post(address, {"done_before": 0}).status_code == 403
    assert steps.claimed() == ()


def test_nothing_can_be_added_changed_or_deleted(operator, owed):
    delivery = steps.delivery(owed())
    name = "admin:callbacks_delivery_{}"
    assert operator.get(reverse(name.format("add"))).status_code == 403
    assert operator.post(page_of(delivery), {"status": "delivered"}).status_code == 403
    assert operator.post(reverse(name.format("delete"), args=[delivery.pk]), {"post": "yes"}).status_code == 403
    assert steps.state(delivery.task_id) == ("pending", 0)


def test_there_is_an_empty_list_that_teaches(operator):
    assert "A task with a callback_url sends one" in words_of(operator.get(LIST))


def test_the_list_reads_no_task_that_it_does_not_show(owed):
    owed(), owed()
    with task_steps.captured() as statements:
        assert len(delivery_facts.find().rows) == 2
    if not sql.is_postgresql():  # which reads small tables whole
        plans = [task_steps.explained(each) for each in statements]
        assert not [plan for plan in plans if "SCAN tasks_task" in plan or "TEMP B-TREE" in plan], plans
