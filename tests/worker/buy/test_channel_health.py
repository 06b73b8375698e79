"""Channels that fail: credentials in turn, tasks that wait or fail with their channels, and the way back by a probe."""

from dataclasses import replace

import pytest

from adapters.base import ErrorKind, Target, UpstreamError
from catalog import connections, credentials, health
from catalog.models import Channel, ChannelHealth, Credential
from common import sql
from tasks.models import Call
from tests.rows import add_credential, make_channel, make_route
from tests.tasks import steps
from tests.worker.driving import call, channels_of, film, outage, picture, task
from worker.heal import probes

pytestmark = pytest.mark.django_db(transaction=True)
TARGET = Target(adapter="openai_images", base_url="https://images.provider.example/v1", upstream_model="m")


@pytest.fixture
def pair(image_channel) -> list[Credential]:
    """The two credentials of the image channel."""
    add_credential(image_channel, "the-second-credential-5678")
    return credentials.of_channel(image_channel.pk)


def connected(channel: Channel, **options):
    return connections.to(channel.pk, replace(TARGET, base_url=channel.base_url), total_timeout=1.0, **options)


def used(channel: Channel, times: int = 4) -> list[int | None]:
    return [connected(channel)[0] for _ in range(times)]


def refuse(row: Credential, kind: ErrorKind, **fields) -> None:
    health.refused(row.channel_id, row.pk, UpstreamError(kind, "No.", **fields))


def make_due() -> None:
    """The probes' time has come."""
    sql.run(f"UPDATE catalog_credential SET probe_at = {sql.now()} WHERE probe_at IS NOT NULL")


def test_credentials_take_turns(image_channel, pair):
    first, second = (row.pk for row in pair)
    assert used(image_channel) in ([first, second] * 2, [second, first] * 2)


def test_what_rests_or_is_disabled_is_left_out_of_the_turns(image_channel, pair):
    first, second = pair
    refuse(first, ErrorKind.RATE_LIMITED, retry_after=600)
    assert used(image_channel) == [second.pk] * 4
    sql.run("UPDATE catalog_credential SET cooldown_until = NULL")
    refuse(second, ErrorKind.AUTH)
    assert used(image_channel) == [first.pk] * 4


def test_where_all_rest_the_one_that_is_ready_first_is_taken(image_channel, pair):
    first, second = pair
    refuse(first, ErrorKind.RATE_LIMITED, retry_after=600)
    refuse(second, ErrorKind.RATE_LIMITED, retry_after=60)
    assert used(image_channel) == [second.pk] * 4


def test_a_credential_that_no_key_opens_is_left_out_of_the_turns(image_channel, pair):
    Credential.objects.filter(pk=pair[0].pk).update(ciphertext="unreadable")
    assert used(image_channel) == [pair[1].pk] * 4


def test_a_job_is_followed_with_the_credential_that_bought_it(image_channel, pair):
    refuse(pair[0], ErrorKind.AUTH)
    for row in pair:
        opened, connection = connected(image_channel, credential_id=row.pk)
        assert opened == row.pk
        assert connection.credentials["api_key"].endswith(row.last4)


def test_a_job_whose_credential_is_gone_is_followed_with_another(image_channel, pair):
    gone = pair[0].pk
    pair[0].delete()
    assert connected(image_channel, credential_id=gone)[0] == pair[1].pk


def test_the_credential_of_another_channel_is_never_taken(image_channel, video_channel):
    foreign = video_channel.credentials.get()
    assert connected(image_channel, credential_id=foreign.pk)[0] == image_channel.credentials.get().pk


def test_without_an_enabled_credential_there_is_none(image_channel):
    refuse(image_channel.credentials.get(), ErrorKind.AUTH)
    opened, connection = connected(image_channel)
    assert (opened, connection.credentials) == (None, {})
    assert connections.to(None, TARGET, total_timeout=1.0)[0] is None


def test_a_connection_carries_our_name_for_the_call(image_channel):
    assert connected(image_channel, reference="task_1-1-0")[1].reference == "task_1-1-0"


@pytest.fixture
def spare(plan, image_model, sandbox):
    """A second route, tried after the first."""
    channel = make_channel("spare", "openai_images", f"{sandbox.url}/openai/v1")
    make_route(plan, image_model, channel, upstream_model="gpt-image-2", priority=200)
    return channel


def test_a_task_whose_only_channel_is_disabled_fails_before_it_runs(shift, key, image_model, image_channel):
    task_id = picture(key, "a fox")
    refuse(image_channel.credentials.get(), ErrorKind.QUOTA_EXHAUSTED)
    shift.execute()
    row = task(task_id)
    assert (row.status, row.error["type"], row.error["retryable"]) == ("failed", "TASK_UPSTREAM_ERROR", True)
    assert row.attempt == 0


