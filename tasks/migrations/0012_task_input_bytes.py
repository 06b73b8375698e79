"""A task counts the bytes of its stored inputs, so that an account's have a limit, and those nobody needs are found."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q


def count_stored_inputs(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Of tasks that were not charged; ended ones among them lose their files when the janitor finds the bytes."""
    tasks = apps.get_model("tasks", "Task").objects
    payloads = apps.get_model("tasks", "TaskPayload").objects.filter(pruned_at=None, params__has_key="images")
    uncharged = payloads.exclude(task__actual_micros__gt=0)
    for task_id, params in uncharged.values_list("task_id", "params").iterator(1_000):
        if size := sum(stored_bytes(params)):
            tasks.filter(id=task_id).update(input_bytes=size)


def stored_bytes(params: Any) -> list[int]:
    images = params.get("images") if isinstance(params, dict) else None
    files = [image.get("stored") for image in images or () if isinstance(image, dict)] if isinstance(images, list) else []
    sizes = [file.get("size_bytes") for file in files if isinstance(file, dict)]
    return [size for size in sizes if isinstance(size, int)]


class Migration(migrations.Migration):

    dependencies = [
        ("tasks", "0011_task_owing"),
    ]

    operations = [
        migrations.AddField(
            "task",
            "input_bytes",
            models.BigIntegerField(
                db_default=0, default=0, help_text="Of stored inputs, while they count against the account."
            ),
        ),
        migrations.RunPython(count_stored_inputs, migrations.RunPython.noop),
        migrations.AddIndex(
            "task",
            models.Index(name="task_inputs", fields=["account", "input_bytes"], condition=Q(input_bytes__gt=0)),
        ),
        migrations.AddIndex(
            "task",
            models.Index(
                name="task_inputs_due", fields=["id"], condition=Q(input_bytes__gt=0, finished_at__isnull=False)
            ),
        ),
    ]
