"""The upstream fields of `openai_images`, as OpenAI has them.

Facts: its SDK openai 3.54.0 (ImageGenerateParams, ImageEditParams) and its pages on image generation and its prices.
"""

from adapters.kit import rules
from adapters.kit.upstream_fields import OUR_CALLS, forbidden, neutral, operators, priced

SDK = "openai 3.54.0: ImageGenerateParams, ImageEditParams"
PRICES = "https://platform.openai.com/docs/pricing"
GUIDE = "https://platform.openai.com/docs/guides/image-generation"

FIELDS = (
    *priced(SDK, "n"),
    *priced(SDK, "size", legal=rules.size_or("auto")),
    *neutral(SDK, "prompt", derived=True, replaces="prompt"),
    *neutral(SDK, "background", "output_compression", "frame_duration_ms", "style", "response_format"),
    # A gif is several pictures; for an svg another model is paid as well.
    *neutral(SDK, "output_format", values=("png", "jpeg", "webp")),
    # Absent it is the best that there is, and the dearest.
    *operators(PRICES, "quality", "input_fidelity"),
    *operators(SDK, "complexity", "prompt_rewriter", "frame_count", "svg", "mask", "markup"),
    *operators(GUIDE, "moderation"),
    *operators(SDK, "safety_identifier", "user"),
    *forbidden(SDK, "svg.model", "partial_images", "stream", "model"),
    # Edits go out as forms with files: in them an address would be no picture, and nobody could check it.
    *forbidden(SDK, "image", "images"),
    *OUR_CALLS,
)
