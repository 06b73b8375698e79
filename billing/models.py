"""Money in tables: holds of open subjects, the append-only ledger, and relayed calls, which end where their money
moves. Amounts are integer micro-USD."""

from django.db import models
from django.db.models.functions import Now


class Hold(models.Model):
    """The reservation of one subject (a task or a relayed call); it can be closed once."""

    class State(models.TextChoices):
        OPEN = "open"
        SETTLED = "settled"
        RELEASED = "released"

    reference = models.CharField(max_length=64, primary_key=True)
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, db_index=False, related_name="holds")
    key_id = models.BigIntegerField(null=True, help_text="The API key.")
    amount_micros = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.OPEN, db_default=State.OPEN)
    created_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)
    budget_day = models.DateField(
        null=True, help_text="The UTC day that it counts in for budgets; null: that of its creation."
    )

    class Meta:
        indexes = [models.Index(name="hold_open", fields=["account"], condition=models.Q(state="open"))]
        constraints = [
            models.CheckConstraint(name="hold_not_negative", condition=models.Q(amount_micros__gte=0)),
            models.CheckConstraint(
                name="hold_state_known", condition=models.Q(state__in=["open", "settled", "released"])
            ),
        ]

    def __str__(self) -> str:
        return self.reference


class BudgetSum(models.Model):
    """What an account or a key has spent in one UTC day or month: open holds as they are held, settled ones as they
    are charged. Kept where it has a budget (`billing/budget_sums.py`)."""

    holder = models.CharField(max_length=10)
    holder_id = models.BigIntegerField()
    period = models.CharField(max_length=10)
    starts_on = models.DateField()
    spent_micros = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(name="budget_sum_once", fields=["holder", "holder_id", "period", "starts_on"]),
            models.CheckConstraint(name="budget_sum_holder_known", condition=models.Q(holder__in=["account", "key"])),
            models.CheckConstraint(name="budget_sum_period_known", condition=models.Q(period__in=["day", "month"])),
        ]

    def __str__(self) -> str:
        return f"{self.holder} {self.holder_id} {self.period} {self.starts_on}"


