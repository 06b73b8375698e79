"""How channels have fared, and what of them rests. Written by `catalog/health/` alone, part of no catalog version."""

from datetime import datetime

from django.db import models


class ChannelHealth(models.Model):
    """How a channel has lately behaved; no row: never a fault.

    `cooldowns` count in a row; `unknown_total` counts answers that were lost, for ever. `stream_options_refused_by` is
    the address that has last refused that field of a relayed chat.
    """

    channel = models.OneToOneField("catalog.Channel", on_delete=models.CASCADE, primary_key=True, related_name="health")
    cooldown_until = models.DateTimeField(null=True)
    cooldowns = models.PositiveIntegerField(default=0, db_default=0)
    unknown_total = models.PositiveIntegerField(default=0, db_default=0)
    last_kind = models.CharField(max_length=30, default="", db_default="")
    last_at = models.DateTimeField(null=True)
    stream_options_refused_at = models.DateTimeField(null=True)
    stream_options_refused_by = models.CharField(max_length=500, default="", db_default="")

    def __str__(self) -> str:
        return str(self.channel)


class Rest(models.Model):
    """What of a channel has been refused lately, and rests where that was enough: which credential (0: any), which
    model there (empty: any), and for which account (0: all).

    `refusals` count in a row, as far as they are evidence for this rest. The last came at `last_at`, from `by_account`
    and, of the Task API, `by_task`; `said` are the provider's words. `rests` count in a row, for the back-off; the
    present one began at `since`, and ends at `until`. Then one call tries what rests, until `trial_until`. A trial of
    the account `trial_by` that decided nothing is `trial_over`: until then others may try, and that account may not.
    """

    class Cause(models.TextChoices):
        RATE = "rate"
        ACCOUNT = "account"
        MODEL = "model"

    channel = models.ForeignKey("catalog.Channel", on_delete=models.CASCADE, related_name="rests")
    account_id = models.BigIntegerField(default=0)
    cause = models.CharField(max_length=10, choices=Cause.choices)
    credential_id = models.BigIntegerField(default=0)
    upstream_model = models.CharField(max_length=200, default="")
    refusals = models.PositiveIntegerField(default=1)
    rests = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField()
    since = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    trial_until = models.DateTimeField(null=True)
    trial_by = models.BigIntegerField(default=0, db_default=0)
    trial_over = models.BooleanField(default=False, db_default=False)
    by_account = models.BigIntegerField(default=0)
    by_task = models.CharField(max_length=40, default="")
    said = models.CharField(max_length=300, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="rest_once", fields=["channel", "account_id", "cause", "credential_id", "upstream_model"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.channel}, {self.cause}"

    @property
    def is_of_credential(self) -> bool:
        """Whether a whole credential rests, for every account."""
        return bool(self.credential_id) and not self.upstream_model and not self.account_id

    def is_active(self, now: datetime) -> bool:
        return self.until is not None and self.until > now


def forget_refusals(channel_id: int) -> bool:
    """Let a channel begin anew: nothing of it rests, and no refusal counts. Whether anything did."""
    cooled = ChannelHealth.objects.filter(channel_id=channel_id).exclude(cooldown_until=None, cooldowns=0)
    had_cooled = bool(cooled.update(cooldown_until=None, cooldowns=0))
    return bool(Rest.objects.filter(channel_id=channel_id).delete()[0]) or had_cooled
