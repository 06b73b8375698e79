"""Pause, drain and resume at the desk."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from catalog import pausing
from catalog.models import Channel
from tests.rows import make_task

pytestmark = pytest.mark.django_db


def page(channel: Channel, name: str) -> str:
    return reverse("admin:catalog_channel_do", args=[channel.pk, name])


def test_each_button_says_what_it_will_do_does_it_and_writes_why(desk, image_channel, key):
    make_task(key, "running", channel=image_channel)
    assert "1 task there now" in desk.get(page(image_channel, "pause")).content.decode()
    for name, standing in (("pause", "paused"), ("drain", "drained"), ("resume", "on")):
        answer = desk.post(page(image_channel, name), {"reason": f"because of {name}"})
        assert answer.status_code == 302
        image_channel.refresh_from_db()
        assert pausing.standing(image_channel) == standing
        assert LogEntry.objects.first().change_message == f"Channel studio is now {standing}. because of {name}"


def test_only_what_changes_anything_is_offered_and_a_second_press_does_nothing(desk, image_channel):
    change = reverse("admin:catalog_channel_change", args=[image_channel.pk])
    assert page(image_channel, "resume") not in desk.get(change).content.decode()
    pausing.pause(image_channel)
    shown = desk.get(change).content.decode()
    assert page(image_channel, "resume") in shown
    assert page(image_channel, "pause") not in shown
    since = Channel.objects.get().standing_since
    assert "already paused" in desk.post(page(image_channel, "pause"), {"reason": "again"}).content.decode()
    assert Channel.objects.get().standing_since == since


def test_a_model_is_paused_on_its_own_page_and_the_lists_tell(desk, image_model, image_channel):
    page_of_model = reverse("admin:catalog_mediamodel_do", args=[image_model.pk, "pause"])
    assert page_of_model in desk.get(reverse("admin:catalog_mediamodel_change", args=[image_model.pk])).content.decode()
    assert desk.post(page_of_model, {"reason": "it is dear today"}).status_code == 302
    image_model.refresh_from_db()
    assert pausing.standing(image_model) == "paused"
    pausing.drain(image_channel)
    assert "drained since 20" in desk.get(reverse("admin:catalog_channel_changelist")).content.decode()
