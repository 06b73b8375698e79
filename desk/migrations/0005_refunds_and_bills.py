"""Whoever may book money by our group may refund tasks and import bills, too. Django makes permissions only after all
migrations, so those that are not there yet are made here, as it would."""

from django.db import migrations

RIGHTS = {"refund_tasks": "Can refund charged tasks", "import_bills": "Can import providers' bills"}


def allow(apps, schema_editor):
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label="desk", model="right")
    permissions = apps.get_model("auth", "Permission").objects
    rights = [
        permissions.get_or_create(content_type=kind, codename=codename, defaults={"name": name})[0]
        for codename, name in RIGHTS.items()
    ]
    groups = apps.get_model("auth", "Group").objects
    for group in groups.filter(name="finance", permissions__codename="book_money"):
        group.permissions.add(*rights)


class Migration(migrations.Migration):
    dependencies = [("desk", "0004_relayed_calls")]
    operations = [
        migrations.AlterModelOptions(
            name="right",
            options={
                "default_permissions": (),
                "managed": False,
                "permissions": [
                    ("book_money", "Can book credits and debits"),
                    ("issue_keys", "Can issue API keys and enable disabled ones"),
                    ("rotate_keys", "Can rotate API keys"),
                    ("change_credentials", "Can enter, switch and remove providers' credentials"),
                    ("refund_tasks", "Can refund charged tasks"),
                    ("import_bills", "Can import providers' bills"),
                ],
            },
        ),
        migrations.RunPython(allow, migrations.RunPython.noop),
    ]
