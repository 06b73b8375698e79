"""Image params. The catalog says which values a model offers; a part that it leaves out offers nothing."""

from collections.abc import Mapping
from typing import Any

from catalog.model_params import IMAGE_CHOICES
from tasks.request import images, options, param_fields
from tasks.request.param_fields import ModalityParams, ParamField

LONGEST_PROMPT = 32_000


def table(offered: Mapping[str, Any]) -> dict[str, ParamField]:
    most = largest_count(offered)
    return {
        "prompt": param_fields.prompt(longest=LONGEST_PROMPT),
        "n": param_fields.whole(largest=most, default=1),
        **{name: param_fields.choice(offered.get(name) or {}) for name in IMAGE_CHOICES},
        # A number as its `n` may not pass the model's maximum either. Other values of `n`, and counts that stand
        # elsewhere, are for the adapter and the examination.
        "extra_body": options.field(largest={"n": most}),
        "images": images.field(largest=images.most(offered)),
    }


def largest_count(offered: Mapping[str, Any]) -> int:
    """The model's maximum of images."""
    most: int = (offered.get("n") or {}).get("max", 1)
    return most


PARAMS = ModalityParams(
    table=table,
    hints={
        "size": "use params.image_size and params.aspect_ratio",
        "resolution": "use params.image_size",
        "generationConfig": "use the portable fields or params.extra_body",
        "contents": "use params.prompt and params.images",
    },
)
