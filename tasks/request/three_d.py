"""3D params: a prompt, inputs or both. Which formats a provider knows is for its adapter to say."""

from collections.abc import Mapping
from typing import Any

from tasks.request import inputs, options, param_fields
from tasks.request.param_fields import ModalityParams, ParamField


def table(_: Mapping[str, Any]) -> dict[str, ParamField]:
    return {
        "prompt": param_fields.prompt(is_required=False),
        "inputs": inputs.field({"image": ("reference",)}, {}),
        "output_format": param_fields.text(),
        "extra_body": options.field(),
    }


PARAMS = ModalityParams(
    table=table,
    either={"prompt": {"type": "string"}, "inputs": {"type": "array", "minItems": 1}},
)
