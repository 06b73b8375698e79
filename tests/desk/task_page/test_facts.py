"""What a task's page is made of: the story, the evidence, the money and the words."""

import dataclasses
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from billing import refunds
from billing.models import Hold, LedgerEntry
from catalog import pausing
from desk.task_page import money, sheet, story, verdict
from tasks import again, failures
from tasks.assets import signed_urls
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.failures import Failure
from tasks.models import Asset, Call, Task, TaskEvent
from tasks.paid_calls import CallEnd
from tasks.shown import exhibits, price_words
from tests.rows import make_task
from tests.tasks import steps

pytestmark = pytest.mark.django_db


def told(task_id: str) -> list[str]:
    return [step.title for step in sheet.gather(sheet.find(task_id)).story]


def test_the_story_has_every_step_in_order_and_how_long_it_took(charged):
    for seconds, event in enumerate(TaskEvent.objects.order_by("id")):
        TaskEvent.objects.filter(pk=event.pk).update(at=charged.created_at + timedelta(seconds=5 * seconds))
    Call.objects.update(created_at=charged.created_at + timedelta(seconds=7))
    steps_told = sheet.gather(sheet.find(charged.id)).story
    assert [(each.title, each.after_seconds) for each in steps_told] == [
        ("Submitted by POST /v1/tasks", None),
        ("Taken by a worker, attempt 1", 5),
        ("Call 1.1 to a deleted channel", 2),
        ("Succeeded", 3),
    ]
    assert steps_told[0].detail == "tester / key"
    assert "job job-1" in steps_told[2].detail


def test_a_requeue_is_told(key, image_model, worker):
    task = steps.start(key, worker)
    queue.requeue([Return(task_id=task.id, attempt=task.attempt, open_routes_id=task.open_routes_id)])
    assert told(task.id)[-1] == "Returned to the queue: nothing was bought"


def test_retries_are_linked_both_ways(charged):
    new_id = again.retry(charged.id, by="ada")
    old, new = (sheet.gather(sheet.find(task_id)).story for task_id in (charged.id, new_id))
    assert [(each.title, each.task_id) for each in old if each.task_id] == [("Submitted again as", new_id)]
    assert [(each.title, each.task_id) for each in new if each.task_id] == [("Operator's retry of", charged.id)]


def test_a_link_of_a_file_opens_it_is_on_our_origin_and_stands_still(charged, monkeypatch):
    asset = Asset.objects.get()
    monkeypatch.setattr(exhibits.time, "time", lambda: 1_800_000_000.0 - 1 + 600 * 1_000)
    first = exhibits.address(asset)
    monkeypatch.setattr(exhibits.time, "time", lambda: 1_800_000_000.0 - 599 + 600 * 1_000)
    assert exhibits.address(asset) == first
    monkeypatch.undo()
    parts = urlsplit(exhibits.address(asset))
    assert (parts.scheme, parts.netloc) == ("", "")
    assert signed_urls.verify(parts.path, parts.query).task_id == charged.id


@pytest.mark.parametrize(
    ("content_type", "shown"),
    [
        ("image/png", "picture"),
        ("video/mp4", "film"),
        ("audio/mpeg", "sound"),
        ("image/heic", "file"),
        ("image/svg+xml", "file"),
        ("text/html", "file"),
    ],
)
def test_only_what_browsers_show_safely_is_shown(content_type, shown):
    row = Asset(task_id="task_" + "0" * 26, position=0, content_type=content_type, created_at=timezone.now())
    (exhibit,) = exhibits.exhibits([row])
    assert exhibit.shown_as == shown


def test_a_deleted_file_has_no_link(charged):
    Asset.objects.update(deleted_at=timezone.now())
    (exhibit,) = sheet.gather(sheet.find(charged.id)).exhibits
    assert exhibit.url == ""
    assert exhibit.gone_at


def test_params_are_rows_the_prompt_first_and_long_ones_begin_short():
    rows = exhibits.params({"n": 2, "modality": "image", "extra_body": {"seed": 7}, "prompt": "a fox " * 200})
    assert [(row.name, row.is_code) for row in rows] == [("prompt", False), ("extra_body", True), ("n", False)]
    assert rows[0].head == rows[0].text[:400] + "…"
    assert rows[2].head == ""
    assert exhibits.params(None) == []


