"""Video params. Which durations, resolutions and ratios a provider knows is for its adapter to say."""

from collections.abc import Mapping
from typing import Any

from tasks.request import inputs, options, param_fields
from tasks.request.inputs import Roles
from tasks.request.param_fields import ModalityParams, ParamField

LONGEST_SECONDS = 86_400
RESERVED = ("model", "prompt", "duration", "resolution", "aspect_ratio", "inputs")
ROLES: Roles = {
    "image": ("first_frame", "last_frame", "reference"),
    "video": ("reference",),
    "audio": ("reference",),
}


def table(offered: Mapping[str, Any]) -> dict[str, ParamField]:
    return {
        "prompt": param_fields.prompt(longest=(offered.get("prompt") or {}).get("max")),
        "duration": param_fields.whole(largest=LONGEST_SECONDS, is_required=True, description="Seconds."),
        "resolution": param_fields.text(is_required=True),
        "aspect_ratio": param_fields.text(is_required=True),
        "generate_audio": param_fields.flag(offered.get("generate_audio") or {}),
        "inputs": inputs.field(ROLES, offered.get("inputs") or {}),
        "provider_options": options.field(reserved=RESERVED),
    }


PARAMS = ModalityParams(table=table, hints={"extra_body": "use params.provider_options"})
