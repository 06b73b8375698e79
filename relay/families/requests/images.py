"""Requests of `images`: what they ask for, which fields are refused, and the bytes that go upstream.

Sources: openai 3.57 (the parameters of both paths); for fields that affect cost, adapters/openai/images_fields.py.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from relay.families import fields, refused_fields
from relay.families.base import AskedCall, CallPath, RefusedField
from relay.families.image_forms import FormFields
from relay.families.refused_fields import COSTS
from relay.families.requests import contents, reading
from relay.families.requests.known_fields import DialectFields
from relay.wire import splicing

ROOTS = ("image", "images", "mask", "markup")
MOST_PICTURES = 128
PARTIAL_TOKENS = 100
"""Output tokens of each preview in a stream."""
MOST_PARTIALS = 100
# An svg is made by a second paid model, and an animation is several pictures.
PRICED_APART = ("svg", "frame_count")
USUAL_FORMATS = ("png", "jpeg", "webp")
# Fields that cost more counted tokens, and nothing more if pictures are paid by the piece.
USUAL_BY_PIECE: Mapping[str, tuple[Any, ...]] = {
    "input_fidelity": ("low",),
    "moderation": ("auto",),
    "partial_images": (0, "0"),
    "complexity": ("low",),
    "prompt_rewriter": (),
    "markup": (),
}
NAMES = (
    "model prompt n size quality stream background output_compression output_format frame_duration_ms response_format"
    " style user safety_identifier aspect_ratio seed guidance_scale negative_prompt watermark image images mask "
    + " ".join((*PRICED_APART, *USUAL_BY_PIECE))
)
PICTURE = DialectFields("url file_id type detail", image_url=DialectFields("url detail"))
SVG = DialectFields("model", reasoning=DialectFields("effort"))
FIELDS = DialectFields(NAMES, image=PICTURE, images=PICTURE, mask=PICTURE, svg=SVG)
FORM_FIELDS = DialectFields(f"{NAMES} image[] images[]")


def read(document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
    """Reads the call. Raises InvalidRequest."""
    fields.query(path.query, ())
    unknown = _known(document).unknown(document)
    pictures = fields.count(document, "n", most=MOST_PICTURES) or 1
    held = contents.find_contents(document, ROOTS)
    return reading.build_call(
        document,
        raw,
        document.contents if isinstance(document, FormFields) else held,
        model=fields.model(document),
        is_stream=fields.flag(document, "stream"),
        choices=pictures,
        images=pictures,
        predicted_bound=PARTIAL_TOKENS * _partials(document),
        size=fields.text(document, "size"),
        quality=fields.text(document, "quality"),
        refused=[*_refused(document, held), *unknown],
    )


def _refused(document: Mapping[str, Any], held: contents.Contents) -> list[RefusedField]:
    """Returns the fields that pass only where opened."""
    return [
        *refused_fields.find_set(document, PRICED_APART, COSTS),
        *refused_fields.beyond(document, "output_format", USUAL_FORMATS),
        *_by_piece(document),
        *refused_fields.refuse_foreign(held.stored),
    ]


def renamed_form(document: FormFields, raw: bytes, upstream_model: str) -> bytes:
    """Replaces the model's name in a form. Raises InvalidRequest if its place is ambiguous."""
    if document.model_span is None:
        raise fields.refusal("model", "cannot be read in this form")
    return splicing.replaced(raw, document.model_span, upstream_model.encode())


def _partials(document: Mapping[str, Any]) -> int:
    """Returns how many previews a stream shows; the maximum if the number is not a documented one."""
    said = document.get("partial_images")
    text = str(said).strip()
    if said is None or not text:
        return 0
    return min(int(text), MOST_PARTIALS) if text.isdecimal() and len(text) < 9 else MOST_PARTIALS


def _known(document: Mapping[str, Any]) -> DialectFields:
    return FORM_FIELDS if isinstance(document, FormFields) else FIELDS


def _by_piece(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    for name, usual in USUAL_BY_PIECE.items():
        yield from refused_fields.beyond(document, name, usual, only_by_piece=True)
