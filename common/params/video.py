"""The params of videos. Which durations, resolutions and ratios a provider knows is for its adapter to say."""

from common.params.row import FIRST_VERSION, Param, ParamKind, ParamTable, Roles

LONGEST_SECONDS = 86_400
MOST_INPUTS = 16
ROLES: Roles = {
    "image": ("first_frame", "last_frame", "reference"),
    "video": ("reference",),
    "audio": ("reference",),
}

TABLE = ParamTable(
    rows=(
        Param(
            name="prompt",
            kind=ParamKind.TEXT,
            since=FIRST_VERSION,
            is_required=True,
            is_reserved=True,
            description="What to show.",
            rule="not blank",
            help="Text prompt.",
            place=1,
            example="a fox runs",
            in_matrix=False,
        ),
        Param(
            name="duration",
            kind=ParamKind.WHOLE,
            since=FIRST_VERSION,
            is_required=True,
            is_reserved=True,
            most=LONGEST_SECONDS,
            description="Length in seconds.",
            rule="seconds, 1 to {most}",
            help="Seconds.",
            place=5,
            example=5,
            in_matrix=False,
        ),
        Param(
            name="resolution",
            kind=ParamKind.TEXT,
            since=FIRST_VERSION,
            is_required=True,
            is_reserved=True,
            description="As the provider spells it, such as `720p`.",
            rule="not blank",
            place=4,
            suggestions=("480p", "720p", "1080p"),
            example="720p",
        ),
        Param(
            name="aspect_ratio",
            kind=ParamKind.TEXT,
            since=FIRST_VERSION,
            is_required=True,
            is_reserved=True,
            description="Such as `16:9`.",
            rule="not blank",
            place=3,
            suggestions=("16:9", "9:16", "1:1", "4:3", "3:4", "21:9"),
            example="16:9",
        ),
        Param(
            name="generate_audio",
            kind=ParamKind.FLAG,
            since=FIRST_VERSION,
            description="Sound, where the model can. Absent means off where there is a choice.",
            rule="sound, where the model can; absent means off where there is a choice",
            label="Sound",
            place=6,
            example=True,
        ),
        Param(
            name="inputs",
            kind=ParamKind.INPUTS,
            since=FIRST_VERSION,
            is_reserved=True,
            most=MOST_INPUTS,
            roles=ROLES,
            description="Frames and references. At most one `first_frame` and one `last_frame`.",
            rule="at most {most}, and what the model lists, see below",
            label="Pictures, films and sounds",
            place=2,
        ),
        Param(
            name="provider_options",
            kind=ParamKind.OPTIONS,
            since=FIRST_VERSION,
            description="Controls of one protocol that the fields beside it cannot express. A route that does not know "
            "one is passed\nover. Credentials, `model`, streaming and webhook fields are refused, as are the names of "
            "the fields beside\nit.\n",
            rule="controls of one protocol that the common fields cannot express",
            label="Fields of the provider",
        ),
    ),
    hints={"extra_body": "use params.provider_options"},
)
