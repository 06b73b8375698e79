from django.db import migrations

from billing import ledger_triggers


def install(apps, editor):
    ledger_triggers.install(editor, ledger_triggers.ENTRIES)


def remove(apps, editor):
    ledger_triggers.remove(editor, ledger_triggers.ENTRIES)


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]

    operations = [migrations.RunPython(install, remove)]
