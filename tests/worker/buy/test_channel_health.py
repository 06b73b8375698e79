"""Channels that fail: credentials in turn, tasks that wait or fail with their channels, and the way back by a probe."""

from dataclasses import replace

import pytest

from adapters.base import ErrorKind, Target
from catalog import connections, credentials
from catalog.health import probing, states
from catalog.models import Channel, ChannelHealth, Credential
from common import sql
from tasks.models import Call
from tests.refusing import disable, refuse
from tests.rows import add_credential, make_channel, make_route
from tests.tasks import steps
from tests.worker.driving import call, channels_of, film, outage, picture, task

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


def make_due() -> None:
    """The probes' time has come."""
    sql.run(f"UPDATE catalog_credential SET probe_at = {sql.now()} WHERE probe_at IS NOT NULL")


def test_credentials_take_turns(image_channel, pair):
    first, second = (row.pk for row in pair)
    assert used(image_channel) in ([first, second] * 2, [second, first] * 2)


def test_what_rests_comes_last_and_what_is_disabled_is_left_out_of_the_turns(image_channel, pair):
    first, second = pair
    assert [connected(image_channel, last={first.pk})[0] for _ in range(4)] == [second.pk] * 4
    assert connected(image_channel, last={first.pk, second.pk})[0] in (first.pk, second.pk)
    disable(second)
    assert used(image_channel) == [first.pk] * 4


def test_a_credential_that_no_key_opens_is_left_out_of_the_turns(image_channel, pair):
    Credential.objects.filter(pk=pair[0].pk).update(ciphertext="unreadable")
    assert used(image_channel) == [pair[1].pk] * 4


def test_a_job_is_followed_with_the_credential_that_bought_it(image_channel, pair):
    disable(pair[0])
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
    disable(image_channel.credentials.get())
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
    disable(image_channel.credentials.get())
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


def test_a_credential_is_disabled_where_a_probe_confirms_what_a_paid_call_was_told(
    shift, key, image_model, image_channel, sandbox
):
    outage(sandbox, path="/openai/", status=401, times=2)
    assert shift.work(picture(key, "a fox")) == "TASK_UPSTREAM_ERROR"
    row = image_channel.credentials.get()
    assert row.disabled_at is not None
    assert row.reason.startswith("auth 401: ")
    assert "; a probe confirmed it: " in row.reason


def test_a_credential_whose_probe_passes_stays_in_use(shift, key, image_model, image_channel, sandbox):
    outage(sandbox, path="/openai/", status=401, times=1)
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    row = image_channel.credentials.get()
    assert (row.disabled_at, row.suspected_at) == (None, None)
    assert channels_of(task_id) == ["studio", "studio"]


def test_an_account_without_credit_is_waited_for_and_its_credential_stays_in_use(
    shift, key, image_model, image_channel, sandbox
):
    outage(sandbox, path="/openai/", status=402, times=2)
    first = picture(key, "a fox")
    assert (shift.execute(), shift.execute()) == (1, 0)
    steps.age(first, "not_before", -1)
    assert shift.execute() == 1
    assert (task(first).status, image_channel.credentials.get().disabled_at) == ("queued", None)
    assert shift.work(first) == "succeeded"


def test_a_bare_403_without_another_channel_ends_the_task_and_disables_nothing(
    shift, key, image_model, image_channel, sandbox
):
    outage(sandbox, path="/openai/", status=403, times=1)
    assert shift.work(picture(key, "a fox")) == "TASK_UPSTREAM_REJECTED"
    row = image_channel.credentials.get()
    assert (row.disabled_at, row.suspected_at) == (None, None)
    assert shift.work(picture(key, "another fox")) == "succeeded"


def test_a_bare_403_is_followed_by_each_other_credential_and_then_by_the_next_channel(
    shift, key, image_model, pair, spare, sandbox
):
    outage(sandbox, path="/openai/", status=403, times=2)
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == ["studio", "studio", "spare"]
    taken = Call.objects.filter(task_id=task_id, channel__name="studio").values_list("credential_id", flat=True)
    assert set(taken) == {row.pk for row in pair}


