"""An asset is found by its key in storage: by the storage's URL of it that is the input of a task."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0008_drop_task_again"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="asset",
            index=models.Index(fields=["storage_key"], name="asset_storage_key"),
        ),
    ]
