from django.db import migrations


def create(apps, editor):
    apps.get_model("tasks", "ServiceState").objects.create(id=1)
    apps.get_model("tasks", "ClaimTurn").objects.create(id=1)


def remove(apps, editor):
    apps.get_model("tasks", "ServiceState").objects.all().delete()
    apps.get_model("tasks", "ClaimTurn").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("tasks", "0001_initial")]

    operations = [migrations.RunPython(create, remove)]
