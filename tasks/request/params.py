"""Step 3: validate `params` of any modality into a TaskRequest. Pure: its Data URLs are stored by the submission."""

from collections.abc import Mapping
from typing import Any

from adapters.base import TaskRequest
from common.by_identity import by_identity
from tasks.request import image, three_d, video
from tasks.request.fields import RequestFields, refuse
from tasks.request.param_fields import ModalityParams
from tasks.request.values import ParamRules

MODALITIES: Mapping[str, ModalityParams] = {"image": image.PARAMS, "video": video.PARAMS, "3d": three_d.PARAMS}
# A model's bounds never change within a picture of the catalog.
TABLES = {modality: by_identity(declared.table) for modality, declared in MODALITIES.items()}


def parse(modality: str, params: dict[str, Any], *, model_name: str, rules: ParamRules) -> TaskRequest:
    """The request; `model_name` is the model as the top level names it. Raises InvalidRequest."""
    declared = MODALITIES[modality]
    table = TABLES[modality](rules.bounds)
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
