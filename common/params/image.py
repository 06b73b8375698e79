"""The params of images."""

from common.params.row import FIRST_VERSION, Param, ParamKind, ParamTable

LONGEST_PROMPT = 32_000
MOST_IMAGES = 1_000

TABLE = ParamTable(
    rows=(
        Param(
            name="prompt",
            kind=ParamKind.TEXT,
            since=FIRST_VERSION,
            is_required=True,
            most=LONGEST_PROMPT,
            description="What to show.",
            rule="not blank, at most {most} characters",
            help="Text prompt.",
            place=1,
            example="a fox",
            in_matrix=False,
        ),
        Param(
            name="n",
            kind=ParamKind.WHOLE,
            since=FIRST_VERSION,
            default=1,
            most=MOST_IMAGES,
            most_unlisted=1,
            bound_help="Images of one request; empty is 1.",
            description="How many images; at most the model's `n.max`.",
            rule="1 to the model's `n.max`; default 1",
            label="How many",
            place=5,
            example=2,
            in_matrix=False,  # it has a row of its own there, which tells how several are bought
        ),
        Param(
            name="image_size",
            kind=ParamKind.CHOICE,
            since=FIRST_VERSION,
            bound_help="Sizes that a request may ask for: its price tiers.",
            description="A size tier of the model, such as `1K`; else its default. The price goes by it.",
            rule="a tier of the model, such as `1K`; default: the model's",
            label="Size",
            place=4,
            example="1K",
        ),
        Param(
            name="aspect_ratio",
            kind=ParamKind.CHOICE,
            since=FIRST_VERSION,
            bound_help="Ratios that a request may ask for.",
            description="A ratio of the model, such as `16:9`; else its default.",
            rule="a ratio of the model, such as `16:9`; default: the model's",
            place=3,
            example="1:1",
        ),
        Param(
            name="images",
            kind=ParamKind.IMAGES,
            since=FIRST_VERSION,
            least=0,
            most=MOST_IMAGES,
            most_unlisted=0,
            bound_help="Reference images of one request; empty is none.",
            description="Reference images, for an edit; at most the model's `images.max`.",
            rule='reference images for editing, at most the model\'s `images.max`; each is `{{"image_url": …}}`: a '
            "public URL, a Data URL, an [asset URL of your own](#assets), or a [reference](#references)",
            label="Reference images",
            place=2,
        ),
        Param(
            name="extra_body",
            kind=ParamKind.OPTIONS,
            since=FIRST_VERSION,
            component="ExtraBody",
            rule="options of the provider's protocol, merged last and shallowly into the root of its request: where "
            "one names a field that the service derived, `extra_body` wins",
            # Other values of `n`, and counts that stand elsewhere, are for the adapter and the examination.
            numbers=("n",),
            label="Fields of the provider",
        ),
    ),
    hints={
        "size": "use params.image_size and params.aspect_ratio",
        "resolution": "use params.image_size",
        "generationConfig": "use the portable fields or params.extra_body",
        "contents": "use params.prompt and params.images",
    },
)
