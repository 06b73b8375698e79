from django.db import migrations

from billing import guards


def install(apps, editor):
    guards.install(editor)


def remove(apps, editor):
    guards.remove(editor)


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]

    operations = [migrations.RunPython(install, remove)]
