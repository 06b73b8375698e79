"""The same tables in spirit."""

from django.db import models


class Account(models.Model):
    balance_micros = models.BigIntegerField(default=0)
    held_micros = models.BigIntegerField(default=0)


class Key(models.Model):
    account = models.ForeignKey(Account, on_delete=models.PROTECT)
    digest = models.CharField(max_length=64, unique=True)


class Task(models.Model):
    key = models.ForeignKey(Key, on_delete=models.PROTECT)
    account = models.ForeignKey(Account, on_delete=models.PROTECT)
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


class LedgerEntry(models.Model):
    account = models.ForeignKey(Account, on_delete=models.PROTECT)
    task = models.ForeignKey(Task, on_delete=models.PROTECT)
    kind = models.CharField(max_length=20)
    amount_micros = models.BigIntegerField()
    at = models.DateTimeField(auto_now_add=True)


class Event(models.Model):
    task = models.ForeignKey(Task, on_delete=models.PROTECT)
    key = models.ForeignKey(Key, on_delete=models.PROTECT)
    status = models.CharField(max_length=10)
    at = models.DateTimeField(auto_now_add=True)