def test_inputs_are_told_in_words():
    stored = {"stored": {"key": "inputs/CANARYKEY", "content_type": "image/png", "size_bytes": 12, "sha256": "s"}}
    url = "https://files.example/in.png?signature=CANARYQUERY"
    given = {"images": [stored, {"image_url": url}], "inputs": [{"type": "image", "role": "first_frame", "url": url}]}
    pictures, inputs = (row.text for row in exhibits.params(given))
    assert pictures.splitlines()[0] == "a file of ours, image/png, 12 bytes"
    assert inputs.startswith("image as first frame: https://files.example/in.png")
    assert "CANARY" not in pictures + inputs
    assert [row.text for row in exhibits.params({"images": [7], "mask": "odd"})] == ["–", "–"]


def test_the_price_is_told_in_words(charged):
    assert price_words.agreed(charged.price) == "$0.04 per image at 1K"
    film = {"mode": "video_duration", "tier": "*", "unit_micros": 100_000, "quantity": 5}
    assert price_words.agreed(film) == "$0.10 per second, × 5"
    assert price_words.agreed({"mode": "burnt"}) == ""


def test_the_money_of_a_charged_task(charged):
    refunds.refund(charged.id, 15_000, reason="black", by="ada")
    found = sheet.gather(sheet.find(charged.id)).money
    assert [(line.label, line.amount_micros, line.note) for line in found.lines] == [
        ("Held", 40_000, ""),
        ("Charged", -40_000, ""),
        ("Refunded", 15_000, "black"),
    ]
    assert (found.cost_micros, found.is_whole, found.margin_micros) == (30_000, True, -5_000)


def test_the_money_of_a_task_that_was_not_charged():
    now = timezone.now()
    hold = Hold(reference="t", amount_micros=5, state="released", created_at=now, closed_at=now)
    calls = [Call(state="refused"), Call(state="late")]
    found = money.add_up(hold, [LedgerEntry(book="revenue", amount_micros=7)], calls, has_ended=True)
    assert [line.label for line in found.lines] == ["Held", "Released"]
    assert (found.is_whole, found.margin_micros) == (False, 0)
    assert money.add_up(hold, [], [], has_ended=False).margin_micros is None


def test_every_way_to_fail_says_what_to_do_next(key):
    known = [value for value in vars(failures).values() if isinstance(value, Failure)]
    for failure in (*known, *failures.OF_KIND.values()):
        error = dataclasses.asdict(failure)
        found = verdict.describe(make_task(key, "failed", error=error), [], [])
        assert failure.message in found.what
        assert found.next_step, failure.type


def test_a_failure_repeats_what_the_last_call_heard(key, image_model, worker):
    task = steps.start(key, worker)
    outcome = {"kind": "invalid_request", "http_status": 400, "message": "No such size. api_key=CANARYKEY1234"}
    end = CallEnd(id=steps.intended(task, worker), state="refused", outcome=outcome)
    steps.end(task, "failed", calls=(end,))
    found = sheet.gather(sheet.find(task.id)).verdict
    assert found.why.startswith("The provider answered HTTP 400: No such size.")
    assert "CANARY" not in found.why


def test_a_queued_task_says_what_it_waits_for(key, image_model, image_channel):
    task = sheet.find(steps.submitted(key))
    assert "waits for a worker" in sheet.gather(task).verdict.why
    pausing.pause(image_channel)
    assert sheet.gather(task).verdict.why.startswith("It waits because: channel studio is paused since")


def test_what_lives_is_told_with_its_times(key):
    soon = timezone.now() + timedelta(seconds=90)
    waiting = verdict.describe(Task(status="queued", created_at=timezone.now(), not_before=soon), [], [])
    running = Task(status="running", started_at=timezone.now(), deadline_at=soon)
    assert "retried after a fault in 1 min" in waiting.why
    assert verdict.describe(running, [], []).why.startswith("Its deadline is in 1 min")


def test_history_and_events_meet_in_one_order():
    at = timezone.now()
    assert story.tell(Task(), events=[], calls=[], retries=[], history=[]) == []
    retries = [
        Task(id="b", created_at=at, status="queued"),
        Task(id="a", created_at=at - timedelta(1), status="failed"),
    ]
    assert [each.task_id for each in story.tell(Task(), events=[], calls=[], retries=retries, history=[])] == ["a", "b"]
