from django.db import migrations


def create(apps, editor):
    apps.get_model("catalog", "CatalogVersion").objects.create(id=1)


def remove(apps, editor):
    apps.get_model("catalog", "CatalogVersion").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("catalog", "0001_initial")]

    operations = [migrations.RunPython(create, remove)]
