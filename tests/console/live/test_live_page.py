"""The Live page: rows of each state, their order and number, isolation, hostile texts, few statements."""

import re
from datetime import timedelta
from html import escape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from console.live import finding
from tasks.models import Task, TaskPayload
from tasks.shown import eta
from tests.rows import IssuedKey
from tests.tasks import steps

PAGE = "/console/live/"
STATEMENTS = 8
HOSTILE = [
    "<script>alert(1)</script>",
    "<svg onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.exe \u2066 right to left",
    "x" * 10_000,
]


@pytest.fixture
def worker(db) -> str:
    return steps.worker()


def shown(visitor) -> str:
    answer = visitor.get(PAGE)
    assert answer.status_code == 200
    return answer.content.decode()


def row(text: str, task_id: str) -> str:
    """The row of one task."""
    found = re.search(rf'<li class="live-row" id="{task_id}".*?</li>', text, re.DOTALL)
    assert found, task_id
    return found[0]


def of_prompt(prompt: str) -> dict[str, object]:
    return {**steps.IMAGE, "params": {"prompt": prompt}}


def test_without_tasks_it_teaches(visitor):
    text = shown(visitor)
    assert "Nothing has run yet." in text
    assert '<a class="button" href="/console/create/">' in text
    assert "<title>Live | Darkroom</title>" in text


def test_the_newest_stands_first_with_its_place_in_the_queue(visitor, key, image_model):
    first, second = (steps.submitted(key, of_prompt(prompt)) for prompt in ("a heron", "an owl"))
    text = shown(visitor)
    assert text.index(f'id="{second}"') < text.index(f'id="{first}"')
    assert "next in your queue" in row(text, first)
    assert "number 2 in your queue" in row(text, second)
    assert "<bdi>an owl</bdi>" in row(text, second)
    assert "about $0.04" in row(text, second)
    assert f'formaction="/console/tasks/{second}/cancel/"' in row(text, second)
    assert "2 wait." in text
    assert "<title>(2) Live | Darkroom</title>" in text


def test_a_running_one_shows_progress_and_time_against_the_usual(visitor, key, image_model, worker):
    steps.end(steps.start(key, worker))
    now = timezone.now()
    Task.objects.update(created_at=now - timedelta(seconds=80), finished_at=now - timedelta(seconds=60))
    task = steps.start(key, worker)
    Task.objects.filter(id=task.id).update(progress=42, created_at=now - timedelta(seconds=8))
    eta.by_model.cache_clear()
    text = shown(visitor)
    assert "running 42 %" in row(text, task.id)
    assert re.search(r'<meter min="0" max="20.0" value="8.\d"', row(text, task.id))
    assert "usually 20 s" in row(text, task.id)
    assert "optimum" not in row(text, task.id)
    assert "formaction" not in row(text, task.id)
    assert re.search(r"1 runs: the next picture in about 1\d s\.", text)
    assert 'data-live-every="3"' in text
    Task.objects.filter(id=task.id).update(created_at=now - timedelta(seconds=99))
    text = shown(visitor)
    assert "1 runs: the next picture is taking longer than usual." in text
    assert 'optimum="0"' in row(text, task.id)


def test_without_anything_that_runs_it_rests(visitor, key, image_model):
    steps.submitted(key)
    assert 'data-live-every="60"' in shown(visitor)


def test_a_finished_one_is_its_picture_with_its_size(visitor, key, image_model, worker):
    task = steps.start(key, worker, of_prompt('a "fox"'))
    steps.end(task, success=steps.success(assets=2))
    found = row(shown(visitor), task.id)
    assert re.search(r'<img src="/\S+" width="8" height="6" alt="a &quot;fox&quot;"', found)
    assert "1 of 2" in found
    assert "$0.04" in found
    assert "about $" not in found


def test_a_film_can_be_played_in_place(visitor, key, image_model, worker):
    task = steps.start(key, worker)
    success = steps.success(assets=0)
    film = steps.asset(kind="video", content_type="video/mp4", width=1280, height=720)
    steps.end(task, success=type(success)(actual_micros=40_000, seconds=0, assets=(film,)))
    assert re.search(r'<video src="\S+" width="1280" height="720"', row(shown(visitor), task.id))


def test_bytes_that_are_gone_are_told(visitor, key, image_model, worker, settings):
    task = steps.start(key, worker)
    steps.end(task)
    settings.ASSET_RETENTION = 1
    Task.objects.get(id=task.id).assets.update(created_at=timezone.now() - timedelta(seconds=5))
    found = row(shown(visitor), task.id)
    assert "<img" not in found
    assert "Its file was deleted" in found


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (
            "failed",
            "It failed. <bdi>The provider could not complete the task.</bdi> Nothing was charged. Run it again in a",
        ),
        ("timeout", "It took too long. <bdi>The provider could not complete the task.</bdi> Nothing was charged."),
    ],
)
def test_a_failure_is_told_in_words(visitor, key, image_model, worker, status, words):
    task = steps.start(key, worker)
    steps.end(task, status)
    found = row(shown(visitor), task.id)
    assert words in found
    assert "$0.00" in found


def test_it_shows_what_ended_lately_and_all_that_lives(visitor, key, image_model, worker, monkeypatch):
    monkeypatch.setitem(finding.MOST, "ended", 3)
    monkeypatch.setitem(finding.MOST, "queued", 2)
    running = steps.start(key, worker)
    ended = steps.submitted_many(key, 5)
    steps.lifecycle.end([steps.cancellation_of(task_id) for task_id in ended])
    queued = steps.submitted_many(key, 4)
    text = shown(visitor)
    assert re.findall(r'data-key="(\w+)"', text) == [*queued[:1:-1], *ended[:1:-1], running.id]
    assert "2 more are in the queue." in text
    assert '<a href="/console/gallery/">gallery</a>' in text


def test_it_shows_nothing_of_another_key_nor_of_synchronous_calls(visitor, sign_in, key, other_key, image_model):
    foreign = steps.submitted(other_key, of_prompt("their secret"))
    synchronous = steps.submitted(key)
    Task.objects.filter(id=synchronous).update(origin="sync")
    assert "Nothing has run yet." in shown(visitor)
    assert row(shown(sign_in(other_key)), foreign)


@pytest.mark.parametrize("prompt", HOSTILE, ids=["script", "svg", "attribute", "bidi", "long"])
def test_a_prompt_is_text(visitor, key, image_model, worker, prompt):
    task = steps.start(key, worker)
    TaskPayload.objects.filter(task=task.id).update(params={"prompt": prompt})
    steps.end(task)
    found = row(shown(visitor), task.id)
    assert f"<bdi>{escape(prompt[:200])}</bdi>" in found
    for tag in ("<script", "<svg onload", "<img src=x"):
        assert tag not in found
    assert "x" * 1_000 not in found


def test_a_task_whose_params_are_deleted_is_shown(visitor, key, image_model):
    task_id = steps.submitted(key)
    TaskPayload.objects.filter(task=task_id).update(params=None)
    assert "Task without a prompt" in row(shown(visitor), task_id)


def test_its_statements_are_few_however_many_tasks_there_are(visitor, key: IssuedKey, image_model, worker):
    def counted() -> int:
        eta.by_model.cache_clear()
        with CaptureQueriesContext(
            connection,
        ) as made:
            shown(visitor)
        return len(made)

    steps.end(steps.start(key, worker))
    few = counted()
    for task in (steps.start(key, worker), steps.start(key, worker)):
        steps.end(task)
    steps.start(key, worker)
    steps.submitted_many(key, 5)
    assert counted() == few <= STATEMENTS
