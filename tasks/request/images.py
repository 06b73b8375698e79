"""`params.images`: the reference images of an image model, as URLs, Data URLs or references to results."""

from adapters.base import ImageRef
from adapters.kit.replaced_inputs import InputRules
from catalog.model_params import IMAGE_CHOICES, most_images_taken
from common import urls
from common.http import data_urls
from tasks.request import references
from tasks.request.fields import ParamField, RequestFields, refuse
from tasks.request.references import PUBLIC_URL, public_or_own_url
from tasks.request.values import ParamRules, UnstoredFile

MASK = "mask"
MASK_TYPES = ("image/png", "image/webp")
DATA_URL = {"type": "string", "pattern": "^[Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[A-Za-z-]+;[Bb]"}


def field(*, largest: int, takes_data: bool) -> ParamField:
    """At most so many elements `{"image_url"}`, as Data URLs only where the model takes them."""

    def read(fields: RequestFields, name: str, rules: ParamRules) -> tuple[ImageRef, ...]:
        found = [(each, _image(each, rules)) for each in fields.items(name, most=largest)]
        for element, image in found:
            if isinstance(image.stored, UnstoredFile) and not takes_data:
                refuse(element.at("image_url"), "must be an http or https URL for this model")
        return tuple(image for _, image in found)

    url = {"anyOf": [PUBLIC_URL, *([DATA_URL] if takes_data else []), references.SCHEMA]}
    element = {
        "type": "object",
        "additionalProperties": False,
        "required": ["image_url"],
        "properties": {"image_url": url},
    }
    return ParamField(
        read=read,
        schema={"type": ["array", "null"], "maxItems": largest, "items": element},
        roles={"image": ["reference"]} if largest else {},
    )


def mask(given: object, rules: ParamRules) -> ImageRef:
    """`{"image_url"}` as in `params.images`, which a front takes under the name `mask`. Raises InvalidRequest."""
    found = _image(RequestFields.of(given, MASK), rules)
    if found.stored is not None and found.stored.content_type not in MASK_TYPES:
        refuse(MASK, "must be a PNG or WebP image, which can be transparent")
    return found


def rules_of_options(rules: ParamRules) -> InputRules:
    """What is asked of the images that `extra_body` gives in a protocol's own words."""

    def problem(address: str) -> str | None:
        return (
            "must not point into this service's storage"
            if rules.in_storage(address)
            else urls.problem(address, rules.urls)
        )

    offered = {name: (rules.bounds.get(name) or {}).get("values") or () for name in IMAGE_CHOICES}
    return InputRules(most_images=most_images_taken(rules.bounds), offered=offered, address_problem=problem)


def _image(element: RequestFields, rules: ParamRules) -> ImageRef:
    element.refuse_unknown(("image_url",))
    if isinstance(sent := element.values.get("image_url"), UnstoredFile):  # which no JSON can be
        return ImageRef(stored=sent)
    url = element.required_text("image_url")
    if data_urls.is_data_url(url):
        return ImageRef(stored=_unstored(element))
    if references.is_one(url):
        return ImageRef(stored=references.file(element, "image_url", rules, kind="image"))
    return ImageRef(url=public_or_own_url(element, "image_url", rules))


def _unstored(element: RequestFields) -> UnstoredFile:
    try:
        content_type, content = data_urls.decode(element.values["image_url"])
    except ValueError as error:
        refuse(element.at("image_url"), str(error))
    return UnstoredFile.of(content, content_type)