class LedgerEntry(models.Model):
    """One leg of a booking; the legs of one (reference, kind) sum to zero. Triggers refuse every change."""

    class Kind(models.TextChoices):
        CREDIT = "credit"
        CHARGE = "charge"
        REFUND = "refund"

    class Book(models.TextChoices):
        CUSTOMER = "customer"
        REVENUE = "revenue"
        FUNDING = "funding"

    reference = models.CharField(max_length=64)
    kind = models.CharField(max_length=20, choices=Kind)
    book = models.CharField(max_length=20, choices=Book)
    account = models.ForeignKey(
        "accounts.Account", on_delete=models.PROTECT, null=True, db_index=False, related_name="entries"
    )
    amount_micros = models.BigIntegerField()
    reason = models.CharField(max_length=500, db_default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "ledger entries"
        indexes = [models.Index(name="entry_statement", fields=["account", "id"])]
        constraints = [
            models.UniqueConstraint(name="entry_once", fields=["reference", "kind", "book"]),
            models.CheckConstraint(name="entry_not_zero", condition=~models.Q(amount_micros=0)),
            models.CheckConstraint(
                name="entry_customer_has_account",
                condition=models.Q(book="customer", account__isnull=False)
                | (~models.Q(book="customer") & models.Q(account__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reference} {self.kind} {self.book} {self.amount_micros}"


class LedgerSeal(models.Model):
    """A SHA-256 over the ledger's entries after the seal before, up to one that was settled; chained to that seal.
    Triggers refuse every change."""

    number = models.BigIntegerField(unique=True)
    last_entry_id = models.BigIntegerField()
    entries = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"seal {self.number}"


class LedgerHead(models.Model):
    """One row once the ledger is sealed: the number and the hash of its last seal, so that none is removed unseen."""

    number = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"seal {self.number}"


class WebProcess(models.Model):
    """A web process that relays calls. Its heartbeat is the lease of every open call it has."""

    id = models.CharField(max_length=32, primary_key=True)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField(db_default=Now())
    heartbeat_at = models.DateTimeField(db_default=Now())
    stopped_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "web processes"

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"


class TokenCounts(models.Model):
    """Columns of `common.token_usage.TokenUsage`."""

    input_tokens = models.BigIntegerField(default=0, db_default=0)
    cached_tokens = models.BigIntegerField(default=0, db_default=0)
    cache_write_tokens = models.BigIntegerField(default=0, db_default=0)
    cache_write_1h_tokens = models.BigIntegerField(default=0, db_default=0)
    audio_input_tokens = models.BigIntegerField(default=0, db_default=0)
    image_input_tokens = models.BigIntegerField(default=0, db_default=0)
    output_tokens = models.BigIntegerField(default=0, db_default=0)
    reasoning_tokens = models.BigIntegerField(default=0, db_default=0)
    image_tokens = models.BigIntegerField(default=0, db_default=0)
    audio_output_tokens = models.BigIntegerField(default=0, db_default=0)
    images = models.BigIntegerField(default=0, db_default=0)
    tool_calls = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        abstract = True


class RelayedCall(TokenCounts):
    """One call of a general key that goes on to a provider. Its hold has the same reference.

    While it is open, the counts and `noted_micros` say what was seen in its stream so far.
    """

    class State(models.TextChoices):
        OPEN = "open"
        SETTLED = "settled"
        RELEASED = "released"

    id = models.CharField(max_length=31, primary_key=True)
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, db_index=False, related_name="+")
    key = models.ForeignKey("accounts.ApiKey", on_delete=models.PROTECT, db_index=False, related_name="+")
    group_id = models.BigIntegerField(help_text="As it was: the group may be deleted since.")
    process = models.CharField(
        max_length=32, help_text="The web process that relays it; its lease is that of the call."
    )
    model = models.CharField(max_length=200, help_text="The name that the client sent.")
    dialect = models.CharField(max_length=20)
    channel_id = models.BigIntegerField(null=True, help_text="The last one tried. It may be deleted since.")
    is_stream = models.BooleanField()
    state = models.CharField(max_length=10, choices=State, default=State.OPEN, db_default=State.OPEN)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    estimated_micros = models.BigIntegerField()
    noted_micros = models.BigIntegerField(null=True, help_text="What the usage seen so far costs; null while none was.")
    actual_micros = models.BigIntegerField(null=True)
    price = models.JSONField(help_text="The price at the time of the call.")
    outcome = models.CharField(max_length=40, default="", db_default="")
    is_estimated = models.BooleanField(default=False, db_default=False, help_text="Charged by an estimate.")
    is_loss = models.BooleanField(default=False, db_default=False, help_text="The provider may bill what nobody paid.")
    flags = models.JSONField(null=True, help_text="What the operator should know of the bill, by flag.")
    overrun_micros = models.BigIntegerField(
        default=0, db_default=0, help_text="What the usage that was told would have cost beyond the hold."
    )
    attempts = models.JSONField(null=True, help_text="What each channel that was tried answered.")
    http_status = models.PositiveSmallIntegerField(null=True, help_text="Of the answer to the client.")
    request_id = models.CharField(max_length=64, default="", db_default="")

    class Meta:
        indexes = [
            models.Index(name="relayed_open", fields=["process"], condition=models.Q(state="open")),
            models.Index(name="relayed_account", fields=["account", "id"]),
            models.Index(name="relayed_key", fields=["key", "id"]),
            models.Index(name="relayed_model", fields=["model", "id"]),
            models.Index(name="relayed_released", fields=["id"], condition=models.Q(state="released")),
            models.Index(name="relayed_loss", fields=["id"], condition=models.Q(is_loss=True)),
            models.Index(name="relayed_estimated", fields=["id"], condition=models.Q(is_estimated=True)),
            models.Index(name="relayed_overrun", fields=["channel_id"], condition=models.Q(overrun_micros__gt=0)),
        ]
        constraints = [
            models.CheckConstraint(
                name="relayed_ended_has_end",
                condition=models.Q(state="open", ended_at__isnull=True, actual_micros__isnull=True)
                | models.Q(state="settled", ended_at__isnull=False, actual_micros__isnull=False)
                | models.Q(state="released", ended_at__isnull=False, actual_micros__isnull=True),
            ),
            models.CheckConstraint(
                name="relayed_money_not_negative",
                condition=models.Q(estimated_micros__gte=0)
                & (models.Q(actual_micros__isnull=True) | models.Q(actual_micros__gte=0)),
            ),
        ]

    def __str__(self) -> str:
        return self.id


class RelayUsage(TokenCounts):
    """The settled calls of one key, by the UTC day on which they began and their model, added up."""

    key = models.ForeignKey("accounts.ApiKey", on_delete=models.PROTECT, db_index=False, related_name="+")
    day = models.DateField()
    model = models.CharField(max_length=200)
    calls = models.BigIntegerField()
    cost_micros = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(name="relay_usage_once", fields=["key", "day", "model"])]

    def __str__(self) -> str:
        return f"{self.key_id} {self.day} {self.model}"
