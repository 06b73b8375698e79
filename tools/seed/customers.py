"""Describes the history's two customers: their keys, their callback receivers and their habits."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

from accounts import keys
from accounts.models import Account, ApiKey, Group
from catalog.models import MediaModel, Plan, PlanChoice

DISABLED_BEFORE_END = timedelta(days=5)
GENERAL = ApiKey.Binding.GENERAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """A key to create: its share of all tasks, its share of films, and where its callbacks go. A key with a `group` is
    a general one, and submits no tasks."""

    name: str
    share: float = 0.0
    films: float = 0.0
    callback_url: str | None = None
    plan: str = ""
    group: str = ""
    is_disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """An account to open; it is topped up by `refill_micros` whenever its balance runs low."""

    name: str
    refill_micros: int
    habits: Sequence[Habit] = field(default_factory=list)


NORTHLIGHT = Customer(
    name="Northlight Studio",
    refill_micros=250_000_000,
    habits=[
        Habit(name="web", share=0.42, films=0.12, callback_url="https://hooks.northlight.example/media"),
        Habit(name="batch", share=0.26, plan="bulk"),
        Habit(name="staging", share=0.05, films=0.2, is_disabled=True),
        Habit(name="assistant", group="text"),
    ],
)
HARBOR = Customer(
    name="Harbor Films",
    refill_micros=400_000_000,
    habits=[
        Habit(name="production", share=0.19, films=0.7, callback_url="https://api.harborfilms.example/hooks/media"),
        Habit(name="trailers", share=0.08, films=0.9, plan="premium"),
        Habit(name="writer", group="claude"),
    ],
)
CUSTOMERS = (NORTHLIGHT, HARBOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedCaller:
    """A key with its account, its newest secret in plain text, and the time of its disabling."""

    habit: Habit
    account_id: int
    key: ApiKey
    secret_id: int
    secret: str

    @property
    def disabled_at(self) -> datetime | None:
        return self.key.disabled_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """An existing account."""

    customer: Customer
    account: Account
    callers: tuple[SeedCaller, ...]


def open_accounts(since: datetime, until: datetime) -> list[Payer]:
    """Opens the accounts with their keys; their money comes with the history."""
    return [_open(customer, since, until) for customer in CUSTOMERS]


def _open(customer: Customer, since: datetime, until: datetime) -> Payer:
    account = Account.objects.create(name=_free(customer.name))
    Account.objects.filter(pk=account.pk).update(created_at=since)
    groups = set(Group.objects.values_list("name", flat=True))
    habits = [habit for habit in customer.habits if not habit.group or habit.group in groups]
    callers = tuple(_caller(account, habit, since, until) for habit in habits)
    return Payer(customer=customer, account=account, callers=callers)


def _free(name: str) -> str:
    """Returns the name, or with a number the first that no account has."""
    taken = set(Account.objects.filter(name__startswith=name).values_list("name", flat=True))
    return name if name not in taken else next(new for n in count(2) if (new := f"{name} {n}") not in taken)


def _caller(account: Account, habit: Habit, since: datetime, until: datetime) -> SeedCaller:
    key = ApiKey.objects.create(
        account=account,
        name=habit.name,
        binding=GENERAL if habit.group else ApiKey.Binding.TASK,
        group=Group.objects.get(name=habit.group) if habit.group else None,
        task_api=not habit.group,
        videos_api=not habit.group,
        disabled_at=max(since, until - DISABLED_BEFORE_END) if habit.is_disabled else None,
    )
    ApiKey.objects.filter(pk=key.pk).update(created_at=since)
    secret = keys.issue(key)
    key.secrets.update(created_at=since)
    if habit.plan:
        model, plan = MediaModel.objects.get(name="aurora-image"), Plan.objects.get(name=habit.plan)
        PlanChoice.objects.create(key=key, model=model, plan=plan)
    return SeedCaller(habit=habit, account_id=account.pk, key=key, secret_id=key.secrets.get().pk, secret=secret)


def submitter(rng: random.Random, callers: Sequence[SeedCaller], at: datetime) -> SeedCaller:
    """Chooses the key of the next task; a disabled key submits none."""
    able = [each for each in callers if each.habit.share and (each.disabled_at is None or at < each.disabled_at)]
    return rng.choices(able, [each.habit.share for each in able])[0]
