"""The params of 3D models: a prompt, inputs or both. Which formats a provider knows is for its adapter to say."""

from common.params.row import FIRST_VERSION, Param, ParamKind, ParamTable
from common.params.video import MOST_INPUTS

TABLE = ParamTable(
    rows=(
        Param(
            name="prompt",
            kind=ParamKind.TEXT,
            since=FIRST_VERSION,
            description="What to make.",
            rule="not blank",
            help="Text prompt.",
            place=1,
            example="a fox",
            in_matrix=False,
        ),
        Param(
            name="inputs",
            kind=ParamKind.INPUTS,
            since=FIRST_VERSION,
            most=MOST_INPUTS,
            roles={"image": ("reference",)},
            description="Reference images.",
            rule="at most {most} of the type `image` and the role `reference`",
            label="Pictures, films and sounds",
            place=2,
        ),
        Param(
            name="output_format",
            kind=ParamKind.TEXT,
            since=FIRST_VERSION,
            description="No list of formats is published.",
            rule="not blank",
            place=3,
            example="glb",
        ),
        Param(
            name="extra_body",
            kind=ParamKind.OPTIONS,
            since=FIRST_VERSION,
            description="Controls of mesh, texture, rigging or animation, for an adapter to come.",
            rule="controls of mesh, texture, rigging or animation",
            label="Fields of the provider",
        ),
    ),
    either=("prompt", "inputs"),
)
