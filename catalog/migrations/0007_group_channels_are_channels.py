import django.db.models.deletion
from django.db import migrations, models

from common import urls
from common.encryption import Undecryptable, decrypt_mapping, encrypt_mapping

LONGEST_NAME = 200


def make_channels(apps, editor):
    """Each channel of a group becomes a channel with its credential, as it is stored, and a link."""
    channels, credentials = (apps.get_model("catalog", name).objects for name in ("Channel", "Credential"))
    taken = set(channels.values_list("name", flat=True))
    for row in apps.get_model("catalog", "GroupChannel").objects.select_related("group").order_by("id"):
        row.channel = channels.create(
            name=free_name(row.group.name, taken), adapter=f"{row.group.platform}_relay", base_url=row.base_url
        )
        row.save(update_fields=["channel"])
        if not is_empty(row.ciphertext):
            credentials.create(channel=row.channel, ciphertext=row.ciphertext, last4=row.last4, origin=row.origin)
    editor.connection.check_constraints()  # PostgreSQL alters no table that has any to check


def free_name(group, taken):
    number = 1
    while (name := f"{group[: LONGEST_NAME - 1 - len(str(number))]}-{number}") in taken:
        number += 1
    taken.add(name)
    return name


def is_empty(ciphertext):
    """Whether a channel was stored without any secret."""
    try:
        return not ciphertext or not {name for name in decrypt_mapping(ciphertext) if name}
    except (Undecryptable, ValueError, AttributeError):
        return False


def remove_channels(apps, editor):
    """Back to an address and one secret in the row itself: the first that is in use."""
    links = apps.get_model("catalog", "GroupChannel").objects
    for row in links.select_related("channel").order_by("id"):
        row.base_url = row.channel.base_url
        kept = row.channel.credentials.filter(retired_at=None).order_by("id")
        found = min(kept, key=lambda each: each.disabled_at is not None, default=None)
        row.origin = found.origin if found else urls.origin(row.base_url)
        row.ciphertext = found.ciphertext if found else encrypt_mapping({"": row.origin})
        row.last4 = found.last4 if found else ""
        row.save(update_fields=["base_url", "ciphertext", "last4", "origin"])
    made = set(links.values_list("channel_id", flat=True))
    links.update(channel=None)
    for name in ("Credential", "ChannelHealth"):
        apps.get_model("catalog", name).objects.filter(channel__in=made).delete()
    apps.get_model("catalog", "Channel").objects.filter(id__in=made).delete()
    editor.connection.check_constraints()


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial"), ("catalog", "0006_channel_model_fields")]

    operations = [
        migrations.AddField(
            "groupoffer",
            "extra_fields",
            models.JSONField(
                blank=True,
                default=list,
                help_text="Fields that pass though they may cost what the prices do not know.",
            ),
        ),
        migrations.AddField(
            "groupchannel",
            "channel",
            models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="group_link",
                to="catalog.channel",
            ),
        ),
        migrations.AddField("groupchannel", "weight", models.PositiveIntegerField(default=1)),
        migrations.AddField(
            "groupchannel",
            "upstream_models",
            models.JSONField(
                blank=True, default=dict, help_text="Names that models have there, by their public names."
            ),
        ),
        migrations.AddField("groupchannel", "enabled", models.BooleanField(default=True)),
        # With a default, so that they can be there again for rows that exist.
        migrations.AlterField("groupchannel", "base_url", models.CharField(default="", max_length=500)),
        migrations.AlterField("groupchannel", "ciphertext", models.TextField(default="", editable=False)),
        migrations.AlterField(
            "groupchannel", "last4", models.CharField(default="", editable=False, max_length=4)
        ),
        migrations.RunPython(make_channels, remove_channels),
        migrations.RemoveField("groupchannel", "base_url"),
        migrations.RemoveField("groupchannel", "ciphertext"),
        migrations.RemoveField("groupchannel", "last4"),
        migrations.RemoveField("groupchannel", "origin"),
        migrations.AlterField(
            "groupchannel",
            "channel",
            models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="group_link", to="catalog.channel"
            ),
        ),
    ]
