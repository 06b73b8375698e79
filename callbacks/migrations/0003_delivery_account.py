"""A delivery knows the account of its task, and the indexes of a claim hold only what no worker has."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

FILL = "UPDATE callbacks_delivery SET account_id = (SELECT t.account_id FROM tasks_task t WHERE t.id = task_id)"
UNCLAIMED = Q(status="pending") & Q(claimed_at__isnull=True)
CLAIMED = Q(status="pending") & Q(claimed_at__isnull=False)


def account(**options: bool) -> models.ForeignKey:
    return models.ForeignKey(
        db_index=False,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="accounts.account",
        **options,
    )


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0001_initial"),
        ("tasks", "0001_initial"),
        ("callbacks", "0002_delivery_attempts"),
    ]

    operations = [
        migrations.AddField("delivery", "account", account(null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField("delivery", "account", account()),
        migrations.RemoveIndex("delivery", "delivery_due"),
        migrations.AddIndex(
            "delivery", models.Index(name="delivery_due", fields=["next_attempt_at"], condition=UNCLAIMED)
        ),
        migrations.AddIndex(
            "delivery",
            models.Index(name="delivery_hosts", fields=["account", "host", "next_attempt_at"], condition=UNCLAIMED),
        ),
        migrations.AddIndex(
            "delivery", models.Index(name="delivery_claimed", fields=["claimed_at"], condition=CLAIMED)
        ),
    ]
