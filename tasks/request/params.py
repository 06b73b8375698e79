"""Step 3: validate `params` of any modality into a TaskRequest. Pure: its Data URLs are stored by the submission."""

from typing import Any

from adapters.base import TaskRequest
from tasks.request.fields import RequestFields, refuse
from tasks.request.param_tables import FIELDS
from tasks.request.param_tables import MODALITIES as MODALITIES
from tasks.request.values import ParamRules


def parse(modality: str, params: dict[str, Any], *, model_name: str, rules: ParamRules) -> TaskRequest:
    """The request; `model_name` is the model as the top level names it. Raises InvalidRequest."""
    declared = MODALITIES[modality].declared
    table = FIELDS[modality](rules.bounds)
    fields = RequestFields.of(params, "params")
    if (fields.text("model") or model_name) != model_name:
        refuse("params.model", "must equal model")
    fields.refuse_unknown(("model", *table), declared.hints)
    values: dict[str, Any] = {}
    for name, field in table.items():
        value = field.default if params.get(name) is None else field.read(fields, name, rules)
        if value is not None:
            values[name] = value
        elif field.is_required:
            refuse(fields.at(name), "is required")
    if declared.either and not any(values.get(name) for name in declared.either):
        refuse(" or ".join(map(fields.at, declared.either)), "is required")
    return TaskRequest(modality=modality, **values)
