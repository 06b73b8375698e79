"""What needs a right of its own and a fresh proof: each as a request, and whether it was done."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group as UserGroup
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from accounts.models import Account, ApiKey, Group, KeySecret
from billing import ledger
from billing.ledger import Reservation
from billing.models import LedgerEntry
from catalog.models import Channel, Credential, GroupChannel
from tasks.models import Task
from tests.billing.closing import Closing, close_holds
from tests.rows import IssuedKey, make_channel, make_task

SECRET = "a-secret-that-is-long-9876"
NO_CHOICES = {"plan_choices-TOTAL_FORMS": "0", "plan_choices-INITIAL_FORMS": "0"}


@dataclass(frozen=True, kw_only=True)
class Deed:
    """`right` is the permission of the desk that it needs, if any; `story` is what the history says of it."""

    page: Callable[[], str]
    fields: Callable[[], dict[str, str]]
    is_done: Callable[[], bool]
    right: str = ""
    story: str = ""

    def attempt(self, client: Client) -> Any:
        return client.post(self.page(), self.fields())


def page(name: str, model: Any = None) -> Callable[[], str]:
    return lambda: reverse(f"admin:{name}", args=[only(model).pk] if model else [])


def only(model: Any) -> Any:
    """The one row; of channels and their credentials that of tasks."""
    if model is Channel:
        return Channel.objects.get(group_link=None)
    return Credential.objects.get(channel__group_link=None) if model is Credential else model.objects.get()


def groups_channel() -> Channel:
    return Channel.objects.exclude(group_link=None).get()


def channel_fields(channel: Channel | None = None, **inline: str) -> dict[str, str]:
    channel = channel or only(Channel)
    row = channel.credentials.get()
    return {
        "name": channel.name,
        "adapter": channel.adapter,
        "base_url": channel.base_url,
        "enabled": "on",
        "credentials-TOTAL_FORMS": "1",
        "credentials-INITIAL_FORMS": "1",
        "credentials-0-id": str(row.pk),
        "credentials-0-channel": str(channel.pk),
        **{f"credentials-0-{name}": value for name, value in inline.items()},
    }


def key_fields() -> dict[str, str]:
    account = str(Account.objects.get().pk)
    limits = {"max_queued": "1", "max_running": "1"}
    return {"account": account, "name": "app", "binding": "task", "reason": "order 12", **limits, **NO_CHOICES}


def selected(model: Any, action: str, **fields: str) -> dict[str, str]:
    return {"action": action, "_selected_action": str(only(model).pk), **fields}


CREDIT = {"amount": "2.50", "reason": "invoice 7", "reference": f"credit-{'0' * 32}"}
DEEDS = {
    "credit": Deed(
        right="book_money",
        page=page("accounts_account_credit", Account),
        fields=lambda: CREDIT,
        is_done=lambda: LedgerEntry.objects.filter(reference=CREDIT["reference"]).exists(),
        story="Booked $2.50: invoice 7",
    ),
    "refund": Deed(
        right="refund_tasks",
        page=lambda: reverse("admin:tasks_task_do", args=[only(Task).pk, "refund"]),
        fields=lambda: {"amount": "0.01", "reason": "black"},
        is_done=lambda: LedgerEntry.objects.filter(kind="refund").exists(),
        story="Refunded $0.01. black",
    ),
    "issue": Deed(
        right="issue_keys",
        page=page("accounts_apikey_add"),
        fields=key_fields,
        is_done=lambda: ApiKey.objects.filter(name="app").exists(),
        story="Issued: order 12",
    ),
    "rotate": Deed(
        right="rotate_keys",
        page=page("accounts_apikey_rotate", ApiKey),
        fields=lambda: {"grace_seconds": "0", "reason": "leaked"},
        is_done=lambda: KeySecret.objects.count() == 2,
        story="Rotated, 0 s of grace: leaked",
    ),
    "enable": Deed(
        right="issue_keys",
        page=page("accounts_apikey_changelist"),
        fields=lambda: selected(ApiKey, "enable"),
        is_done=lambda: ApiKey.objects.get(name="key-1").disabled_at is None,
        story="Enabled.",
    ),
    "enable on its page": Deed(
        right="issue_keys",
        page=lambda: reverse("admin:accounts_apikey_do", args=[ApiKey.objects.get().pk, "enable"]),
        fields=lambda: {"reason": "was not leaked"},
        is_done=lambda: ApiKey.objects.get(name="key-1").disabled_at is None,
        story="Enabled. was not leaked",
    ),
    "credential": Deed(
        right="change_credentials",
        page=page("catalog_channel_change", Channel),
        fields=lambda: channel_fields(secret=SECRET, change_reason="renewed"),
        is_done=lambda: Credential.objects.filter(last4="9876").exists(),
        story="Credential …9876 entered: renewed",
    ),
    "switch": Deed(
        right="change_credentials",
        page=page("catalog_channel_change", Channel),
        fields=lambda: channel_fields(switch="disable", change_reason="leaked"),
        is_done=lambda: only(Credential).disabled_at is not None,
        story="Credential …1234 disabled: leaked",
    ),
    "credential's end": Deed(
        right="change_credentials",
        page=page("catalog_channel_change", Channel),
        fields=lambda: channel_fields(DELETE="on", change_reason="contract ended"),
        is_done=lambda: not only(Channel).credentials.exists(),
        story="Deleted credential …1234: contract ended",
    ),
    "channel's end": Deed(
        right="change_credentials",
        page=page("catalog_channel_delete", Channel),
        fields=lambda: {"post": "yes"},
        is_done=lambda: not Channel.objects.filter(group_link=None).exists(),
    ),
    "channels' end": Deed(
        right="change_credentials",
        page=page("catalog_channel_changelist"),
        fields=lambda: selected(Channel, "delete_selected", post="yes"),
        is_done=lambda: not Channel.objects.filter(group_link=None).exists(),
    ),
    "group's channel": Deed(
        right="change_credentials",
        page=lambda: reverse("admin:catalog_channel_change", args=[groups_channel().pk]),
        fields=lambda: channel_fields(groups_channel(), secret=SECRET, change_reason="renewed"),
        is_done=lambda: groups_channel().credentials.filter(last4="9876").exists(),
        story="Credential …9876 entered: renewed",
    ),
    "user": Deed(
        page=page("auth_user_add"),
        fields=lambda: {"username": "eve", "usable_password": "true", "password1": SECRET, "password2": SECRET},
        is_done=lambda: User.objects.filter(username="eve").exists(),
    ),
    "user's password": Deed(
        page=lambda: reverse("admin:auth_user_password_change", args=[User.objects.get().pk]),
        fields=lambda: {"usable_password": "true", "password1": SECRET, "password2": SECRET},
        is_done=lambda: User.objects.get().check_password(SECRET),
    ),
    "users' group": Deed(
        page=page("auth_group_add"),
        fields=lambda: {"name": "everything"},
        is_done=lambda: UserGroup.objects.filter(name="everything").exists(),
    ),
}
GUARDED = {name: deed for name, deed in DEEDS.items() if deed.right}
TOLD = {name: deed for name, deed in DEEDS.items() if deed.story}


def make_rows(channel: Channel) -> None:
    """Beside an account with a key: a charged task, a channel with a credential, and one of a group."""
    assert channel.credentials.count() == 1
    task = make_task(IssuedKey(record=ApiKey.objects.get(), secret=""), estimated_micros=40_000, actual_micros=40_000)
    ledger.reserve([Reservation(reference=task.pk, account_id=task.account_id, amount_micros=40_000)])
    close_holds([Closing(reference=task.pk, account_id=task.account_id, actual_micros=40_000)])
    group = Group.objects.create(name="text", platform="openai")
    GroupChannel.objects.create(group=group, channel=make_channel("text-1", "openai_relay", "https://llm.example/v1"))


def browser(*rights: str) -> Client:
    """Of somebody who may do all that Django knows to all rows; of the desk's rights only these."""
    user = User.objects.create_user(f"user-{User.objects.count()}", is_staff=True)
    general = Permission.objects.exclude(content_type__app_label__in=["desk", "auth"])
    user.user_permissions.set([*general, *Permission.objects.filter(content_type__model="right", codename__in=rights)])
    client = Client()
    client.force_login(user)
    return client
