"""A new account has no live task, which its row may say from the first moment on."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0004_live_at_most"),
    ]

    operations = [
        migrations.AlterField("account", "live_at_most", models.BigIntegerField(default=0, editable=False, null=True)),
    ]
