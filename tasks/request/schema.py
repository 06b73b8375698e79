"""What the models endpoint publishes of params: JSON Schema (2020-12) and a summary of inputs.

The schema accepts what `tasks/request/params.py` accepts as far as JSON Schema can say. It cannot say: which hosts are
public, that a Data URL's bytes agree with its type, that input ids are unique, that `params.model` is the name sent,
and that 1.0 is no integer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.request import options, params

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def params_schema(modality: str, bounds: Mapping[str, Any], *, names: Sequence[str] = ()) -> dict[str, Any]:
    """The schema of `params` by a model's bounds; `names` are its name and aliases, each allowed as `params.model`."""
    parser = params.parser(modality, bounds)
    required = [name for name, field in parser.fields.items() if field.is_required]
    either = [{"required": [name], "properties": {name: rule}} for name, rule in parser.either.items()]
    model = {"enum": [*names, None]} if names else params.text().schema
    return {
        "$schema": DIALECT,
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        **({"anyOf": either} if either else {}),
        "properties": {name: field.schema for name, field in parser.fields.items()} | {"model": model},
        "$defs": options.DEFINITIONS,
    }


def inputs_summary(modality: str, bounds: Mapping[str, Any]) -> dict[str, Any]:
    """`{"max", "roles"}`: how many inputs (for images: reference images), and the roles by type of input."""
    for field in params.parser(modality, bounds).fields.values():
        if field.roles:
            return {"max": field.schema["maxItems"], "roles": field.roles}
    return {"max": 0, "roles": {}}
