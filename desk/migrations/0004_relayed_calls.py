"""Whoever may see holds by one of our groups sees relayed calls, too. Django makes permissions only after all
migrations, so those that are not there yet are made here, as it would."""

from django.db import migrations

NAMES = ("viewer", "operator", "finance")
SEEN = ("relayedcall", "relayusage", "webprocess")


def show(apps, schema_editor):
    groups = apps.get_model("auth", "Group").objects
    seen = [permission(apps, model) for model in SEEN]
    for group in groups.filter(name__in=NAMES, permissions__codename="view_hold"):
        group.permissions.add(*seen)


def permission(apps, model):
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label="billing", model=model)
    words = apps.get_model("billing", model)._meta.verbose_name
    found, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=kind, codename=f"view_{model}", defaults={"name": f"Can view {words}"}
    )
    return found


class Migration(migrations.Migration):
    dependencies = [
        ("desk", "0003_groups"),
        ("billing", "0005_relayed_calls"),
    ]
    operations = [migrations.RunPython(show, migrations.RunPython.noop)]
