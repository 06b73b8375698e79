"""Accounts, groups, keys and the secrets of keys."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True)),
                (
                    "billing",
                    models.CharField(choices=[("balance", "Balance"), ("subscription", "Subscription")], default="balance", max_length=20),
                ),
                ("balance_micros", models.BigIntegerField(default=0, editable=False)),
                ("held_micros", models.BigIntegerField(default=0, editable=False)),
                ("max_queued", models.PositiveIntegerField(default=200)),
                ("max_running", models.PositiveIntegerField(default=50)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("budget_day_micros", models.PositiveBigIntegerField(editable=False, null=True)),
                ("budget_month_micros", models.PositiveBigIntegerField(editable=False, null=True)),
                ("has_budgets", models.BooleanField(db_default=False, default=False, editable=False)),
                ("live_at_most", models.BigIntegerField(default=0, editable=False, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=Q(held_micros__gte=0), name="account_held_not_negative"),
                    models.CheckConstraint(condition=Q(billing__in=["balance", "subscription"]), name="account_billing_known"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Group",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True)),
                (
                    "platform",
                    models.CharField(choices=[("openai", "Openai"), ("anthropic", "Anthropic"), ("gemini", "Gemini")], max_length=20),
                ),
                ("image_generation", models.BooleanField(default=False)),
            ],
            options={"verbose_name_plural": "key groups"},
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("binding", models.CharField(choices=[("task", "Task"), ("general", "General")], default="task", max_length=20)),
                ("task_api", models.BooleanField(default=True, verbose_name="Task API enabled")),
                ("disabled_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("max_queued", models.PositiveIntegerField(default=100)),
                ("max_running", models.PositiveIntegerField(default=20)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("account", models.ForeignKey(on_delete=models.PROTECT, related_name="keys", to="accounts.account")),
                ("group", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="keys", to="accounts.group")),
                ("budget_day_micros", models.PositiveBigIntegerField(editable=False, null=True)),
                ("budget_month_micros", models.PositiveBigIntegerField(editable=False, null=True)),
                ("videos_api", models.BooleanField(db_default=False, default=False, verbose_name="/v1/videos enabled")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("account", "name"), name="key_name_per_account"),
                    models.CheckConstraint(condition=Q(binding__in=["task", "general"]), name="key_binding_known"),
                ]
            },
        ),
        migrations.CreateModel(
            name="KeySecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.TextField(unique=True)),
                ("ciphertext", models.TextField()),
                ("last4", models.CharField(max_length=4)),
                ("retired_at", models.DateTimeField(blank=True, help_text="From this moment on it opens nothing.", null=True)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("key", models.ForeignKey(on_delete=models.CASCADE, related_name="secrets", to="accounts.apikey")),
            ],
        ),
    ]
