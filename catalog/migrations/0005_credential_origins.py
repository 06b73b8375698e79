from django.db import migrations, models

from common import urls
from common.encryption import Undecryptable, decrypt_mapping

RETIRED = ("no longer in the catalog file", "replaced by another", "the channel has moved to another origin")


def fill(apps, editor):
    """What is stored was entered for the address that its channel has now, unless it was stored by this version before
    somebody went back to the one before."""
    for row in apps.get_model("catalog", "Credential").objects.select_related("channel").iterator():
        row.origin = sealed_for(row.ciphertext) or urls.origin(row.channel.base_url)
        row.retired_at = row.disabled_at if row.reason in RETIRED else None
        row.save(update_fields=["origin", "retired_at"])
    for row in apps.get_model("catalog", "GroupChannel").objects.iterator():
        row.origin = sealed_for(row.ciphertext) or urls.origin(row.base_url)
        row.save(update_fields=["origin"])


def sealed_for(ciphertext):
    """The origin that was encrypted with a credential (`catalog/sealing.py`), empty where none was."""
    try:
        return decrypt_mapping(ciphertext).get("", "")
    except (Undecryptable, ValueError, AttributeError):
        return ""


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
