"""An account knows how many live tasks it has at most, so that submissions seldom count them. Null: unknown."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0003_key_group_name"),
    ]

    operations = [
        migrations.AddField("account", "live_at_most", models.BigIntegerField(editable=False, null=True)),
    ]
