"""Video and 3D params. Which durations, resolutions and formats a provider knows is for its adapter to say."""

from adapters.base import TaskRequest
from tasks.request import inputs, options
from tasks.request.fields import Fields, refuse
from tasks.request.rules import Blob, ParamRules

MAX_DURATION_SECONDS = 86_400
RESERVED = ("model", "prompt", "duration", "resolution", "aspect_ratio", "inputs")
VIDEO_NAMES = (*RESERVED, "generate_audio", "provider_options")
VIDEO_HINTS = {"extra_body": "use params.provider_options"}
THREE_D_NAMES = ("model", "prompt", "inputs", "output_format", "extra_body")


def parse_video(fields: Fields, rules: ParamRules) -> tuple[TaskRequest, tuple[Blob, ...]]:
    """The request; video holds no bytes. Raises InvalidRequest."""
    fields.refuse_unknown(VIDEO_NAMES, VIDEO_HINTS)
    request = TaskRequest(
        modality="video",
        prompt=fields.required_text("prompt"),
        duration=fields.integer("duration", largest=MAX_DURATION_SECONDS) or fields.required("duration"),
        resolution=fields.required_text("resolution"),
        aspect_ratio=fields.required_text("aspect_ratio"),
        generate_audio=fields.flag("generate_audio"),
        inputs=inputs.parse(fields, "video", rules),
        provider_options=options.read(fields, "provider_options", reserved=RESERVED),
    )
    return request, ()


def parse_three_d(fields: Fields, rules: ParamRules) -> tuple[TaskRequest, tuple[Blob, ...]]:
    """The request; 3D holds no bytes. Raises InvalidRequest."""
    fields.refuse_unknown(THREE_D_NAMES)
    request = TaskRequest(
        modality="3d",
        prompt=fields.text("prompt") or "",
        inputs=inputs.parse(fields, "3d", rules),
        output_format=fields.text("output_format"),
        extra_body=options.read(fields, "extra_body"),
    )
    if not request.prompt and not request.inputs:
        refuse(fields.at("prompt"), "or params.inputs is required")
    return request, ()
