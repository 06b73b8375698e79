"""The upstream fields of the dialect `xai` of `openai_images`.

Facts: xAI's SDK 1.21.0 (GenerateImageRequest) and its documentation of image generation.
"""

from adapters.kit import rules
from adapters.kit.upstream_fields import OUR_CALLS, OURS, forbidden, neutral, operators, priced

SDK = "xai-sdk 1.21.0: GenerateImageRequest"
GUIDE = "https://docs.x.ai/docs/guides/image-generations"
MAX_IMAGES = 5
TIERS = {"1K": "1k", "2K": "2k"}

FIELDS = (
    *priced(SDK, "n"),
    *priced(SDK, "resolution", legal=rules.one_of(*TIERS.values())),
    *neutral(SDK, "prompt", derived=True, replaces="prompt"),
    *neutral(SDK, "image", "images", derived=True, replaces="images", most=MAX_IMAGES),
    *neutral(SDK, "aspect_ratio", derived=True, legal=rules.ratio_or("auto")),
    *neutral(SDK, "response_format"),
    *operators(GUIDE, "quality"),
    *operators(SDK, "user"),
    # Objects of the operator's account, and what makes some of them public.
    *operators(SDK, "image.file_id", "images[].file_id", "storage_options"),
    *forbidden(GUIDE, "size", "style"),
    *forbidden(SDK, "model", "stream"),
    *forbidden(OURS, "partial_images"),
    *OUR_CALLS,
)
