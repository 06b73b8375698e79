"""The modalities, one row each. Code that differs by modality reads this table.

The params of each are declared in `common/params/`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Modality:
    """A kind of result. `label` is its name in the admin, `noun` its name on pages, `deadline_seconds` its default in
    the setting TASK_DEADLINES. `pricing_modes` names modes of `billing/modes.py`, which refuses to start with a name
    that it does not know."""

    name: str
    label: str
    noun: str
    pricing_modes: tuple[str, ...]
    deadline_seconds: int


TABLE = (
    Modality(
        name="image",
        label="Image",
        noun="picture",
        pricing_modes=("image_matrix", "per_request"),
        deadline_seconds=900,
    ),
    Modality(
        name="video",
        label="Video",
        noun="film",
        pricing_modes=("video_duration", "per_request"),
        deadline_seconds=7_200,
    ),
    Modality(name="3d", label="Three D", noun="3D model", pricing_modes=("per_request",), deadline_seconds=7_200),
)
BY_NAME = {modality.name: modality for modality in TABLE}
NAMES = tuple(BY_NAME)
