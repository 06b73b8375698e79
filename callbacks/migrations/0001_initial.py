"""Deliveries of callbacks, and their attempts."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now

from common.postgresql.migrations import tidied_early, unchecked, without_pattern_index

UNCLAIMED = Q(status="pending") & Q(claimed_at__isnull=True)
CLAIMED = Q(status="pending") & Q(claimed_at__isnull=False)
UNATTEMPTED = Q(status="pending") & Q(attempts=0)


class Migration(migrations.Migration):
    initial = True
    dependencies = [("accounts", "0001_initial"), ("tasks", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("url", models.CharField(max_length=2048)),
                ("host", models.CharField(max_length=255)),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "Pending"), ("delivered", "Delivered"), ("exhausted", "Exhausted")],
                        db_default="pending",
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(db_default=0, default=0)),
                ("next_attempt_at", models.DateTimeField(db_default=Now(), null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("task", models.OneToOneField(on_delete=models.PROTECT, related_name="delivery", to="tasks.task")),
                ("claimed_at", models.DateTimeField(null=True)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("resends", models.PositiveIntegerField(db_default=0, default=0, help_text="Attempts outside the schedule.")),
                ("scheduled_at", models.DateTimeField(db_default=Now(), null=True)),
                ("account", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="accounts.account")),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "indexes": [
                    models.Index(condition=UNCLAIMED, fields=["next_attempt_at"], name="delivery_due"),
                    models.Index(condition=UNATTEMPTED, fields=["account"], name="delivery_unattempted"),
                    models.Index(
                        condition=UNCLAIMED,
                        fields=["account", "next_attempt_at"],
                        name="delivery_accounts",
                    ),
                    models.Index(
                        condition=UNCLAIMED,
                        fields=["account", "host", "next_attempt_at"],
                        name="delivery_hosts",
                    ),
                    models.Index(condition=CLAIMED, fields=["claimed_at"], name="delivery_claimed"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=Q(status__in=["pending", "delivered", "exhausted"]), name="delivery_status_known")
                ],
            },
        ),
        migrations.CreateModel(
            name="DeliveryAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("status_code", models.PositiveSmallIntegerField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
                ("duration_ms", models.PositiveIntegerField()),
                ("excerpt", models.TextField(blank=True)),
                ("delivery", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="log", to="callbacks.delivery")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("delivery", "number"), name="delivery_attempt_once")]},
        ),
        unchecked("callbacks_delivery", "account_id", "task_id"),
        unchecked("callbacks_deliveryattempt", "delivery_id"),
        without_pattern_index("callbacks_delivery", "id", "task_id"),
        tidied_early("callbacks_delivery"),
        tidied_early("callbacks_deliveryattempt"),
    ]
