"""The upstream fields of `ark_content_tasks`, by what they can do to the cost.

Kinds are those of `adapters/kit/upstream_fields.py`; what is not listed is the operator's. `frames` would win over the
duration, and `duration: -1` leaves the length to the model: both are never the caller's.
"""

from adapters.kit.upstream_fields import forbidden, neutral, operators, priced

SDK = "Volcengine's Ark runtime SDK 5.0.54"
PAGE = "Volcengine's documentation of the video generation API"
MINIMAX = "MiniMax's OpenAPI description of its video generation V2"

ARK = (
    *priced(SDK, "duration", "resolution", "generate_audio"),
    *neutral(SDK, "content", "ratio", derived=True),
    *neutral(PAGE, "camera_fixed", "return_last_frame", "seed", "watermark"),
    *operators(PAGE, "draft", "execution_expires_after", "priority", "safety_identifier", "service_tier", "tools"),
    *operators(SDK, "omni_reference_task_type", "output_format"),
    *forbidden(PAGE, "callback_url", "frames", "framespersecond", "model"),
)
MINIMAX_V2 = (
    *priced(MINIMAX, "duration", "resolution"),
    *neutral(MINIMAX, "content", "ratio", derived=True),
    *neutral(MINIMAX, "aigc_watermark"),
    *forbidden(MINIMAX, "callback_url", "frames", "framespersecond", "generate_audio", "model"),
)