@pytest.mark.parametrize("submit", [picture, film])
def test_a_paid_call_that_succeeds_ends_its_channels_row_of_faults(
    shift, key, image_model, video_model, image_channel, video_channel, submit
):
    both = (image_channel, video_channel)
    for channel in both:
        refuse(channel.credentials.get(), ErrorKind.TRANSIENT)
    assert shift.work(submit(key, "a fox")) == "succeeded"
    other = video_channel if submit is picture else image_channel
    assert dict(ChannelHealth.objects.values_list("channel", "cooldowns")) == {
        channel.pk: int(channel == other) for channel in both
    }


@pytest.mark.parametrize("status", [401, 402])
def test_a_channel_is_disabled_by_the_answer_to_a_paid_call(shift, key, image_model, image_channel, sandbox, status):
    outage(sandbox, path="/openai/", status=status, times=1)
    assert shift.work(picture(key, "a fox")) == "TASK_UPSTREAM_ERROR"
    row = image_channel.credentials.get()
    assert row.disabled_at is not None
    assert str(status) in row.reason


@pytest.mark.parametrize("status", [401, 429])
def test_a_refused_credential_is_followed_at_once_by_another_of_its_channel(
    shift, key, image_model, pair, spare, sandbox, status
):
    outage(sandbox, path="/openai/", status=status, times=1)
    task_id = picture(key, "a fox")
    assert (shift.execute(), shift.execute()) == (1, 1)
    assert (task(task_id).status, task(task_id).requeues) == ("succeeded", 0)
    assert channels_of(task_id) == ["studio", "studio"]
    taken = set(Call.objects.filter(task_id=task_id).values_list("credential_id", flat=True))
    assert taken == {row.pk for row in pair}


@pytest.mark.parametrize(("status", "without_any"), [(401, ["studio"]), (429, [])])
def test_a_credential_that_no_key_opens_is_no_other(shift, key, image_model, pair, spare, sandbox, status, without_any):
    Credential.objects.filter(pk=pair[1].pk).update(ciphertext="unreadable")
    outage(sandbox, path="/openai/", status=status, times=1)
    task_id, expected = picture(key, "a fox"), ["studio", *without_any, "spare"]
    assert [shift.execute() for _ in expected] == [1] * len(expected)
    assert channels_of(task_id) == expected  # without a credential nothing leaves us


def test_a_busy_route_is_waited_for_when_the_last_open_one_is_disabled(
    shift, key, image_model, image_channel, spare, sandbox
):
    outage(sandbox, path="/openai/", status=429, times=1)
    task_id = picture(key, "a fox")
    assert shift.execute() == 1
    refuse(spare.credentials.get(), ErrorKind.AUTH)
    assert shift.execute() == 0
    assert task(task_id).status == "queued"
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "studio"]


def test_a_task_that_a_route_refused_does_not_go_back_to_it_for_want_of_others(
    shift, key, image_model, image_channel, spare, sandbox
):
    outage(sandbox, path="/openai/", status=404, times=1)
    task_id = picture(key, "a fox")
    assert shift.execute() == 1
    refuse(spare.credentials.get(), ErrorKind.AUTH)
    shift.execute()
    assert (task(task_id).status, task(task_id).error["type"]) == ("failed", "TASK_UPSTREAM_ERROR")
    assert channels_of(task_id) == ["studio"]


def test_a_credential_that_the_provider_takes_again_is_enabled_by_a_probe(
    shift, key, image_model, image_channel, caplog
):
    refuse(image_channel.credentials.get(), ErrorKind.AUTH)
    assert not probes.probe_one()
    make_due()
    assert probes.probe_one()
    assert health.unusable()[0] == frozenset()
    assert "passed its probe and is enabled again" in caplog.text
    assert not probes.probe_one()
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert call(task_id).credential_id == image_channel.credentials.get().pk


def test_a_credential_that_is_still_refused_stays_disabled(image_model, image_channel, sandbox):
    refuse(image_channel.credentials.get(), ErrorKind.AUTH, code="before")
    make_due()
    outage(sandbox, path="/openai/", status=401, times=1)
    assert probes.probe_one()
    row = image_channel.credentials.get()
    assert (row.reason, row.probes) == ("auth before: No.", 1)
    assert health.unusable()[0] == {image_channel.pk}
    assert not probes.probe_one()


def test_a_probe_uses_the_very_credential_and_no_other(image_channel, pair):
    refuse(pair[0], ErrorKind.AUTH)
    Credential.objects.filter(pk=pair[0].pk).update(ciphertext="unreadable")
    make_due()
    assert probes.probe_one()
    assert Credential.objects.get(pk=pair[0].pk).disabled_at is not None


def test_a_probe_of_an_adapter_that_is_gone_fails(image_channel):
    Channel.objects.filter(pk=image_channel.pk).update(adapter="vanished")
    refuse(image_channel.credentials.get(), ErrorKind.AUTH)
    make_due()
    assert probes.probe_one()
    assert health.unusable()[0] == {image_channel.pk}


def test_of_many_workers_one_probes(image_channel):
    refuse(image_channel.credentials.get(), ErrorKind.AUTH)
    make_due()
    assert sorted(steps.at_once([probes.probe_one] * 4)) == [False, False, False, True]
