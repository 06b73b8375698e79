"""Image params. The bounds of the model say which values it offers; a part that they leave out offers nothing."""

from collections.abc import Mapping
from typing import Any

from catalog.model_params import IMAGE_CHOICES, most_images_made, most_images_taken
from tasks.request import images, options, param_fields
from tasks.request.param_fields import ModalityParams, ParamField

LONGEST_PROMPT = 32_000


def table(offered: Mapping[str, Any]) -> dict[str, ParamField]:
    most = most_images_made(offered)
    return {
        "prompt": param_fields.prompt(longest=(offered.get("prompt") or {}).get("max", LONGEST_PROMPT)),
        "n": param_fields.whole(largest=most, default=1),
        **{name: param_fields.choice(offered.get(name) or {}) for name in IMAGE_CHOICES},
        # A number as its `n` may not pass the model's maximum either. Other values of `n`, and counts that stand
        # elsewhere, are for the adapter and the examination.
        "extra_body": options.field(largest={"n": most}),
        "images": images.field(largest=most_images_taken(offered), takes_data=offered.get("data_url", True)),
    }


PARAMS = ModalityParams(
    table=table,
    hints={
        "size": "use params.image_size and params.aspect_ratio",
        "resolution": "use params.image_size",
        "generationConfig": "use the portable fields or params.extra_body",
        "contents": "use params.prompt and params.images",
    },
)
