"""The list of intake columns: no field of a task is forgotten, and what is listed is what is written."""

import json
from collections.abc import Iterable

import pytest
from django.db.models import Model

from common import sql
from tasks import again
from tasks.intake import columns
from tasks.intake.columns import NOT_WRITTEN, PAYLOAD_COLUMNS, TASK_COLUMNS, IntakeColumn
from tasks.models import Task, TaskPayload
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url

pytestmark = pytest.mark.django_db
WHOLE = {
    "params": {"prompt": "a fox", "images": [{"image_url": data_url()}]},
    "metadata": {"order": 1},
    "callback_url": "https://hooks.example.com/",
}


def names(listed: Iterable[IntakeColumn]) -> list[str]:
    return [column.name for column in listed]


def stored_fields(model: type[Model]) -> set[str]:
    return {field.attname for field in model._meta.concrete_fields}


def test_every_field_of_a_task_is_written_at_intake_or_has_its_reason():
    for model, listed in ((Task, TASK_COLUMNS), (TaskPayload, PAYLOAD_COLUMNS)):
        assert sorted(names(listed)) == sorted(stored_fields(model) - NOT_WRITTEN.keys()), model
    assert NOT_WRITTEN.keys() <= stored_fields(Task) | stored_fields(TaskPayload)


def test_a_column_has_a_value_in_the_row_or_an_expression():
    for column in (*TASK_COLUMNS, *PAYLOAD_COLUMNS):
        assert column.type or column.written, column.name
        assert column.type or not column.source, column.name
        assert column.type in {"", *sql.type_names}, column.name


def test_the_row_has_what_the_insert_reads(key, image_model):
    row = json.loads(steps.drafted(key, idempotency_key="k").row)
    declared = {pair.split()[0] for pair in columns.ROW.split(",")}
    assert declared - row.keys() == {"retry_of_id"}
    assert row.keys() <= declared


def test_a_task_and_its_retry_fill_every_column(key, image_model, folder):
    """A column that the row of a draft does not fill would be null; one that a retry forgets would differ."""
    steps.submitted(key, idempotency_key="k", **WHOLE)
    steps.end(steps.claimed(steps.worker())[0])
    first = Task.objects.select_related("payload").get()
    second = Task.objects.select_related("payload").get(id=again.retry(first.pk, by="op"))
    assert [name for name in names(TASK_COLUMNS) if getattr(first, name) is None] == ["retry_of_id"]
    assert [name for name in names(TASK_COLUMNS) if getattr(second, name) is None] == ["idempotency_key"]
    assert [(n, v) for n, v in columns.of_retry(first).items() if getattr(second, n) != v] == []
    payloads = [getattr(task.payload, name) for task in (first, second) for name in names(PAYLOAD_COLUMNS)]
    assert None not in payloads
