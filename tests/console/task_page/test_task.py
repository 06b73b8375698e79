"""The page of a task: what it answers in every state, whose tasks it shows, and that nothing in it does harm."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.db.models import F
from django.utils import timezone

from billing import refunds
from callbacks.models import Delivery, DeliveryAttempt
from common import ids
from console import error_words
from console.task_page import callback, request_document, story
from tasks import cancellation
from tasks.assets import retention
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.models import Asset, Task, TaskEvent, TaskPayload
from tests.desk.reading import words_of
from tests.desk.test_admin_pages import InlineFinder
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url

pytestmark = pytest.mark.django_db

HTML = "<script>alert(1)</script></pre></div><img src=x onerror=alert(1)><svg onload=alert(1)>"
BIDI = "\u202egnp.exe\u2066\u200f"
EVIL = (f"{HTML} {BIDI} {{{{ 7*7 }}}} {{% load x %}} " + "x" * 4_000 + " word" * 2_000)[:10_000]


def page_of(task_id: str) -> str:
    return f"/console/tasks/{task_id}/"


def test_the_page_of_a_success_answers_everything(visitor, bought):
    Delivery.objects.update(status="exhausted", attempts=1, next_attempt_at=None)
    DeliveryAttempt.objects.create(
        delivery=Delivery.objects.get(),
        number=1,
        at=bought.finished_at,
        status_code=500,
        duration_ms=37,
        error=HTML,
        excerpt="CANARYEXCERPT",
    )
    answer = visitor.get(page_of(bought.id))
    page = words_of(answer)
    for part in (
        *("for $0.04: 1 picture.", bought.id, f"{bought.id}.1", "aurora-image", "image/png, 8 × 6"),
        *("a fox", '"order": "A-17"', "Agreed: $0.04 per image at 1K ."),
        *("Estimated when it was submitted", "Held while it ran", "Charged for what was delivered", "-$0.04"),
        *("In all it cost $0.04; your balance is now $9.96.", "Submitted", "Started", "Finished"),
        *("Not delivered after 1 attempt. Last attempt: HTTP 500, not accepted.", "send it again", "in 37 ms", HTML),
    ):
        assert part in page, part
    text = answer.content.decode()
    assert f'href="/console/create/?input={bought.id}/0"' in text
    assert f'href="/console/create/aurora-image/?again={bought.id}"' in text
    assert re.search(rf'<img src="/assets/{bought.id}/0.png\?[^"]*" alt="[^"]+" width="8" height="6"', text)


def test_nothing_of_ours_or_of_providers_is_on_it(visitor, bought):
    page = visitor.get(page_of(bought.id)).content.decode()
    for secret in (
        "CANARY",
        "studio",
        "gpt-image-2",
        "openai_images",
        "job-1",
        "0.031337",
        "results/0",
        "provider.example",
    ):
        assert secret not in page, secret


def test_another_keys_task_is_as_unknown_as_none(other_key, sign_in, bought):
    stranger = sign_in(other_key)
    answers = [stranger.get(page_of(task_id)) for task_id in (bought.id, ids.new_task_id(), "task_1", "x")]
    assert {answer.status_code for answer in answers} == {404}
    assert len({re.sub(r'value="[^"]*"', "", answer.content.decode()) for answer in answers}) == 1


def test_a_queued_task_says_its_place_and_can_be_canceled(key, visitor, image_model):
    first, second = steps.submitted(key), steps.submitted(key)
    page = visitor.get(page_of(second))
    assert "number 2 in your queue; it will cost about $0.04." in words_of(page)
    assert "next in your queue" in words_of(visitor.get(page_of(first)))
    text = page.content.decode()
    assert f'action="/console/tasks/{second}/cancel/"' in text
    assert "data-live" in text


def test_a_running_task_says_how_far_it_is(key, visitor, image_model, worker):
    task = steps.start(key, worker)
    page = visitor.get(page_of(task.id))
    assert re.search(r"Running for [0-9.]+ s; it will cost about \$0\.04\.", words_of(page))
    assert "/cancel/" not in page.content.decode()
    Task.objects.update(progress=40)
    page = visitor.get(page_of(task.id))
    assert ", 40 % done;" in words_of(page)
    assert '<progress class="far" max="100" value="40"' in page.content.decode()


def test_how_long_it_usually_takes_is_told_while_it_lasts(key, visitor, bought):
    steps.lasted(bought.id, 12)
    task_id = steps.submitted(key)
    assert "A task of this model usually takes 12 s." in words_of(visitor.get(page_of(task_id)))
    assert "usually takes" not in words_of(visitor.get(page_of(bought.id)))


@pytest.mark.parametrize(("status", "verb"), [("failed", "Failed after"), ("timeout", "Timed out after")])
def test_what_failed_says_why_and_what_to_do(key, visitor, image_model, worker, status, verb):
    task = steps.start(key, worker)
    steps.end(task, status)
    advice = error_words.TASK_ERRORS[steps.FAILURE.type]
    page = words_of(visitor.get(page_of(task.id)))
    for part in (verb, "Nothing was charged.", steps.FAILURE.message, advice.why, advice.next_step, "Released"):
        assert part in page, part
    assert "In all it cost nothing; your balance is now $10.00." in page


def test_what_was_canceled_says_so(key, visitor, image_model):
    task_id = steps.submitted(key)
    cancellation.cancel(key.id, task_id)
    page = visitor.get(page_of(task_id))
    assert re.search(r"Canceled after [0-9.]+ s in the queue\. Nothing was charged\.", words_of(page))
    assert "data-live" not in page.content.decode()


def test_a_refund_is_told(visitor, bought):
    refunds.refund(bought.id, 10_000, reason="CANARYREASON", by="ada")
    page = words_of(visitor.get(page_of(bought.id)))
    assert "for $0.04, of which $0.01 was refunded: 1 picture." in page
    assert "Refunded" in page
    assert "In all it cost $0.03; your balance is now $9.97." in page
    assert "CANARY" not in page


def test_a_file_that_is_gone_says_when(key, visitor, bought):
    retention.delete_now(key.id, bought.id)
    page = visitor.get(page_of(bought.id))
    assert "File 1 was deleted." in words_of(page)
    assert "?input=" not in page.content.decode()
    assert "<img" not in page.content.decode().partition("<main")[2]


def test_a_file_past_its_time_is_gone_at_once(visitor, bought, settings):
    settings.ASSET_RETENTION = 60
    Asset.objects.update(created_at=F("created_at") - timedelta(seconds=61))
    assert "File 1 was deleted." in words_of(visitor.get(page_of(bought.id)))


def test_a_request_that_was_deleted_says_so(visitor, bought):
    TaskPayload.objects.update(params=None)
    page = visitor.get(page_of(bought.id))
    assert "The request was deleted." in words_of(page)
    assert "?again=" not in page.content.decode()


def test_what_a_browser_does_not_show_is_a_download(visitor, bought):
    Asset.objects.update(content_type="text/html")
    page = visitor.get(page_of(bought.id)).content.decode()
    assert "<img" not in page.partition("<main")[2]
    assert re.search(r'href="/assets/[^"]*\.bin\?[^"]*" download>', page)
    assert "?input=" not in page


def test_what_others_wrote_stays_text_of_its_own(visitor, bought):
    TaskPayload.objects.update(params={"prompt": EVIL, BIDI: HTML}, result=None)
    Task.objects.update(metadata={HTML: BIDI}, error={"type": HTML, "message": EVIL}, status="failed", model_name=HTML)
    DeliveryAttempt.objects.create(
        delivery=Delivery.objects.get(), number=1, at=timezone.now(), duration_ms=1, error=f"{HTML}{BIDI}"
    )
    answer = visitor.get(page_of(bought.id))
    page = answer.content.decode()
    assert "<script>alert" not in page
    assert "onerror=alert(1)>" not in page
    assert InlineFinder(page).found == []
    assert "{{ 7*7 }}" in words_of(answer)
    for at in (match.start() for match in re.finditer(BIDI[:8], page)):
        box = page[page[:at].rfind("<") :]
        assert re.match(r'<(bdi|pre class="text" dir="auto"|(div|p|span) class="[a-z ]*text[a-z ]*" dir="auto")>', box)


def test_the_documents_are_the_apis(key, visitor, bought, client_for):
    page = visitor.get(page_of(bought.id)).content.decode()
    found = re.findall(r'<pre class="text" dir="auto">([^<]*)</pre></details>', page)
    request, document = (json.loads(unescape(text)) for text in found)
    assert request["params"]["prompt"] == "a fox"
    assert request["metadata"] == {"order": "A-17"}
    shown = client_for(key).get(f"/v1/tasks/{bought.id}").json()
    assert {name for name in shown if shown[name] != document[name]} <= {"assets", "result"}  # whose URLs are fresh


def test_a_file_of_ours_has_no_place_in_the_request(key, visitor, image_model):
    params = {"prompt": "x", "images": [{"image_url": data_url()}, {"image_url": "https://pictures.example/a.png"}]}
    task_id = steps.submitted(key, {**steps.IMAGE, "params": params})
    stored = TaskPayload.objects.get(task_id=task_id).params
    text = request_document.text(Task.objects.get(id=task_id), stored)
    kept = stored["images"][0]["stored"]
    assert kept["key"] not in text
    first, second = json.loads(text)["params"]["images"]
    assert first == {"image_url": f"(a file of {kept['size_bytes']} bytes, {kept['content_type']})"}
    assert second == {"image_url": "https://pictures.example/a.png"}
    assert kept["key"] not in visitor.get(page_of(task_id)).content.decode()


def test_going_back_to_the_queue_is_told(key, worker, image_model):
    task = steps.start(key, worker)
    queue.requeue([Return(task_id=task.id, attempt=task.attempt, open_routes_id=task.open_routes_id)])
    steps.claimed(worker)
    told = story.tell(list(TaskEvent.objects.filter(task_id=task.id).order_by("id")))
    assert [step.title for step in told] == [
        "Submitted",
        "Started",
        "Returned to the queue: nothing was bought",
        "Started again",
    ]
    assert told[0].after_seconds is None
    assert all(step.after_seconds is not None and step.after_seconds >= 0 for step in told[1:])


def test_a_longer_story_asks_no_more(visitor, bought, django_assert_max_num_queries):
    for position in range(1, 9):
        Asset.objects.create(task=bought, position=position, kind="image", storage_key="k", size_bytes=1, sha256="s")
    for number in range(1, 20):
        DeliveryAttempt.objects.create(
            delivery=Delivery.objects.get(), number=number, at=timezone.now(), duration_ms=1, status_code=500
        )
    with django_assert_max_num_queries(16):
        visitor.get(page_of(bought.id))


def test_a_callback_tells_where_it_stands(visitor, bought, key):
    none = steps.submitted(key)
    assert "No callback." in words_of(visitor.get(page_of(none)))
    waiting = steps.submitted(key, {**steps.IMAGE, "callback_url": "https://hooks.example.com/hook"})
    assert "It is sent when the task has ended." in words_of(visitor.get(page_of(waiting)))
    page = visitor.get(page_of(bought.id))
    assert "Pending, 0 attempts so far." in words_of(page)
    assert "data-live" in page.content.decode()  # the attempt comes in a moment
    Delivery.objects.update(next_attempt_at=timezone.now() + timedelta(hours=1))
    assert "data-live" not in visitor.get(page_of(bought.id)).content.decode()
    Delivery.objects.update(status="delivered", attempts=1, next_attempt_at=None)
    assert "Delivered after 1 attempt." in words_of(visitor.get(page_of(bought.id)))


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        ({"status_code": 204}, "HTTP 204, accepted"),
        ({"status_code": 302}, "HTTP 302, not accepted"),
        ({"error": "the connection was refused"}, "no answer (the connection was refused)"),
        ({}, "no answer"),
    ],
)
def test_an_attempt_is_told_in_words(attempt, said):
    assert callback.answer(DeliveryAttempt(**attempt)) == said
