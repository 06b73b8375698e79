"""Refunds are a kind of booking. Only Django's state knows the kinds: the table and its guards stay as they are."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("billing", "0007_relayed_released"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="ledgerentry",
                    name="kind",
                    field=models.CharField(
                        choices=[("credit", "Credit"), ("charge", "Charge"), ("refund", "Refund")], max_length=20
                    ),
                ),
            ]
        ),
    ]
