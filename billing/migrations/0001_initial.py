"""Holds, budgets, the append-only ledger with its seals, and relayed calls."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now

from billing import ledger_triggers
from common.postgresql.migrations import tidied_early, unchecked, without_pattern_index


def guard_ledger(apps, editor):
    ledger_triggers.install(editor)


def unguard_ledger(apps, editor):
    ledger_triggers.remove(editor)


class Migration(migrations.Migration):
    initial = True
    dependencies = [("accounts", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Hold",
            fields=[
                ("reference", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("amount_micros", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("settled", "Settled"), ("released", "Released")],
                        db_default="open",
                        default="open",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("closed_at", models.DateTimeField(null=True)),
                ("account", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="holds", to="accounts.account")),
                (
                    "budget_day",
                    models.DateField(help_text="The UTC day that it counts in for budgets; null: that of its creation.", null=True),
                ),
                ("key_id", models.BigIntegerField(help_text="The API key.", null=True)),
            ],
            options={
                "indexes": [models.Index(condition=Q(state="open"), fields=["account"], name="hold_open")],
                "constraints": [
                    models.CheckConstraint(condition=Q(amount_micros__gte=0), name="hold_not_negative"),
                    models.CheckConstraint(condition=Q(state__in=["open", "settled", "released"]), name="hold_state_known"),
                ],
            },
        ),
        migrations.CreateModel(
            name="BudgetSum",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("holder", models.CharField(max_length=10)),
                ("holder_id", models.BigIntegerField()),
                ("period", models.CharField(max_length=10)),
                ("starts_on", models.DateField()),
                ("spent_micros", models.BigIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("holder", "holder_id", "period", "starts_on"), name="budget_sum_once"),
                    models.CheckConstraint(condition=Q(holder__in=["account", "key"]), name="budget_sum_holder_known"),
                    models.CheckConstraint(condition=Q(period__in=["day", "month"]), name="budget_sum_period_known"),
                ]
            },
        ),
        migrations.CreateModel(
            name="LedgerEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reference", models.CharField(max_length=64)),
                ("kind", models.CharField(choices=[("credit", "Credit"), ("charge", "Charge"), ("refund", "Refund")], max_length=20)),
                (
                    "book",
                    models.CharField(choices=[("customer", "Customer"), ("revenue", "Revenue"), ("funding", "Funding")], max_length=20),
                ),
                ("amount_micros", models.BigIntegerField()),
                ("reason", models.CharField(db_default="", max_length=500)),
                ("at", models.DateTimeField(db_default=Now())),
                (
                    "account",
                    models.ForeignKey(db_index=False, null=True, on_delete=models.PROTECT, related_name="entries", to="accounts.account"),
                ),
            ],
            options={
                "verbose_name_plural": "ledger entries",
                "indexes": [models.Index(fields=["account", "id"], name="entry_statement")],
                "constraints": [
                    models.UniqueConstraint(fields=("reference", "kind", "book"), name="entry_once"),
                    models.CheckConstraint(condition=~Q(amount_micros=0), name="entry_not_zero"),
                    models.CheckConstraint(
                        condition=Q(account__isnull=False, book="customer") | ~Q(book="customer") & Q(account__isnull=True),
                        name="entry_customer_has_account",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LedgerSeal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField(unique=True)),
                ("last_entry_id", models.BigIntegerField()),
                ("entries", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.CreateModel(
            name="LedgerHead",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="WebProcess",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("host", models.CharField(max_length=255)),
                ("pid", models.PositiveIntegerField()),
                ("started_at", models.DateTimeField(db_default=Now())),
                ("heartbeat_at", models.DateTimeField(db_default=Now())),
                ("stopped_at", models.DateTimeField(null=True)),
            ],
            options={"verbose_name_plural": "web processes"},
        ),
        migrations.CreateModel(
            name="RelayedCall",
            fields=[
                ("input_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("cached_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("cache_write_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("output_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("reasoning_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("image_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("images", models.BigIntegerField(db_default=0, default=0)),
                ("id", models.CharField(max_length=31, primary_key=True, serialize=False)),
                ("group_id", models.BigIntegerField(help_text="As it was: the group may be deleted since.")),
                ("process", models.CharField(help_text="The web process that relays it; its lease is that of the call.", max_length=32)),
                ("model", models.CharField(help_text="The name that the client sent.", max_length=200)),
                ("dialect", models.CharField(max_length=20)),
                ("channel_id", models.BigIntegerField(help_text="The last one tried. It may be deleted since.", null=True)),
                ("is_stream", models.BooleanField()),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("settled", "Settled"), ("released", "Released")],
                        db_default="open",
                        default="open",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("ended_at", models.DateTimeField(null=True)),
                ("estimated_micros", models.BigIntegerField()),
                ("noted_micros", models.BigIntegerField(help_text="What the usage seen so far costs; null while none was.", null=True)),
                ("actual_micros", models.BigIntegerField(null=True)),
                ("price", models.JSONField(help_text="The price at the time of the call.")),
                ("outcome", models.CharField(db_default="", default="", max_length=40)),
                ("is_estimated", models.BooleanField(db_default=False, default=False, help_text="Charged by an estimate.")),
                ("is_loss", models.BooleanField(db_default=False, default=False, help_text="The provider may bill what nobody paid.")),
                ("attempts", models.JSONField(help_text="What each channel that was tried answered.", null=True)),
                ("http_status", models.PositiveSmallIntegerField(help_text="Of the answer to the client.", null=True)),
                ("request_id", models.CharField(db_default="", default="", max_length=64)),
                ("account", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="accounts.account")),
                ("key", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="accounts.apikey")),
                ("audio_input_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("audio_output_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("cache_write_1h_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("flags", models.JSONField(help_text="What the operator should know of the bill, by flag.", null=True)),
                ("image_input_tokens", models.BigIntegerField(db_default=0, default=0)),
                (
                    "overrun_micros",
                    models.BigIntegerField(
                        db_default=0, default=0, help_text="What the usage that was told would have cost beyond the hold."
                    ),
                ),
                ("tool_calls", models.BigIntegerField(db_default=0, default=0)),
            ],
            options={
                "indexes": [
                    models.Index(condition=Q(state="open"), fields=["process"], name="relayed_open"),
                    models.Index(fields=["account", "id"], name="relayed_account"),
                    models.Index(fields=["key", "id"], name="relayed_key"),
                    models.Index(fields=["model", "id"], name="relayed_model"),
                    models.Index(condition=Q(state="released"), fields=["id"], name="relayed_released"),
                    models.Index(condition=Q(is_loss=True), fields=["id"], name="relayed_loss"),
                    models.Index(condition=Q(is_estimated=True), fields=["id"], name="relayed_estimated"),
                    models.Index(condition=Q(overrun_micros__gt=0), fields=["channel_id"], name="relayed_overrun"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(actual_micros__isnull=True, ended_at__isnull=True, state="open")
                        | Q(actual_micros__isnull=False, ended_at__isnull=False, state="settled")
                        | Q(actual_micros__isnull=True, ended_at__isnull=False, state="released"),
                        name="relayed_ended_has_end",
                    ),
                    models.CheckConstraint(
                        condition=Q(estimated_micros__gte=0) & (Q(actual_micros__isnull=True) | Q(actual_micros__gte=0)),
                        name="relayed_money_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RelayUsage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("input_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("cached_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("cache_write_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("output_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("reasoning_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("image_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("images", models.BigIntegerField(db_default=0, default=0)),
                ("day", models.DateField()),
                ("model", models.CharField(max_length=200)),
                ("calls", models.BigIntegerField()),
                ("cost_micros", models.BigIntegerField()),
                ("key", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="accounts.apikey")),
                ("audio_input_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("audio_output_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("cache_write_1h_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("image_input_tokens", models.BigIntegerField(db_default=0, default=0)),
                ("tool_calls", models.BigIntegerField(db_default=0, default=0)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("key", "day", "model"), name="relay_usage_once")]},
        ),
        migrations.RunPython(guard_ledger, unguard_ledger),
        # The ledger keeps its foreign key, for TRUNCATE follows it.
        unchecked("billing_hold", "account_id"),
        unchecked("billing_relayedcall", "account_id", "key_id"),
        unchecked("billing_relayusage", "key_id"),
        without_pattern_index("billing_hold", "reference"),
        without_pattern_index("billing_webprocess", "id"),
        without_pattern_index("billing_relayedcall", "id"),
        tidied_early("billing_hold"),
        tidied_early("billing_ledgerentry"),
        tidied_early("billing_relayedcall"),
        tidied_early("billing_relayusage"),
    ]
