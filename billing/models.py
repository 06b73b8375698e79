"""Money in tables: holds of open subjects and the append-only ledger. Amounts are integer micro-USD."""

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
    amount_micros = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.OPEN, db_default=State.OPEN)
    created_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)

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


class LedgerEntry(models.Model):
    """One leg of a booking; the legs of one (reference, kind) sum to zero. Triggers refuse every change."""

    class Kind(models.TextChoices):
        CREDIT = "credit"
        CHARGE = "charge"

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
