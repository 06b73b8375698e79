"""Models that resemble the service's tables."""

from django.db import models


class NaiveAccount(models.Model):
    balance_micros = models.BigIntegerField(default=0)
    held_micros = models.BigIntegerField(default=0)


class NaiveKey(models.Model):
    account = models.ForeignKey(NaiveAccount, on_delete=models.PROTECT)
    digest = models.CharField(max_length=64, unique=True)


class NaiveTask(models.Model):
    key = models.ForeignKey(NaiveKey, on_delete=models.PROTECT)
    account = models.ForeignKey(NaiveAccount, on_delete=models.PROTECT)
    model = models.CharField(max_length=200)
    modality = models.CharField(max_length=10)
    status = models.CharField(max_length=10, default="queued")
    idempotency_key = models.CharField(max_length=255, null=True)
    params = models.JSONField()
    estimated_micros = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(name="naive_queued", fields=["account"], condition=models.Q(status="queued")),
            models.Index(name="naive_claim", fields=["key", "id"], condition=models.Q(status="queued")),
        ]
        constraints = [models.UniqueConstraint(name="naive_once", fields=["key", "idempotency_key"])]


class NaiveLedgerEntry(models.Model):
    account = models.ForeignKey(NaiveAccount, on_delete=models.PROTECT)
    task = models.ForeignKey(NaiveTask, on_delete=models.PROTECT)
    kind = models.CharField(max_length=20)
    amount_micros = models.BigIntegerField()
    at = models.DateTimeField(auto_now_add=True)


class NaiveEvent(models.Model):
    task = models.ForeignKey(NaiveTask, on_delete=models.PROTECT)
    key = models.ForeignKey(NaiveKey, on_delete=models.PROTECT)
    status = models.CharField(max_length=10)
    at = models.DateTimeField(auto_now_add=True)
