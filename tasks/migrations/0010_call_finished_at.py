"""A call notes that its provider has finished, so that its result may be copied past the deadline."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0009_asset_storage_key"),
    ]

    operations = [
        migrations.AddField(
            model_name="call",
            name="finished_at",
            field=models.DateTimeField(help_text="When the provider was found to have finished it.", null=True),
        ),
    ]
