"""The groups that come with the migrations, and what each may do."""

import importlib

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from accounts import keys
from accounts.models import Group as KeysGroup
from catalog.models import Credential
from tasks.models import ServiceState
from tests.desk.sensitive import DEEDS, GUARDED, make_rows

pytestmark = pytest.mark.django_db

MAY = {
    "viewer": set(),
    "operator": {name for name in GUARDED if name not in ("credit", "refund")},
    "finance": {"credit", "refund"},
}
migration = importlib.import_module("desk.migrations.0001_initial")


@pytest.fixture(autouse=True)
def rows(acme_key, image_channel):
    make_rows(image_channel)
    keys.disable(acme_key.record)


@pytest.fixture
def member():
    """Makes a browser of somebody in the group."""

    def member(group):
        user = User.objects.create_user(f"a-{group}", is_staff=True)
        user.groups.add(Group.objects.get(name=group))
        client = Client()
        client.force_login(user)
        return client

    return member


@pytest.mark.parametrize("name", DEEDS)
@pytest.mark.parametrize("group", MAY)
def test_each_group_may_do_its_own_and_nothing_else(member, group, name):
    DEEDS[name].attempt(member(group))
    assert DEEDS[name].is_done() == (name in MAY[group])


@pytest.mark.parametrize("group", MAY)
def test_everybody_may_look_at_every_row_but_users(member, group):
    client = member(group)
    parts_of_other_pages = {"credential", "channelmodel", "route", "deliveryattempt", "groupoffer", "groupchannel"}
    for app, models in migration.SEEN.items():
        for model in set(models) - parts_of_other_pages:
            assert client.get(reverse(f"admin:{app}_{model}_changelist")).status_code == 200, model
    keys_group = client.get(reverse("admin:accounts_group_change", args=[KeysGroup.objects.get().pk]))
    assert "text-1" in keys_group.content.decode()
    assert client.get(reverse("admin:auth_user_changelist")).status_code == 403
    page = client.get(DEEDS["credential"].page()).content.decode()
    assert "…1234" in page
    assert not [row for row in Credential.objects.all() if row.ciphertext in page]


@pytest.mark.parametrize(("group", "may"), [("viewer", False), ("operator", True), ("finance", False)])
def test_an_operator_pauses_the_service_and_changes_the_catalog(member, group, may):
    client = member(group)
    switches = {"paused": "on", "message": "", "retry_after_seconds": "60"}
    client.post(reverse("admin:tasks_servicestate_change", args=[1]), switches)
    assert ServiceState.objects.get().paused == may
    answer = client.post(reverse("admin:catalog_plan_add"), {"name": "pro", "price_multiplier": "2", **no_routes()})
    assert answer.status_code == (302 if may else 403)


def no_routes():
    return {"routes-TOTAL_FORMS": "0", "routes-INITIAL_FORMS": "0"}


def test_the_permissions_are_those_that_django_makes():
    made = {(p.content_type.app_label, p.codename): p.name for p in Permission.objects.all()}
    for model in apps.get_models():
        options = model._meta
        for action in options.default_permissions:
            assert made[options.app_label, f"{action}_{options.model_name}"] == f"Can {action} {options.verbose_name}"
        for codename, name in options.permissions:
            assert made[options.app_label, codename] == name


def test_a_group_that_stands_there_already_is_left_alone():
    own = Group.objects.get(name="viewer")
    own.permissions.clear()
    Group.objects.get(name="finance").delete()
    migration.create_groups(apps, None)
    assert not own.permissions.exists()
    assert Group.objects.get(name="finance").permissions.count() == len(migration.FINANCE)
    assert Group.objects.count() == 3


@pytest.mark.parametrize("group", ["viewer", "operator", "finance"])
def test_every_group_sees_relayed_calls(member, group):
    browser = member(group)
    for model in ("relayedcall", "relayusage", "webprocess"):
        assert browser.get(reverse(f"admin:billing_{model}_changelist")).status_code == 200, model
