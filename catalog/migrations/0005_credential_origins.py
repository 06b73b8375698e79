from django.db import migrations, models

from common import urls

LEFT_OUT = "no longer in the catalog file"


def fill(apps, editor):
    """What is stored was entered for the address that its channel has now."""
    for row in apps.get_model("catalog", "Credential").objects.select_related("channel").iterator():
        row.origin = urls.origin(row.channel.base_url)
        row.retired_at = row.disabled_at if row.reason == LEFT_OUT else None
        row.save(update_fields=["origin", "retired_at"])
    for row in apps.get_model("catalog", "GroupChannel").objects.iterator():
        row.origin = urls.origin(row.base_url)
        row.save(update_fields=["origin"])


class Migration(migrations.Migration):
    dependencies = [("catalog", "0004_drop_channel_faults")]

    operations = [
        migrations.AddField(
            "credential",
            "origin",
            models.CharField(db_default="", default="", editable=False, max_length=510),
        ),
        migrations.AddField(
            "groupchannel",
            "origin",
            models.CharField(db_default="", default="", editable=False, max_length=510),
        ),
        migrations.AddField("credential", "retired_at", models.DateTimeField(editable=False, null=True)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
