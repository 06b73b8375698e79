"""Deliveries in the admin."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.callbacks import steps

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    return client


def send_again(client: Client, task_id: str):
    chosen = {"action": "send_again", "_selected_action": [f"{task_id}.1"]}
    return client.post("/admin/callbacks/delivery/", chosen, follow=True)


def test_the_page_shows_every_attempt_and_what_the_receiver_said(operator, owed):
    task_id = owed()
    steps.attempted(503, duration_ms=1234, excerpt="<b>no & dr-task-0123456789abcdef</b>")
    page = operator.get(f"/admin/callbacks/delivery/{task_id}.1/change/").content.decode()
    assert "&lt;b&gt;no &amp;" in page
    assert "dr-task-0123456789abcdef" not in page
    assert "1234" in page


def test_a_delivery_is_sent_again_from_the_list(operator, owed):
    task_id = owed()
    steps.attempted(200)
    page = send_again(operator, task_id)
    assert "1 callback will be sent now." in page.content.decode()
    assert steps.attempted(200).number == 2
    assert LogEntry.objects.get().object_id == f"{task_id}.1"


def test_who_may_only_look_cannot_send(owed):
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_delivery"))
    client = Client()
    client.force_login(viewer)
    task_id = owed()
    steps.attempted(200)
    assert send_again(client, task_id).status_code == 200
    assert steps.claimed() == ()


def test_nothing_can_be_added_changed_or_deleted(operator, owed):
    task_id = owed()
    assert operator.get("/admin/callbacks/delivery/add/").status_code == 403
    assert operator.post(f"/admin/callbacks/delivery/{task_id}.1/change/", {"status": "delivered"}).status_code == 403
    assert operator.post(f"/admin/callbacks/delivery/{task_id}.1/delete/", {"post": "yes"}).status_code == 403
    assert steps.state(task_id) == ("pending", 0)
