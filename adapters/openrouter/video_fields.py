"""The upstream fields of `openrouter_videos`, by what they can do to the cost.

Kinds are those of `adapters/kit/upstream_fields.py`; what is not listed is the operator's. `provider` chooses the
seller, and so the price, and passes fields through to it. `previous_job_id` is a job of the operator's account, which
another customer may have bought.
"""

from adapters.kit.upstream_fields import forbidden, neutral, operators, priced

SDK = "OpenRouter's SDK 1.3.84"

FIELDS = (
    *priced(SDK, "duration", "generate_audio", "resolution"),
    *neutral(SDK, "aspect_ratio", "frame_images", "input_references", "prompt", derived=True),
    *neutral(SDK, "seed", "session_id"),
    *operators(SDK, "creativity", "previous_job_id", "provider", "trace", "user"),
    *forbidden(SDK, "callback_url", "model", "size", "upscale_factor"),
)
