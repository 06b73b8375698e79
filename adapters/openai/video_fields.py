"""The upstream fields of `openai_videos`, by what they can do to the cost.

Kinds are those of `adapters/kit/upstream_fields.py`; what is not listed is the operator's: the protocol itself has no
further field, and every gateway has its own.
"""

from adapters.kit.upstream_fields import forbidden, neutral, operators, priced

SDK = "OpenAI's SDK 3.54.0"
OMNI = "vLLM-Omni's documentation of its videos API"

OPENAI = (
    *priced(SDK, "seconds", "size"),
    *neutral(SDK, "prompt", "input_reference", derived=True),
    *forbidden(OMNI, "callback_url", "extra_params", "generate_sound", "height", "num_frames", "width"),
    *forbidden(SDK, "model"),
)
VLLM_OMNI = (
    *priced(SDK, "seconds", "size"),
    *priced(OMNI, "generate_sound"),
    *neutral(SDK, "prompt", "input_reference", derived=True),
    *neutral(OMNI, "boundary_ratio", "flow_shift", "negative_prompt", "seed"),
    # More frames, more steps or a second pass for the same seconds; further inputs; files of the server.
    *operators(OMNI, "fps", "guidance_scale", "guidance_scale_2", "num_inference_steps", "true_cfg_scale"),
    *operators(OMNI, "enable_frame_interpolation", "frame_interpolation_exp", "frame_interpolation_model_path"),
    *operators(OMNI, "frame_interpolation_scale", "lora", "sound_duration"),
    *operators(OMNI, "audio_reference", "image_reference", "video_reference"),
    *forbidden(OMNI, "callback_url", "extra_params", "height", "num_frames", "width"),
    *forbidden(SDK, "model"),
)
