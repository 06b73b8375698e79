"""The modalities, one row each. Code that differs by modality reads this table.

How the params of each are parsed, `tasks/request/params.py` says.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Modality:
    """`label` is its name in the admin; `deadline_seconds` is its default in the setting TASK_DEADLINES."""

    name: str
    label: str
    pricing_modes: tuple[str, ...]
    deadline_seconds: int


TABLE = (
    Modality(name="image", label="Image", pricing_modes=("image_matrix", "per_request"), deadline_seconds=900),
    Modality(name="video", label="Video", pricing_modes=("video_duration", "per_request"), deadline_seconds=7_200),
    Modality(name="3d", label="Three D", pricing_modes=("per_request",), deadline_seconds=7_200),
)
UNITS = {"image_matrix": "image", "video_duration": "second", "per_request": "request"}
"""What a price is for, by pricing mode."""
BY_NAME = {modality.name: modality for modality in TABLE}
NAMES = tuple(BY_NAME)
