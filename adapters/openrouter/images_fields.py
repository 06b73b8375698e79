"""The upstream fields of `openrouter_images`.

Facts: OpenRouter's SDK 1.3.84 (ImageGenerationRequest) and its documentation of provider routing.
"""

from adapters.kit import rules
from adapters.kit.upstream_fields import OUR_CALLS, OURS, forbidden, neutral, operators, priced

SDK = "openrouter 1.3.84: ImageGenerationRequest"
ROUTING = "https://openrouter.ai/docs/features/provider-routing"
MAX_IMAGES = 16
TIERS = {"0.5K": "512", "1K": "1K", "1.5K": "1.5K", "2K": "2K", "4K": "4K"}
NAMES = (*TIERS.values(), "768")

FIELDS = (
    *priced(SDK, "n"),
    *priced(SDK, "resolution", legal=rules.one_of(*NAMES)),
    *priced(SDK, "size", legal=rules.size_or(*NAMES)),
    *neutral(SDK, "prompt", derived=True, replaces="prompt"),
    *neutral(SDK, "input_references", derived=True, replaces="images", most=MAX_IMAGES),
    *neutral(SDK, "aspect_ratio", derived=True, legal=rules.ratio_or("auto")),
    *neutral(SDK, "background", "output_compression", "seed", "session_id"),
    *neutral(SDK, "output_format", values=("png", "jpeg", "webp")),
    *operators(SDK, "quality", "user", "trace"),
    # They choose who sells the picture, and so its price; the options pass by all that is checked and billed here.
    *operators(ROUTING, "provider"),
    *forbidden(ROUTING, "provider.options"),
    *forbidden(SDK, "model", "models", "stream"),
    *forbidden(OURS, "partial_images"),
    *OUR_CALLS,
)
