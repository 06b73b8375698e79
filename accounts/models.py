"""Who may call and who pays: accounts, their API keys and the groups that general keys belong to."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from common.database.kept_columns import KeptColumns


class BudgetHolder(KeptColumns, models.Model):
    """What an account or a key may spend in a UTC day and month, in micro-USD; null: no limit. Only
    `billing/budgets.py` sets them."""

    budget_day_micros = models.PositiveBigIntegerField(null=True, editable=False)
    budget_month_micros = models.PositiveBigIntegerField(null=True, editable=False)
    KEPT: ClassVar[tuple[str, ...]] = ("budget_day_micros", "budget_month_micros")

    class Meta:
        abstract = True


class Account(BudgetHolder):
    """A payer. `available = balance − held`; only `billing/ledger.py` moves either figure. `has_budgets`: it or one of
    its keys has one. `live_at_most`: no fewer than its queued and running tasks (`tasks/intake/limits.py`); null:
    unknown."""

    class Billing(models.TextChoices):
        BALANCE = "balance"
        SUBSCRIPTION = "subscription"

    name = models.CharField(max_length=200, unique=True)
    billing = models.CharField(max_length=20, choices=Billing, default=Billing.BALANCE)
    balance_micros = models.BigIntegerField(default=0, editable=False)
    held_micros = models.BigIntegerField(default=0, editable=False)
    max_queued = models.PositiveIntegerField(default=200)
    max_running = models.PositiveIntegerField(default=50)
    has_budgets = models.BooleanField(default=False, db_default=False, editable=False)
    live_at_most = models.BigIntegerField(null=True, default=0, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    KEPT = (*BudgetHolder.KEPT, "balance_micros", "held_micros", "has_budgets", "live_at_most")

    class Meta:
        constraints = [
            models.CheckConstraint(name="account_held_not_negative", condition=models.Q(held_micros__gte=0)),
            models.CheckConstraint(
                name="account_billing_known", condition=models.Q(billing__in=["balance", "subscription"])
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Group(models.Model):
    """What a general key may call: one platform of the companion endpoints."""

    class Platform(models.TextChoices):
        OPENAI = "openai"
        ANTHROPIC = "anthropic"
        GEMINI = "gemini"

    name = models.CharField(max_length=200, unique=True)
    platform = models.CharField(max_length=20, choices=Platform)
    image_generation = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "key groups"

    def __str__(self) -> str:
        return self.name


class ApiKey(BudgetHolder):
    """An API key: its identity and limits. Its secrets live in KeySecret, so rotation keeps tasks and history."""

    class Binding(models.TextChoices):
        TASK = "task"
        GENERAL = "general"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="keys")
    name = models.CharField(max_length=200)
    binding = models.CharField(max_length=20, choices=Binding, default=Binding.TASK)
    group = models.ForeignKey(Group, on_delete=models.PROTECT, null=True, blank=True, related_name="keys")
    task_api = models.BooleanField("Task API enabled", default=True)
    videos_api = models.BooleanField("/v1/videos enabled", default=False, db_default=False)
    disabled_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    max_queued = models.PositiveIntegerField(default=100)
    max_running = models.PositiveIntegerField(default=20)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="key_name_per_account", fields=["account", "name"]),
            models.CheckConstraint(name="key_binding_known", condition=models.Q(binding__in=["task", "general"])),
        ]

    def __str__(self) -> str:
        return f"{self.account_id}/{self.name}"


class KeySecret(models.Model):
    """One secret of a key: a digest to look it up and a ciphertext to sign callbacks with it."""

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="secrets")
    digest = models.TextField(unique=True)
    ciphertext = models.TextField()
    last4 = models.CharField(max_length=4)
    retired_at = models.DateTimeField(null=True, blank=True, help_text="From this moment on it opens nothing.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"…{self.last4}"
