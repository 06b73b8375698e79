"""A channel that moves to another origin while its jobs are open: each job is followed where, and with what, it was
bought."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from requests.adapters import HTTPAdapter

from adapters.base import Target
from catalog import connections, credentials, sealing
from catalog.health import probing
from catalog.models import Channel, Credential
from desk.kit import in_use
from sandbox.server import Sandbox
from tasks.models import Call
from tests.tasks import steps
from tests.worker.driving import call, end_of, film, hurry, loaded, task
from tools.children import PATIENCE
from worker.buy import jobs, lookup
from worker.buy.execution import leave
from worker.buy.jobs import NotNow

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("video_model")]
NEW = "the-key-of-the-new-home-5678"


@pytest.fixture
def new_home() -> Iterator[Sandbox]:
    with Sandbox(video_seconds=0.1) as sandbox:
        yield sandbox


@pytest.fixture
def sent(monkeypatch) -> list[tuple[str, str, str]]:
    """The method, the host and port, and the key of each request that leaves us."""
    seen, send = [], HTTPAdapter.send

    def tap(adapter, request, **options):
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        seen.append((request.method, urlsplit(request.url).netloc, key))
        return send(adapter, request, **options)

    monkeypatch.setattr(HTTPAdapter, "send", tap)
    return seen


def host(sandbox: Sandbox) -> str:
    return urlsplit(sandbox.url).netloc


def keys(sent, sandbox: Sandbox) -> set[str]:
    """What was sent to this provider."""
    return {key for _, where, key in sent if where == host(sandbox)}


def move(channel: Channel, home: Sandbox, api_key: str = NEW) -> None:
    channel.base_url = f"{home.url}/ark/api/v3"
    channel.save()
    credentials.store(channel, {"api_key": api_key})


def old_key() -> str:
    return "cinema-credential-1234"


def target(base_url: str) -> Target:
    return Target(adapter="ark_content_tasks", base_url=base_url, upstream_model="m")


def test_open_jobs_are_polled_at_their_origin_with_the_key_that_bought_them(
    shift, key, sandbox, new_home, sent, video_channel
):
    task_id = film(key, "a fox runs")
    shift.execute()
    move(video_channel, new_home)
    assert shift.work(task_id) == "succeeded"
    assert keys(sent, sandbox) == {old_key()}
    assert keys(sent, new_home) == set()


def test_queued_tasks_go_to_the_new_origin_with_the_new_key(shift, key, sandbox, new_home, sent, video_channel):
    task_id = film(key, "a fox runs")
    move(video_channel, new_home)
    assert shift.work(task_id) == "succeeded"
    assert keys(sent, new_home) == {NEW}
    assert keys(sent, sandbox) == set()


def test_a_changed_key_leaves_open_jobs_with_the_one_that_bought_them(shift, key, sandbox, sent, video_channel):
    first = film(key, "a fox runs")
    shift.execute()
    credentials.store(video_channel, {"api_key": NEW})
    second = film(key, "a bear runs")
    assert shift.work(first, second) == "succeeded"
    assert {secret for method, _, secret in sent if method == "POST"} == {old_key(), NEW}
    assert call(first).credential.last4 == "1234"
    assert call(second).credential.last4 == NEW[-4:]


def test_a_job_is_cancelled_at_its_origin_with_the_key_that_bought_it(
    shift, key, sandbox, new_home, sent, video_channel
):
    task_id = film(key, "a fox runs [queued=3600]")
    shift.execute()
    move(video_channel, new_home)
    steps.age(task_id, "deadline_at", -1)
    hurry()
    shift.poll()
    assert sandbox.audit()["canceled"] == 1
    assert ("DELETE", host(sandbox), old_key()) in sent
    assert keys(sent, new_home) == set()


def test_a_job_without_a_credential_of_its_origin_is_a_fault_in_words_and_nothing_else_is_tried(
    shift, key, sandbox, new_home, sent, video_channel, caplog
):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    move(video_channel, new_home)
    Credential.objects.filter(retired_at__isnull=False).delete()
    sent.clear()
    hurry()
    shift.poll()
    words = f"no credential of {sandbox.url} is left"
    assert (task(task_id).status, call(task_id).faults, sent) == ("running", 1, [])
    assert call(task_id).outcome["kind"] == "no_credential"
    assert words in call(task_id).outcome["message"]
    assert words in caplog.text
    (lack,) = in_use.lacking()
    assert (lack.channel, lack.origin, lack.jobs, lack.task_id) == ("cinema", sandbox.url, 1, task_id)


def test_another_retired_credential_of_the_origin_follows_where_the_buyer_is_gone(
    shift, key, sandbox, new_home, sent, video_channel
):
    task_id = film(key, "a fox runs")
    shift.execute()
    bought_with = call(task_id).credential_id
    credentials.store(video_channel, {"api_key": "another-key-of-the-old-home"})
    move(video_channel, new_home)
    Credential.objects.filter(pk=bought_with).delete()
    assert shift.work(task_id) == "succeeded"
    assert keys(sent, sandbox) == {old_key(), "another-key-of-the-old-home"}
    assert list(in_use.lacking()) == []


def test_a_lookup_asks_nobody_where_no_credential_is_left(shift, key, new_home, sent, image_channel, image_model):
    worker = steps.worker()
    started = steps.start(key, worker)
    frozen = {"adapter": "openai_images", "base_url": "https://gone.example/v1", "upstream_model": "m"}
    fields = {"channel_id": image_channel.pk, "credential_id": image_channel.credentials.get().pk}
    (intended,) = steps.intend(steps.intent(started, worker, **fields))
    Call.objects.filter(pk=intended.id).update(target=frozen)
    assert lookup.recover(intended.id, worker) is False
    assert sent == []


def test_a_task_whose_channel_moves_under_it_is_handed_back_unbought(shift, key, sandbox, new_home, video_channel):
    task_id = film(key, "a fox runs")
    (claimed,) = shift.claim()
    job = loaded(claimed)
    move(video_channel, new_home)
    (found,) = jobs.reach([job])
    assert isinstance(found, NotNow)
    leave(claimed, found)
    assert (task(task_id).status, Call.objects.count()) == ("queued", 0)
    assert shift.work(task_id) == "succeeded"
    assert (sandbox.audit()["jobs"], new_home.audit()["jobs"]) == (0, 1)


def test_a_credential_is_never_opened_for_another_origin(video_channel):
    elsewhere = video_channel.credentials.get()
    away = target("https://elsewhere.example/ark/api/v3")
    for options in ({}, {"credential_id": elsewhere.pk}, {"credential_id": elsewhere.pk, "follows": True}):
        opened, connection = connections.to(video_channel.pk, away, total_timeout=PATIENCE, **options)
        assert (opened, dict(connection.credentials)) == (None, {})


def test_a_credential_without_an_origin_goes_nowhere(video_channel):
    row = video_channel.credentials.get()
    ciphertext = sealing.seal({"api_key": old_key()}, "")
    Credential.objects.filter(pk=row.pk).update(origin="", ciphertext=ciphertext)
    for base_url in (video_channel.base_url, "ftp://elsewhere.example"):
        opened, _ = connections.to(
            video_channel.pk, target(base_url), total_timeout=PATIENCE, credential_id=row.pk, follows=True
        )
        assert opened is None


def test_a_row_whose_ciphertext_was_sealed_for_another_origin_is_not_opened(video_channel, new_home):
    row = video_channel.credentials.get()
    Credential.objects.filter(pk=row.pk).update(origin=new_home.url)
    opened, connection = connections.to(video_channel.pk, target(f"{new_home.url}/ark/api/v3"), total_timeout=PATIENCE)
    assert (opened, dict(connection.credentials)) == (None, {})


def test_a_probe_goes_nowhere_but_to_the_origin_of_the_credential(video_channel, sandbox, new_home, sent, caplog):
    caplog.set_level("INFO")
    row = video_channel.credentials.get()
    Credential.objects.update(disabled_at="2026-01-01T00:00:00Z", probe_at="2026-01-01T00:00:00Z")
    Channel.objects.update(base_url=f"{new_home.url}/ark/api/v3")
    assert probing.probe_due()
    assert sent == []
    assert f"it was entered for {sandbox.url}, and the channel is elsewhere now" in caplog.text
    row.refresh_from_db()
    assert row.disabled_at is not None


def test_a_credential_that_cannot_be_opened_is_not_probed_with_another(video_channel, sent):
    broken = video_channel.credentials.get()
    credentials.new(video_channel, {"api_key": "the-key-that-works-5678"}).save()
    unreadable = {"ciphertext": "unreadable", "disabled_at": "2026-01-01T00:00:00Z"}
    Credential.objects.filter(pk=broken.pk).update(probe_at="2026-01-01T00:00:00Z", **unreadable)
    assert probing.probe_due()
    broken.refresh_from_db()
    assert broken.disabled_at is not None
    assert sent == []


def test_a_retired_credential_is_not_probed(video_channel, new_home):
    Credential.objects.update(disabled_at="2026-01-01T00:00:00Z", probe_at="2026-01-01T00:00:00Z")
    move(video_channel, new_home)
    assert not probing.probe_due()


def test_a_job_is_not_lost_when_its_channel_moves_back_and_forth(shift, key, sandbox, new_home, sent, video_channel):
    task_id = film(key, "a fox runs")
    shift.execute()
    move(video_channel, new_home)
    move(video_channel, sandbox, "a-third-key-for-the-old-home")
    shift.work(task_id)
    assert end_of(task_id) == "succeeded"
    assert keys(sent, sandbox) == {old_key()}
