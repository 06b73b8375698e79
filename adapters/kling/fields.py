"""The upstream fields of `kling_tasks`, by what they can do to the cost.

Kinds are those of `adapters/kit/upstream_fields.py`; what is not listed is the operator's. Those of the newer
generation are its settings. In the older one the mode is the resolution. The lengths of several shots would have to
make up the duration.
"""

from adapters.kit.upstream_fields import forbidden, neutral, operators, priced

PAGE = "Kling's API documentation of 2026-09"

V3 = (
    *priced(PAGE, "audio", "duration", "resolution"),
    *neutral(PAGE, "aspect_ratio", "contents", "options", "prompt", "settings", derived=True),
    *neutral(PAGE, "multi_shot"),
    *operators(PAGE, "element_list", "voice_list"),
    *forbidden(PAGE, "callback_url", "external_task_id", "model", "multi_prompt", "video_list"),
)
LEGACY = (
    *priced(PAGE, "duration", "mode", "sound"),
    *neutral(PAGE, "aspect_ratio", "image", "image_list", "image_tail", "prompt", "video_list", derived=True),
    *neutral(PAGE, "cfg_scale", "negative_prompt"),
    *operators(PAGE, "element_list", "voice_list"),
    *forbidden(PAGE, "callback_url", "external_task_id", "model", "model_name", "multi_prompt"),
)
