"""A Task key calls `/v1/videos` only where its operator opens that."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0005_new_accounts_have_no_task"),
    ]

    operations = [
        migrations.AddField(
            "apikey",
            "videos_api",
            models.BooleanField("/v1/videos enabled", db_default=False, default=False),
        ),
    ]
