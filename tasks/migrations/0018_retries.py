"""The retries of a task are found without reading all tasks: they are few."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0017_lost_calls"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                condition=models.Q(("retry_of__isnull", False)), fields=["retry_of", "id"], name="task_retry"
            ),
        ),
    ]
