"""The values that the document enumerates are those of the code: a new one in one place is missed in the other."""

from typing import Any, get_args

import pytest

from billing.budget_standing import HolderKind
from billing.budget_windows import BudgetWindow
from callbacks.models import Delivery
from common import modalities
from reference.document import document
from tasks.failover import Obstacle
from tasks.models import ENDED, LIVE, Call, EndedStatus, LiveStatus, Task, TaskEvent

SCHEMAS = document()["components"]["schemas"]
PAYLOAD = SCHEMAS["CallbackPayload"]["properties"]
VALUES = {
    "Status": {*LIVE, *ENDED},
    "DeliveryStatus": set(Delivery.Status.values),
    "Modality": {modality.name for modality in modalities.TABLE},
}


def enumerated(schema: Any, name: str) -> list[set[str]]:
    """The values of each field of that name, however deep."""
    found = []
    for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key == name and isinstance(value, dict) and "enum" in value:
            found.append(set(value["enum"]))
        if isinstance(value, dict | list):
            found += enumerated(value, name)
    return found


@pytest.mark.parametrize("schema", VALUES)
def test_a_schema_has_the_values_of_the_code(schema):
    assert set(SCHEMAS[schema]["enum"]) == VALUES[schema]


def test_a_callback_is_named_after_each_end_of_a_task():
    assert set(PAYLOAD["type"]["enum"]) == {f"task.{status}" for status in ENDED}
    assert enumerated(PAYLOAD, "status") == [set(ENDED)]


def test_a_trace_has_the_states_of_calls_and_the_obstacles_of_routes():
    assert enumerated(SCHEMAS, "state") == [set(Call.State.values)]
    assert enumerated(SCHEMAS, "reason") == [set(get_args(Obstacle)) - {""}]


def test_budgets_have_holders_and_windows_of_the_code():
    for name, values in (("holder", HolderKind), ("window", BudgetWindow)):
        found = enumerated(SCHEMAS, name)
        assert found
        assert all(each == set(get_args(values)) for each in found)


def test_the_code_spells_the_states_of_tasks_alike():
    states = [*get_args(LiveStatus), *get_args(EndedStatus)]
    assert states == list(Task.Status.values) == [value for value, _ in TaskEvent._meta.get_field("status").choices]
