"""The index of deadlines serves those who ask for deadlines, and nobody else.

It knew live tasks by their status, as others do. Where few tasks lived when PostgreSQL last looked, it took this one to
be tiny, and read the whole queue through it to count an account's tasks.
"""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0018_retries"),
    ]

    operations = [
        migrations.RemoveIndex("task", "task_deadline"),
        migrations.AddIndex(
            "task",
            models.Index(name="task_deadline", fields=["deadline_at"], condition=Q(finished_at__isnull=True)),
        ),
    ]
