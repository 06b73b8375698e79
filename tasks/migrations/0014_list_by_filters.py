"""The index of the list holds what a list is filtered by, but for the metadata."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0013_call_mismatch"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="task", name="task_list"),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(fields=["key", "id", "status", "modality", "model_name", "origin"], name="task_list"),
        ),
    ]
