"""Look-up of accounts and keys by command arguments, and their representation in answers."""

import re

from django.core.management.base import CommandError
from django.db.models import Q

from accounts.models import Account, ApiKey
from common import moments, money
from desk.commands import budget_words
from desk.commands.command import refusal, text, whole
from tasks.models import ServiceState


def account(argument: str, name: object, *, lock: bool = False) -> Account:
    """Find an account by name; `lock` locks its row for the caller's transaction. Raises CommandError."""
    accounts = Account.objects.select_for_update(no_key=True) if lock else Account.objects.all()
    found = accounts.filter(name=text(argument, name, at_most=200)).first()
    if found is None:
        raise refusal(argument, name, "is not the name of an account")
    return found


def key(argument: str, key_id: object) -> ApiKey:
    """Find a key by id. Raises CommandError."""
    found = ApiKey.objects.filter(pk=whole(argument, key_id, at_least=1, at_most=2**63 - 1)).first()
    if found is None:
        raise CommandError(f"{argument}: there is no key {key_id}")
    return found


def named_key(argument: str, name: object) -> ApiKey:
    """Find a key by name or id, with its account. Raises CommandError if there is none or more than one."""
    given = text(argument, name, at_most=200)
    is_id = re.fullmatch(r"[0-9]{1,18}", given) is not None
    meant = Q(name=given) | Q(pk=int(given)) if is_id else Q(name=given)
    found = list(ApiKey.objects.filter(meant).select_related("account")[:2])
    if not found:
        raise refusal(argument, name, "is neither the name nor the id of a key")
    if len(found) > 1:
        raise refusal(argument, name, "means several keys: give the id")
    return found[0]


def show_account(account: Account) -> dict[str, object]:
    return {
        "id": account.pk,
        "name": account.name,
        "billing": account.billing,
        "balance": money.usd(account.balance_micros),
        "held": money.usd(account.held_micros),
        "max_queued": account.max_queued,
        "max_running": account.max_running,
        "budget": budget_words.show(account),
    }


def show_key(key: ApiKey) -> dict[str, object]:
    """Represent a key without its secrets."""
    return {
        "id": key.pk,
        "account": key.account.name,
        "name": key.name,
        "binding": key.binding,
        "group": key.group.name if key.group else None,
        "task_api": key.task_api,
        "videos_api": key.videos_api,
        "max_queued": key.max_queued,
        "max_running": key.max_running,
        "budget": budget_words.show(key),
        "expires_at": moments.iso(key.expires_at, timespec="auto"),
        "disabled": key.disabled_at is not None,
    }


def show_service(state: ServiceState) -> dict[str, object]:
    return {
        "paused": state.paused,
        "message": state.message,
        "retry_after": state.retry_after_seconds,
        "api_disabled": state.api_disabled,
    }