def test_one_call_tries_a_model_that_rested(shift, key, image_model, image_channel, sandbox):
    for _ in range(2):
        refuse(image_channel.credentials.get(), ErrorKind.MODEL_UNAVAILABLE, account=key.account.pk)
    tasks = [picture(key, f"fox {number}") for number in range(3)]
    assert shift.execute() == 0
    sql.run(f"UPDATE catalog_rest SET until = {sql.now()} WHERE until IS NOT NULL")
    assert shift.execute() == 1
    assert sorted(task(task_id).status for task_id in tasks) == ["queued", "queued", "succeeded"]
    assert shift.execute() == 2
    assert {task(task_id).status for task_id in tasks} == {"succeeded"}


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


@pytest.mark.parametrize(("status", "then"), [(401, ["studio", "studio", "spare"]), (429, ["studio", "spare"])])
def test_a_credential_that_no_key_opens_is_no_other(shift, key, image_model, pair, spare, sandbox, status, then):
    Credential.objects.filter(pk=pair[1].pk).update(ciphertext="unreadable")
    outage(sandbox, path="/openai/v1/images", status=status, times=len(then) - 1)
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert channels_of(task_id) == then
    taken = Call.objects.filter(task_id=task_id, channel__name="studio").values_list("credential_id", flat=True)
    assert set(taken) == {pair[0].pk}


def test_a_busy_route_is_waited_for_when_the_last_open_one_is_disabled(
    shift, key, image_model, image_channel, spare, sandbox
):
    outage(sandbox, path="/openai/", status=429, times=1)
    task_id = picture(key, "a fox")
    assert shift.execute() == 1
    disable(spare.credentials.get())
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
    disable(spare.credentials.get())
    shift.execute()
    assert (task(task_id).status, task(task_id).error["type"]) == ("failed", "TASK_UPSTREAM_ERROR")
    assert channels_of(task_id) == ["studio"]


def test_a_credential_that_the_provider_takes_again_is_enabled_by_a_probe(
    shift, key, image_model, image_channel, caplog
):
    disable(image_channel.credentials.get())
    assert not probing.probe_due()
    make_due()
    assert probing.probe_due()
    assert states.unusable()[0] == frozenset()
    assert "passed its probe and is enabled again" in caplog.text
    assert not probing.probe_due()
    task_id = picture(key, "a fox")
    assert shift.work(task_id) == "succeeded"
    assert call(task_id).credential_id == image_channel.credentials.get().pk


def test_a_credential_that_is_still_refused_stays_disabled(image_model, image_channel, sandbox):
    disable(image_channel.credentials.get())
    make_due()
    outage(sandbox, path="/openai/", status=401, times=1)
    assert probing.probe_due()
    row = image_channel.credentials.get()
    assert (row.reason, row.probes) == ("auth: Bad key.", 1)
    assert states.unusable()[0] == {image_channel.pk}
    assert not probing.probe_due()


def test_a_probe_uses_the_very_credential_and_no_other(image_channel, pair):
    disable(pair[0])
    Credential.objects.filter(pk=pair[0].pk).update(ciphertext="unreadable")
    make_due()
    assert probing.probe_due()
    assert Credential.objects.get(pk=pair[0].pk).disabled_at is not None


def test_a_probe_of_an_adapter_that_is_gone_fails(image_channel):
    Channel.objects.filter(pk=image_channel.pk).update(adapter="vanished")
    disable(image_channel.credentials.get())
    make_due()
    assert probing.probe_due()
    assert states.unusable()[0] == {image_channel.pk}


def test_of_many_workers_one_probes(image_channel):
    disable(image_channel.credentials.get())
    make_due()
    assert sorted(steps.at_once([probing.probe_due] * 4)) == [False, False, False, True]
