"""What a finished call made gets a column of its own; until now it stood in the handle of open calls."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q

RESULT = ("outputs", "assets", "duration")
KEPT = Q(handle__has_any_keys=["outputs", "assets"], handle__has_key="duration")


def results_out_of_handles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What is left is the provider's handle; where nothing is, there was none."""
    for call in open_calls(apps).filter(KEPT):
        call.result = {key: call.handle[key] for key in RESULT if key in call.handle}
        call.handle = {key: value for key, value in call.handle.items() if key not in RESULT} or None
        call.save(update_fields=["handle", "result"])


def results_into_handles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for call in open_calls(apps).filter(result__isnull=False):
        call.handle = {**(call.handle or {}), **call.result}
        call.save(update_fields=["handle"])


def open_calls(apps: Apps) -> Any:
    return apps.get_model("tasks", "Call").objects.filter(state__in=["accepted", "late"])


class Migration(migrations.Migration):

    dependencies = [
        ('tasks', '0005_task_again'),
    ]

    operations = [
        migrations.AddField(
            model_name='call',
            name='result',
            field=models.JSONField(help_text='What a finished call made: URLs, or files of ours.', null=True),
        ),
        migrations.AlterField(
            model_name='call',
            name='handle',
            field=models.JSONField(help_text="The provider's handle of an accepted job.", null=True),
        ),
        migrations.RunPython(results_out_of_handles, results_into_handles),
    ]
