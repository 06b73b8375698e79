"""The upstream fields of `dashscope_video`, by what they can do to the cost.

Kinds are those of `adapters/kit/upstream_fields.py`; what is not listed is the operator's. Options are parameters, but
for `negative_prompt`, which is part of the input.
"""

from adapters.kit.upstream_fields import forbidden, neutral, operators, priced

SDK = "Alibaba's DashScope SDK 2.0.2"
PAGE = "Alibaba's documentation of video synthesis"

FIELDS = (
    *priced(SDK, "audio", "duration", "resolution", "size"),
    *neutral(SDK, "input", "parameters", "ratio", derived=True),
    *neutral(SDK, "negative_prompt", "prompt_extend", "seed", "shot_type", "watermark"),
    *operators(PAGE, "enable_thinking"),
    *operators(SDK, "audio_setting", "task", "template"),
    *forbidden(SDK, "audio_url", "callback_url", "img_url", "media", "model", "n", "reference_urls"),
)
