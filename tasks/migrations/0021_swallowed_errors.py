"""Counts of errors that reach no caller, for `/metrics`."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0020_unchecked_on_postgresql"),
    ]

    operations = [
        migrations.CreateModel(
            name="SwallowedErrors",
            fields=[
                ("where", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("count", models.BigIntegerField()),
            ],
        ),
    ]
