"""Tables of the desk: sign-in tries and providers' bills; and permissions that belong to no table."""

from django.db import models
from django.db.models.functions import Now


class SignInTry(models.Model):
    """Sign-in try that failed or is being checked. `pair` is a digest of name and address."""

    pair = models.CharField(max_length=64)
    locks = models.BooleanField(default=False)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(name="sign_in_tries_of_pair", fields=["pair", "at"]),
            models.Index(name="sign_in_tries_by_age", fields=["at"]),
        ]

    def __str__(self) -> str:
        return f"{self.pair[:8]}…"


class Right(models.Model):  # noqa: DJ008 (there are no rows)
    """Permissions beyond viewing and changing rows. Has no table."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [
            ("book_money", "Can book credits and debits"),
            ("issue_keys", "Can issue API keys and enable disabled ones"),
            ("rotate_keys", "Can rotate API keys"),
            ("change_credentials", "Can enter, switch and remove providers' credentials"),
            ("refund_tasks", "Can refund charged tasks"),
            ("import_bills", "Can import providers' bills"),
        ]


class ProviderBill(models.Model):
    """Provider's bill of a channel: its compressed file (`source`) and the comparison with our calls. A file is
    imported once per channel.

    Each comparison is a `run`; lines of older runs are leftovers. `sums` are the sums by verdict
    (`desk.bills.matching`).
    """

    channel = models.ForeignKey("catalog.Channel", on_delete=models.SET_NULL, null=True, related_name="+")
    channel_name = models.CharField(max_length=200)
    file_name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    source = models.BinaryField()
    columns = models.JSONField(null=True)
    since = models.DateField(null=True, help_text="The first day of the bill (UTC).")
    until = models.DateField(null=True, help_text="Its last day.")
    bad_rows = models.JSONField(default=list, help_text="[line, why] of the first rows that are no lines of a bill.")
    bad_count = models.PositiveIntegerField(default=0)
    sums = models.JSONField(null=True)
    begun = models.PositiveIntegerField(default=0)
    run = models.PositiveIntegerField(default=0)
    compared_at = models.DateTimeField(null=True)
    imported_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(name="bill_once", fields=["channel", "sha256"])]

    def __str__(self) -> str:
        return f"{self.channel_name}: {self.file_name}"


class BillLine(models.Model):
    """Billed job (`number` is the line of the file), or a call of ours that is not billed (`number` is None). `call` is
    our call, `own_micros` its cost when they were compared."""

    bill = models.ForeignKey(ProviderBill, on_delete=models.CASCADE, db_index=False, related_name="lines")
    run = models.PositiveIntegerField()
    number = models.PositiveIntegerField(null=True)
    verdict = models.CharField(max_length=20)
    upstream_id = models.CharField(max_length=1024)
    amount_micros = models.BigIntegerField(null=True)
    billed_at = models.DateTimeField(null=True)
    model = models.CharField(max_length=200, default="")
    call = models.ForeignKey("tasks.Call", on_delete=models.PROTECT, null=True, db_index=False, related_name="+")
    own_micros = models.BigIntegerField(null=True)
    settled = models.CharField(max_length=20, default="", help_text="What an operator made of it.")
    settled_by = models.CharField(max_length=150, default="")

    class Meta:
        indexes = [models.Index(name="bill_lines_by_verdict", fields=["bill", "run", "verdict", "id"])]
        constraints = [models.UniqueConstraint(name="bill_line_once", fields=["bill", "run", "number"])]

    def __str__(self) -> str:
        return f"line {self.number}" if self.number else f"call {self.call_id}"


class RememberedColumns(models.Model):
    """Chosen meaning of the columns of a channel's bills (`desk.bills.columns.BillColumns`)."""

    channel = models.OneToOneField("catalog.Channel", on_delete=models.CASCADE, related_name="+")
    columns = models.JSONField()

    def __str__(self) -> str:
        return f"columns of channel {self.channel_id}"
