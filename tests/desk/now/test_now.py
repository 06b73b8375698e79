"""The page Now: its sentence, its numbers, what needs a person, and what it asks of the database."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from adapters.base import ErrorKind
from billing import seals
from catalog import pausing
from catalog.models import Channel, Route
from common import sql
from desk.kit.actions import page_of
from desk.now import now_facts
from desk.now.views import url
from tasks.figures.folding import Folding
from tasks.models import Task
from tests.refusing import disable, refuse
from tests.rows import make_task
from tests.tasks import steps

pytestmark = pytest.mark.django_db

HOME = "/admin/"


def now():
    return now_facts.read(timezone.now())


def said() -> str:
    found = now().sentence
    return f"{found.tone}: {found.text}{' …' if found.until else ''}{found.end}"


def needed() -> list[str]:
    return [need.text for need in now().needs]


@pytest.fixture
def janitor(db) -> str:
    """A worker with all lanes is alive."""
    worker = steps.worker()
    sql.run("UPDATE tasks_worker SET lanes = 'tasks,callbacks,janitor'")
    return worker


@pytest.fixture
def waiting(key, image_model, janitor) -> str:
    """A task that waits for an hour."""
    task_id = steps.submitted(key)
    steps.age(task_id, "created_at", -3_600)
    return task_id


def test_an_empty_service_is_told_how_to_begin(operator, image_model):
    page = operator.get(HOME).content.decode()
    assert "No task has been submitted yet." in page
    assert "/v1/tasks" in page
    assert "aurora-image" in page


def test_all_is_well_with_numbers(key, image_model, janitor):
    steps.end(steps.start(key, janitor))
    steps.start(key, janitor)
    assert re.fullmatch(r"good: All is well: 1 task runs, none waits, and 100 % of 1 succeeded.*", said())
    steps.submitted(key)
    assert re.fullmatch(r"good: All is well: 1 task runs, 1 wait \(the oldest for [\d.]+ m?s\), and .*", said())


def test_a_task_that_waits_long_is_told_with_its_reason(waiting, image_channel):
    wait = "warn: 1 task waits longer than usual: "
    assert said().startswith(f"{wait}their keys or accounts are at their limits")
    image_channel.max_running = 0
    image_channel.save()
    assert said() == f"{wait}channel {image_channel.name} runs 0 tasks, its limit."
    pausing.pause(image_channel)
    assert said() == f"{wait}channel {image_channel.name} is paused by an operator."


def test_a_channel_that_cools_down_is_told_with_the_moment(waiting, image_channel):
    refuse(image_channel, ErrorKind.OVERLOADED, retry_after=300)
    name = image_channel.name
    start = f"warn: 1 task waits longer than usual: channel {name} is cooling down (the provider was too busy) until …"
    assert re.fullmatch(
        re.escape(start) + r", for 5 min more\.|" + re.escape(start) + r", for 4 min \d+ s more\.", said()
    )
    (row,) = [channel for channel in now().channels if channel.id == image_channel.pk]
    assert (row.health, row.until) == ("cooling down", now().sentence.until)


def test_usual_is_what_the_model_took_today(waiting, key, janitor):
    for _ in range(2):
        made = make_task(key, media_model=Task.objects.get(id=waiting).media_model)
        steps.lasted(made.id, 7_200)
        sql.run(
            f"INSERT INTO tasks_taskevent (task_id, key_id, status, attempt, at) "
            f"SELECT id, key_id, status, 1, {sql.now()} FROM tasks_task WHERE id = %s",
            [made.id],
        )
    assert said().startswith("good: All is well")


def test_without_a_worker_nothing_is_well(key, image_model):
    steps.submitted(key)
    assert said().startswith("bad: No worker runs: 1 task waits and none is started.")


def test_a_bad_hour_is_told(key, image_model, janitor):
    for status in ("succeeded", "failed", "timeout", "failed", "failed"):
        steps.end(steps.start(key, janitor), status)
    assert said() == "bad: 4 of 5 tasks did not succeed in the last hour."


def test_switches_come_first(waiting):
    sql.run("UPDATE tasks_servicestate SET paused = true")
    assert said() == "warn: Submissions are paused: no new task is accepted, 1 task waits."
    sql.run("UPDATE tasks_servicestate SET api_disabled = true")
    assert said() == "bad: The Task API is switched off: every request is refused."


def test_the_figures_of_the_hour_and_the_day_hold_what_ended(key, image_model, janitor):
    steps.end(steps.start(key, janitor))
    for _ in range(2):
        found = now()
        assert (found.hour.succeeded, found.hour.rate, found.today.earned_micros) == (1, 100, 40_000)
        assert [(strip.model, strip.total.tasks) for strip in found.strips] == [("aurora-image", 1)]
        Folding().step()


def test_the_hour_counts_what_ended_before_the_clock_struck(key, image_model, janitor):
    steps.end(steps.start(key, janitor))
    nearly_an_hour_later = (timezone.now() + timedelta(minutes=58)).replace(microsecond=123_456)
    assert now_facts.read(nearly_an_hour_later).hour.succeeded == 1


def test_what_needs_a_person_is_listed(key, image_model, image_channel, janitor):
    assert needed() == []
    call = steps.intended(steps.start(key, janitor), janitor)
    sql.run("UPDATE tasks_call SET state = 'unknown' WHERE id = %s", [call])
    disable(image_channel.credentials.get(), "auth: No.")
    Route.objects.all().delete()
    keyless = Channel.objects.create(name="keyless", adapter="openai_images", base_url="http://127.0.0.1:9")
    texts = needed()
    assert texts[0] == "1 paid call of unknown outcome to settle"
    assert texts[1] == "1 credential disabled"
    assert texts[2] == "channel keyless has no credential"
    assert url(now().needs[2].target) == page_of(keyless)
    assert texts[3] == "model aurora-image has no enabled route in its plan standard"


def test_a_ledger_that_nobody_seals_is_told(key, image_model, janitor):
    assert seals.seal().number == 1
    assert (now().health.seal, needed()) == (1, [])
    before = now_facts.UNSEALED
    steps.end(steps.start(key, janitor))
    found = now_facts.read(timezone.now() + before + timedelta(minutes=1))
    assert [need.target for need in found.needs] == ["ledger"]


def test_each_number_leads_to_a_page_that_opens(operator, key, image_model, janitor):
    steps.end(steps.start(key, janitor))
    steps.submitted(key)
    seals.seal()
    page = operator.get(HOME).content.decode()
    assert "seal 1" in page
    assert 'href=""' not in page
    links = set(re.findall(r'href="(/admin/[^"]*)"', page))
    assert len(links) > 15
    for link in links:
        assert operator.get(link).status_code == 200, link


def staff(*groups: str) -> Client:
    user = User.objects.create_user("someone", is_staff=True)
    user.groups.set(Group.objects.filter(name__in=groups))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def viewer(db) -> Client:
    return staff("viewer")


def test_a_viewer_sees_the_page_without_buttons(viewer, image_channel):
    page = viewer.get(HOME)
    assert image_channel.name in page.content.decode()
    assert "/do/" not in page.content.decode()


def test_who_may_see_no_tasks_gets_the_list_of_tables(db):
    page = staff().get(HOME)
    assert (page.status_code, "now-figures" in page.content.decode()) == (200, False)


def test_all_tables_have_an_address_of_their_own(operator):
    page = operator.get(reverse("admin:tables")).content.decode()
    assert reverse("admin:tasks_worker_changelist") in page


def test_names_are_text(operator, key, image_model, image_channel, janitor):
    image_channel.name = "<script>alert(1)</script>"
    image_channel.save()
    make_task(key, model_name="<b>bold</b>")
    sql.run(
        f"INSERT INTO tasks_taskevent (task_id, key_id, status, attempt, at) "
        f"SELECT id, key_id, status, 1, {sql.now()} FROM tasks_task"
    )
    page = operator.get(HOME).content.decode()
    assert "<script>alert" not in page
    assert "&lt;b&gt;bold" in page
    assert "<b>bold" not in page


def test_the_page_asks_thirteen_statements_at_most(key, image_model, video_model, janitor):
    steps.end(steps.start(key, janitor))
    steps.submitted(key)
    client = staff("operator")
    client.get(HOME)
    with steps.captured() as statements:
        page = client.get(HOME).content.decode()
    assert len(statements) <= 13, statements
    for name in ("pause", "test"):
        assert page.count(f"/do/{name}/") == 2
