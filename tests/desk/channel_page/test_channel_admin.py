"""Channels in the admin keep what the jobs that were bought with them still need."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog import snapshot
from catalog.models import Channel, Credential
from tasks import lifecycle, paid_calls
from tasks.failures import Failure
from tasks.lifecycle import Ending
from tasks.models import Call
from tasks.paid_calls import CallEnd
from tasks.unknown import resolve
from tests.desk.sensitive import channel_fields
from tests.tasks import steps

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def followed(key: Any, video_model: Any) -> Call:
    """A paid job that a worker still follows."""
    worker = steps.worker()
    task = steps.start(key, worker, steps.VIDEO)
    channel = Channel.objects.get(pk=snapshot.latest().route(task.route_id).channel.id)
    fields = {"channel_id": channel.pk, "credential_id": channel.credentials.get().pk}
    (intended,) = steps.intend(steps.intent(task, worker, **fields))
    paid_calls.accept(intended.id, {"id": "job-1"}, poll_after=60)
    return Call.objects.select_related("channel", "credential").get(pk=intended.id)


def end(call: Call) -> None:
    """The task fails, and with it ends its job."""
    over = CallEnd(id=call.pk, state="done", outcome={"kind": "provider_failed"})
    failure = Failure(type="TASK_UPSTREAM_ERROR", message="It failed.", retryable=True)
    ending = Ending(
        task_id=call.task_id, from_status="running", attempt=1, status="failed", failure=failure, calls=(over,)
    )
    assert lifecycle.end([ending])


def delete_selected(operator: Client, channel: Channel) -> None:
    fields = {"action": "delete_selected", "_selected_action": [channel.pk], "post": "yes"}
    operator.post(reverse("admin:catalog_channel_changelist"), fields)


def test_a_channel_whose_jobs_are_followed_is_not_deleted(operator, followed):
    page = reverse("admin:catalog_channel_delete", args=[followed.channel_id])
    assert "its jobs are still followed: disable it instead" in operator.get(page).content.decode()
    operator.post(page, {"post": "yes"})
    delete_selected(operator, followed.channel)
    assert Call.objects.get(pk=followed.pk).channel_id == followed.channel_id


def test_a_channel_without_jobs_is_deleted(operator, followed):
    end(followed)
    delete_selected(operator, followed.channel)
    assert not Channel.objects.filter(pk=followed.channel_id).exists()


def deletion() -> dict[str, str]:
    return channel_fields(DELETE="on", change_reason="leaked")


def test_a_credential_whose_jobs_are_followed_is_not_deleted(operator, followed):
    page = reverse("admin:catalog_channel_change", args=[followed.channel_id])
    answer = operator.post(page, deletion())
    assert "jobs that it bought are still followed, or their outcome is unknown" in answer.content.decode()
    assert Call.objects.get(pk=followed.pk).credential_id == followed.credential_id
    end(followed)
    assert operator.post(page, deletion()).status_code == 302
    assert not Credential.objects.exists()


def test_a_channel_is_saved_without_a_look_at_all_paid_calls(operator, followed):
    page = reverse("admin:catalog_channel_change", args=[followed.channel_id])
    with steps.captured() as statements:
        assert operator.post(page, channel_fields(followed.channel) | {"max_running": "7"}).status_code == 302
    assert Channel.objects.get(pk=followed.channel_id).max_running == 7
    assert not [each for each in statements if "tasks_call" in each]


def test_a_credential_is_not_deleted_before_what_it_perhaps_bought_is_settled(operator, followed):
    end(followed)
    Call.objects.filter(pk=followed.pk).update(state="unknown", outcome={"kind": "crash"})
    page = reverse("admin:catalog_channel_change", args=[followed.channel_id])
    operator.post(page, deletion())
    assert Call.objects.get(pk=followed.pk).credential_id == followed.credential_id
    resolve.mark_lost(followed.pk, by="ada")
    operator.post(page, deletion())
    assert not Credential.objects.exists()
