"""The upstream fields of `ark_images`.

Facts: Volcengine's Ark runtime SDK 5.0.54 (Images.generate) and its documentation of the image generation API.
"""

from adapters.kit import rules
from adapters.kit.upstream_fields import OUR_CALLS, FieldKind, forbidden, neutral, operators, priced

SDK = "volcengine-ark-runtime 5.0.54: Images.generate"
API = "https://docs.byteplus.com/en/docs/ModelArk/1541523"
MAX_IMAGES = 14
TIERS = ("1K", "2K", "3K", "4K")

FIELDS = (
    # `adaptive` is what models have that edit at the size of the picture.
    *priced(API, "size", legal=rules.size_or(*TIERS, "adaptive")),
    *neutral(SDK, "prompt", derived=True, replaces="prompt"),
    *neutral(SDK, "image", derived=True, replaces="images", most=MAX_IMAGES),
    *neutral(SDK, "seed", "guidance_scale", "output_format", "background", "response_format"),
    *neutral(SDK, "watermark", legal=rules.A_BOOLEAN),
    # One request makes one picture; each of these would make more.
    *neutral(SDK, "sequential_image_generation", values=("disabled",), otherwise=FieldKind.FORBIDDEN),
    *neutral(SDK, "layer_decomposition", values=(False,), otherwise=FieldKind.FORBIDDEN),
    *forbidden(SDK, "n", "max_images", "sequential_image_generation_options"),
    *operators(SDK, "tools", "tools[].type", "optimize_prompt", "optimize_prompt_options"),
    *forbidden(SDK, "model", "stream"),
    *OUR_CALLS,
)
