"""The upstream fields of `dashscope_image`.

Facts: Alibaba's DashScope SDK 2.0.2 (ImageSynthesis) and its documentation of the two endpoints.
"""

from adapters.dashscope import messages
from adapters.kit import rules
from adapters.kit.upstream_fields import CALLS, OUR_CALLS, OURS, forbidden, neutral, priced

SDK = "dashscope 2.0.2: ImageSynthesis"
API = "https://www.alibabacloud.com/help/en/model-studio/qwen-image-api"
MAX_IMAGES = 10
TIERS = ("1K", "2K", "4K")
# The model, where the answer goes and its shape; text with as many pictures as the model likes, whatever `n` says.
NEVER = ("model", "stream", "incremental_output", "enable_interleave", "max_images")

FIELDS = (
    *priced(API, "parameters.n"),
    *priced(API, "parameters.size", legal=rules.size_or(*TIERS, sign="*")),
    *priced(API, "parameters.enable_sequential", legal=rules.A_BOOLEAN),
    # Only pictures that are delivered are billed, whatever these take.
    *neutral(API, *(f"parameters.{name}" for name in ("thinking_mode", "prompt_extend")), legal=rules.A_BOOLEAN),
    *neutral(API, *(f"parameters.{name}" for name in ("negative_prompt", "seed"))),
    *neutral(SDK, "parameters.watermark", legal=rules.A_BOOLEAN),
    *neutral(SDK, *(f"parameters.{name}" for name in ("bbox_list", "color_palette", "style"))),
    *neutral(SDK, *(f"parameters.{name}" for name in ("ref_strength", "ref_mode", "similarity", "sketch_weight"))),
    *neutral(SDK, "parameters.realisticness"),
    *forbidden(SDK, *NEVER, *(f"parameters.{name}" for name in NEVER)),
    *OUR_CALLS,
    *forbidden(OURS, *(f"parameters.{name}" for name in CALLS)),
    *neutral(SDK, "input", derived=True, replaces="messages", parts=messages.parts, most=MAX_IMAGES),
    # Parts of it, where they are not read.
    *forbidden(SDK, "messages", "prompt", "image", "images", "function"),
)
