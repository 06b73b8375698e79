"""What is owed to a receiver: one delivery per ended task with a callback_url, and the log of its attempts."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

PENDING = Q(status="pending")
UNCLAIMED = PENDING & Q(claimed_at__isnull=True)


class Delivery(models.Model):
    """The delivery of one terminal run; its id is also the X-SERVICE-Delivery header.

    `host` is `host:port`: one receiver. Seats are shared out per `account` first, the task's.
    `next_attempt_at` is when the next attempt is due, and null when none is. `scheduled_at` is when the schedule alone
    would have it: null when the schedule is over, later than `next_attempt_at` when somebody asked for a resend.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        EXHAUSTED = "exhausted"

    id = models.CharField(max_length=40, primary_key=True)
    task = models.OneToOneField("tasks.Task", on_delete=models.PROTECT, related_name="delivery")
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, db_index=False, related_name="+")
    url = models.CharField(max_length=2048)
    host = models.CharField(max_length=255)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING, db_default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0, db_default=0)
    resends = models.PositiveIntegerField(default=0, db_default=0, help_text="Attempts outside the schedule.")
    next_attempt_at = models.DateTimeField(null=True, db_default=Now())
    scheduled_at = models.DateTimeField(null=True, db_default=Now())
    claimed_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(name="delivery_due", fields=["next_attempt_at"], condition=UNCLAIMED),
            models.Index(name="delivery_unattempted", fields=["account"], condition=PENDING & Q(attempts=0)),
            models.Index(name="delivery_accounts", fields=["account", "next_attempt_at"], condition=UNCLAIMED),
            models.Index(name="delivery_hosts", fields=["account", "host", "next_attempt_at"], condition=UNCLAIMED),
            models.Index(
                name="delivery_claimed", fields=["claimed_at"], condition=PENDING & Q(claimed_at__isnull=False)
            ),
        ]
        constraints = [
            models.CheckConstraint(
                name="delivery_status_known", condition=Q(status__in=["pending", "delivered", "exhausted"])
            )
        ]

    def __str__(self) -> str:
        return self.id


class DeliveryAttempt(models.Model):
    """One POST to a receiver. `excerpt`, the beginning of its answer, is for the operator only."""

    delivery = models.ForeignKey(Delivery, on_delete=models.PROTECT, db_index=False, related_name="log")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    status_code = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=300, blank=True)
    duration_ms = models.PositiveIntegerField()
    excerpt = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(name="delivery_attempt_once", fields=["delivery", "number"])]

    def __str__(self) -> str:
        return f"{self.delivery_id}/{self.number}"
