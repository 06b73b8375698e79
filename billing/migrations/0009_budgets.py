"""The sums that budgets are measured by; and holds know their key. Of those that are there, the ones that a budget of
today may count are told whose they are."""

from datetime import UTC, datetime

from django.db import migrations, models

FILL = """
UPDATE billing_hold SET key_id = COALESCE(
    (SELECT t.key_id FROM tasks_task t WHERE t.id = reference),
    (SELECT c.key_id FROM billing_relayedcall c WHERE c.id = reference))
WHERE state = 'open' OR created_at >= %s
"""


def fill(apps, editor):
    with editor.connection.cursor() as cursor:
        cursor.execute(FILL, [f"{datetime.now(UTC):%Y-%m}-01 00:00:00"])


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0002_budgets"),
        ("tasks", "0001_initial"),
        ("billing", "0008_refund"),
    ]

    operations = [
        migrations.AddField(
            "hold",
            "budget_day",
            models.DateField(help_text="The UTC day that it counts in for budgets; null: that of its creation.", null=True),
        ),
        migrations.AddField(
            "hold",
            "key_id",
            models.BigIntegerField(help_text="The API key. Null for holds of before it was written down.", null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.CreateModel(
            "BudgetSum",
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
                    models.UniqueConstraint(
                        fields=("holder", "holder_id", "period", "starts_on"), name="budget_sum_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("holder__in", ["account", "key"])), name="budget_sum_holder_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("period__in", ["day", "month"])), name="budget_sum_period_known"
                    ),
                ],
            },
        ),
    ]
