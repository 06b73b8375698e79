"""The page of a task: what it shows, whom it lets do what, and that nothing a customer wrote does harm."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from billing import refunds
from callbacks.models import Delivery, DeliveryAttempt
from common import ids
from desk.kit.actions import page_of, url_of
from tasks import lifecycle
from tasks.models import Asset, Call, Task, TaskPayload
from tests.desk.reading import words_of
from tests.desk.test_admin_pages import InlineFinder
from tests.tasks import steps

pytestmark = pytest.mark.django_db

HTML = "<script>alert(1)</script></pre></div><img src=x onerror=alert(1)><svg onload=alert(1)>"
BIDI = "\u202egnp.exe\u2066\u200f"
EVIL = (f"{HTML} {BIDI} {{{{ 7*7 }}}} {{% load x %}} " + "x" * 4_000 + " word" * 2_000)[:10_000]


def test_the_page_of_a_charged_task_answers_everything(operator, charged):
    Delivery.objects.update(status="exhausted", attempts=1)
    DeliveryAttempt.objects.create(
        delivery=Delivery.objects.get(), number=1, at=charged.finished_at, status_code=500, duration_ms=37, error=HTML
    )
    page = words_of(operator.get(page_of(charged)))
    for part in (
        *("succeeded", charged.id, "1 picture for $0.04", "Submitted by POST /v1/tasks tester / key"),
        *("a fox", '"order": "A-17"', "d" * 64, "job-1", "standard", "● kept", "buys 1 × 1K"),
        *("Held", "Charged", "-$0.04", "Own cost", "$0.03", "Margin", "$0.01"),
        *("exhausted", "https://hooks.example.com/hook", "HTTP 500 in 37 ms", HTML),
    ):
        assert part in page, part
    assert "CANARY" not in page


def test_pictures_have_their_size_before_they_load(operator, charged):
    page = operator.get(page_of(charged)).content.decode()
    (picture,) = re.findall(r"<img [^>]*>", page)
    assert 'width="8" height="6"' in picture
    assert f'src="/assets/{charged.id}/0.png?expires=' in picture
    Asset.objects.update(content_type="text/html")
    page = operator.get(page_of(charged)).content.decode()
    assert "<img" not in page
    assert re.search(r'<a href="/assets/[^"]*\.bin\?[^"]*" download>', page)


def test_what_a_customer_wrote_stays_text_of_its_own(operator, charged):
    TaskPayload.objects.update(params={"prompt": EVIL, BIDI: HTML}, result=None)
    Task.objects.update(metadata={HTML: BIDI}, error={"type": HTML, "message": EVIL}, status="failed")
    Call.objects.update(outcome={"kind": BIDI, "message": EVIL}, handle={"id": HTML}, mismatch=HTML)
    page = operator.get(page_of(charged)).content.decode()
    assert "<script>alert" not in page
    assert "onerror=alert(1)>" not in page
    assert InlineFinder(page).found == []
    assert "49" not in words_of(operator.get(page_of(charged))).split("{{")[1][:20]
    for at in (match.start() for match in re.finditer(BIDI[:8], page)):
        box = page[:at].rfind("<")
        assert re.match(
            r'<(bdi|pre class="text" dir="auto"|(div|p|span) class="[a-z ]*text[a-z ]*" dir="auto")>', page[box:]
        )


def test_the_page_of_a_live_task_refreshes_itself_and_that_of_an_ended_one_does_not(operator, charged, key):
    live = Task.objects.get(id=steps.submitted(key))
    assert "data-live" in operator.get(page_of(live)).content.decode()
    assert "data-live" not in operator.get(page_of(charged)).content.decode()


def test_a_longer_story_asks_no_more(operator, charged, django_assert_max_num_queries):
    call = Call.objects.get()
    for position in range(1, 9):
        fields = {"worker": call.worker, "route_id": 1, "target": {}, "request_digest": "d", "state": "unknown"}
        Call.objects.create(task=charged, attempt=1, position=position, **fields)
        Asset.objects.create(task=charged, position=position, kind="image", storage_key="k", size_bytes=1, sha256="s")
    with django_assert_max_num_queries(20):
        operator.get(page_of(charged))


def test_a_task_that_does_not_exist_has_no_page(operator):
    assert operator.get(reverse("admin:tasks_task_change", args=[ids.new_task_id()])).status_code == 302


def labels(client, task: Task) -> list[str]:
    page = client.get(page_of(task)).content.decode()
    return re.findall(r'<li><a class="button[^"]*" href="[^"]*/do/([a-z]+)/">', page)


def test_each_button_is_there_where_it_applies(operator, charged, key, worker):
    queued, running = (steps.submitted(key) for _ in range(2))
    lifecycle.end([steps.cancellation_of(running)])
    assert labels(operator, charged) == ["retry", "refund", "send"]
    assert labels(operator, Task.objects.get(id=queued)) == ["cancel"]
    assert labels(operator, Task.objects.get(id=running)) == ["retry"]
    (claimed,) = steps.claimed(worker)
    assert labels(operator, Task.objects.get(id=claimed.id)) == []


def test_nobody_sees_or_opens_what_he_may_not_do(somebody, charged):
    may = {"viewer": [], "operator": ["retry", "send"], "finance": ["refund"]}
    for group, allowed in may.items():
        client = somebody(group)
        assert labels(client, charged) == allowed
        for name in ("cancel", "retry", "refund", "send"):
            expected = 200 if name in allowed or (group, name) == ("operator", "cancel") else 403
            assert client.get(url_of(charged, name)).status_code == expected, (group, name)
            if expected == 403:
                assert client.post(url_of(charged, name), {"reason": "x"}).status_code == 403
    assert Task.objects.count() == 1


def history() -> list[str]:
    return list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True))


def test_a_queued_task_is_canceled_and_the_story_says_by_whom(operator, key, image_model):
    task = Task.objects.get(id=steps.submitted(key))
    assert "Its hold of $0.04 goes back to tester" in words_of(operator.get(url_of(task, "cancel")))
    for _ in range(2):
        operator.post(url_of(task, "cancel"), {"reason": "The customer called."})
    page = words_of(operator.get(page_of(task)))
    assert " canceled " in page
    assert "operator: Canceled the task. The customer called." in page
    assert steps.breaches() == []


def test_a_task_that_runs_is_not_canceled_and_the_page_says_so(operator, key, image_model, worker):
    task = steps.start(key, worker)
    answer = operator.post(reverse("admin:tasks_task_do", args=[task.id, "cancel"]), {})
    assert "The task is running; only a queued task can be canceled." in words_of(answer)
    assert history() == []


def sent_by(page: str) -> dict[str, str]:
    """The hidden fields of an action's form."""
    return dict(re.findall(r'<input type="hidden" name="([a-z_]+)" value="([^"]*)"', page))


