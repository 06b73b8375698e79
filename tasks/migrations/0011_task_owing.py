"""The live tasks that will owe a callback are counted with the callbacks that were never attempted."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0010_call_finished_at"),
    ]

    operations = [
        migrations.AddIndex(
            "task",
            models.Index(
                name="task_owing",
                fields=["account"],
                condition=Q(status__in=("queued", "running"), callback_url__isnull=False),
            ),
        ),
    ]
