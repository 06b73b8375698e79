import django.db.models.functions.datetime
from django.db import migrations, models

from billing import ledger_triggers


def install(apps, editor):
    ledger_triggers.install(editor)


def remove(apps, editor):
    """The seals' guards go with their table; the ledger's stay."""
    ledger_triggers.remove(editor, ledger_triggers.SEALS)


class Migration(migrations.Migration):
    dependencies = [("billing", "0002_append_only_ledger")]

    operations = [
        migrations.CreateModel(
            name="LedgerSeal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField(unique=True)),
                ("last_entry_id", models.BigIntegerField()),
                ("entries", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
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
        migrations.RunPython(install, remove),
    ]
