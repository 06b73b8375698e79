"""The list of tasks: what its filters find, how far it looks, and that it goes by indexes."""

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from common import ids
from desk.task_list import finding
from desk.task_list.finding import TaskQuery
from tasks.models import Task
from tests.rows import make_account, make_key, make_task
from tests.tasks import steps

pytestmark = pytest.mark.django_db

LIST = "admin:tasks_task_changelist"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def tasks(key, other_key, image_channel) -> dict[str, Task]:
    """One of each kind, by what tells it from the others."""
    worker = steps.worker()
    return {
        "queued": make_task(key, "queued"),
        "running": make_task(key, "running", worker_id=worker, channel=image_channel, progress=40),
        "failed": make_task(key, "failed"),
        "film": make_task(key, modality="video", model_name="comet-video"),
        "theirs": make_task(other_key),
        "routed": make_task(key, channel=image_channel),
    }


def found(tasks: dict[str, Task], **asked) -> list[str]:
    names = {task.pk: name for name, task in tasks.items()}
    return [names[task.pk] for task in finding.find(TaskQuery(**asked)).tasks]


def test_the_newest_come_first(tasks):
    assert found(tasks) == ["routed", "theirs", "film", "failed", "running", "queued"]


def test_each_filter_finds_its_own(tasks, image_channel, other_key):
    for asked, names in (
        ({"status": "queued"}, ["queued"]),
        ({"status": "running"}, ["running"]),
        ({"status": "failed"}, ["failed"]),
        ({"modality": "video"}, ["film"]),
        ({"model": "comet-video"}, ["film"]),
        ({"channel_id": image_channel.pk}, ["routed", "running"]),
        ({"channel_id": image_channel.pk, "status": "running"}, ["running"]),
        ({"key_id": other_key.id}, ["theirs"]),
        ({"account_id": other_key.account.pk}, ["theirs"]),
        ({"account_id": other_key.account.pk, "status": "failed"}, []),
        ({"account_id": other_key.account.pk, "status": "queued"}, []),
        ({"key_id": other_key.id, "status": "running"}, []),
        ({"before": tasks["film"].pk}, ["failed", "running", "queued"]),
    ):
        assert found(tasks, **asked) == names, asked


def test_times_are_of_the_database_and_ids_only_narrow(key):
    at = timezone.now() - timedelta(days=2)
    old = make_task(key, id=ids.task_id_floor(at.timestamp()), created_at=at)
    new = make_task(key)
    tasks = {"old": old, "new": new}
    border = timezone.now() - timedelta(days=1)
    assert found(tasks, since=border) == ["new"]
    assert found(tasks, until=border) == ["old"]
    assert found(tasks, since=datetime(2020, 1, 1, tzinfo=UTC)) == ["new", "old"]


def test_a_rare_filter_stops_and_goes_on_from_there(key, monkeypatch):
    rare = make_task(key, "failed")
    rest = [make_task(key) for _ in range(4)]
    monkeypatch.setattr(finding, "SCANNED", 3)
    first = finding.find(TaskQuery(status="failed"))
    assert (first.tasks, first.older, first.is_cut) == ((), rest[1].pk, True)
    second = finding.find(TaskQuery(status="failed", before=first.older))
    assert (second.tasks, second.older, second.is_cut) == ((rare,), None, False)


def test_a_full_page_has_older_ones(key, monkeypatch):
    made = [make_task(key) for _ in range(3)]
    monkeypatch.setattr(finding, "PAGE", 2)
    page = finding.find(TaskQuery())
    assert page.tasks == (made[2], made[1])
    assert (page.older, page.is_cut) == (made[1].pk, False)


def page(client, **query: str) -> str:
    answer = client.get(reverse(LIST), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_list_shows_state_account_channel_and_cost(operator, tasks):
    Task.objects.filter(pk=tasks["routed"].pk).update(actual_micros=40_000, model_name=SCRIPT)
    text = page(operator)
    for part in ("running 40 %", "tester</bdi> / <bdi>key", "studio", "$0.04", tasks["failed"].pk, "&lt;script&gt;"):
        assert part in text, part
    assert SCRIPT not in text


def test_links_of_other_pages_are_understood(operator, tasks, other_key, image_channel):
    for query, names in (
        ({"status__exact": "failed"}, {"failed"}),
        ({"key__id__exact": str(other_key.id)}, {"theirs"}),
        ({"account__id__exact": str(other_key.account.pk)}, {"theirs"}),
        ({"channel__id__exact": str(image_channel.pk)}, {"running", "routed"}),
        ({"account": "somebody else"}, {"theirs"}),
    ):
        text = page(operator, **query)
        assert {name for name, task in tasks.items() if task.pk in text} == names, query


def test_what_cannot_be_a_filter_is_named_and_nothing_is_looked_for(operator, tasks):
    for query, words in (
        ({"account": "nobody"}, "No account has this name."),
        ({"account__id__exact": "987654"}, "No account has this name."),
        ({"key": "987654"}, "No key has this number."),
        ({"status": "burnt"}, "is not one of the available choices"),
        ({"since": "yesterday"}, "Enter a valid date/time."),
        ({"model": "a\x00b"}, "Null characters are not allowed."),
    ):
        text = page(operator, **query)
        assert words in text, query
        assert tasks["failed"].pk not in text


def test_an_id_leads_to_its_task(operator, tasks):
    answer = operator.get(reverse(LIST), {"q": f" {tasks['failed'].pk} "})
    assert answer.headers["Location"] == reverse("admin:tasks_task_change", args=[tasks["failed"].pk])
    assert "No task has this id." in page(operator, q=ids.new_task_id())


def test_an_older_page_keeps_its_filters(operator, key, monkeypatch):
    for _ in range(3):
        make_task(key, "failed")
    monkeypatch.setattr(finding, "PAGE", 2)
    assert "?status=failed&amp;before=task_" in page(operator, status__exact="failed")


def test_an_empty_list_teaches(operator):
    assert "POST /v1/tasks" in page(operator)
    assert "Remove a filter." in page(operator, status="failed")


def test_a_longer_list_asks_no_more(operator, django_assert_max_num_queries):
    for number in range(5):
        make_task(make_key(make_account(f"account {number}")))
    with django_assert_max_num_queries(6):
        page(operator, status="succeeded")