def test_a_retry_leads_to_the_new_task_and_one_form_makes_one(operator, charged, image_model):
    image_model.prices = {"1K": "0.05"}
    image_model.save()
    page = operator.get(url_of(charged, "retry"))
    assert "today's price, $0.05. This task was submitted at $0.04 and the customer has paid $0.04 for it" in words_of(
        page
    )
    sent = {**sent_by(page.content.decode()), "reason": "It was black."}
    answer = operator.post(url_of(charged, "retry"), sent)
    new = Task.objects.get(retry_of=charged)
    assert answer.headers["Location"] == page_of(new)
    lifecycle.end([steps.cancellation_of(new.id)])
    assert "submitted again in the meantime" in words_of(operator.post(url_of(charged, "retry"), sent))
    assert history() == [f"Submitted it again as {new.id}, at $0.05. It was black."]


def test_a_retry_needs_a_reason_and_costs_what_the_page_said(operator, charged, image_model):
    sent = sent_by(operator.get(url_of(charged, "retry")).content.decode())
    assert "This field is required" in words_of(operator.post(url_of(charged, "retry"), sent))
    image_model.prices = {"1K": "0.05"}
    image_model.save()
    refused = words_of(operator.post(url_of(charged, "retry"), {**sent, "reason": "It was black."}))
    assert "It costs $0.05 now, and not $0.04." in refused
    assert not Task.objects.filter(retry_of=charged).exists()
    assert history() == []


def test_what_charges_a_customer_asks_for_the_password_again(operator, charged):
    session = operator.session
    session["signed_in_at"] -= 15 * 60
    session.save()
    for answer in (
        operator.get(url_of(charged, "retry")),
        operator.post(url_of(charged, "retry"), {"done_before": "0", "reason": "It was black."}),
        operator.get(url_of(Call.objects.get(), "attach")),
    ):
        assert 'name="proof-password"' in answer.content.decode()
    assert not Task.objects.filter(retry_of=charged).exists()


def test_a_retry_that_cannot_be_says_so_before(operator, charged, image_model):
    image_model.enabled = False
    image_model.save()
    assert "It would be refused now: The model aurora-image is gone" in words_of(operator.get(url_of(charged, "retry")))


def test_a_refund_is_booked_once_with_its_reason(operator, charged):
    page = operator.get(url_of(charged, "refund"))
    assert "tester was charged $0.04 for this task" in words_of(page)
    assert 'value="0.04"' in page.content.decode()
    for wrong in ({"amount": "0.05", "reason": "x"}, {"amount": "many", "reason": "x"}, {"amount": "0.01"}):
        assert operator.post(url_of(charged, "refund"), wrong).status_code == 200
    assert refunds.of_task(charged.id) == 0
    for _ in range(2):
        operator.post(url_of(charged, "refund"), {"amount": "0.015", "reason": "It was black."})
    assert refunds.of_task(charged.id) == 15_000
    assert history() == ["Refunded $0.015. It was black."]
    assert "refund" not in labels(operator, charged)
    assert steps.breaches() == []


def test_a_callback_is_sent_again_once_for_a_form(operator, charged):
    Delivery.objects.update(status="exhausted", attempts=3, next_attempt_at=None, scheduled_at=None)
    assert "goes to hooks.example.com:443 now" in words_of(operator.get(url_of(charged, "send")))
    operator.post(url_of(charged, "send"), {"done_before": "3"})
    assert Delivery.objects.get().status == "pending"
    Delivery.objects.update(attempts=4, status="exhausted", next_attempt_at=None)
    assert "sent in the meantime" in words_of(operator.post(url_of(charged, "send"), {"done_before": "3"}))
    assert Delivery.objects.get().status == "exhausted"
