"""`images`: POST /v1/images/generations and /v1/images/edits of general keys, OpenAI's Images API.

An edit is JSON or a form with files. What was made is counted in pictures, and in tokens where the answer tells them;
its output tokens are those of pictures unless it says how they divide. A picture of which a stream has shown a part
counts as made: nobody gets it for nothing by leaving early. A stream ends with the completed event of its last
picture. Facts: openai 3.54 (parameters of both, `images_response.py`, and the events in `image_*_event.py`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from common.http import multipart
from common.token_usage import TokenUsage
from relay.families import bounds, counts, endpoints, fields, refusals, refused_fields
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily
from relay.families.fields import mapping
from relay.families.image_forms import FormFields
from relay.families.refused_fields import COSTS
from relay.families.watching import FrameReader
from relay.wire import splicing

GENERATIONS, EDITS = "/v1/images/generations", "/v1/images/edits"
MOST_PICTURES = 128
EVENT = re.compile(rb'"type"\s*:\s*"image_(?:generation|edit)\.(?:partial_image|completed)"')
COMPLETED = ("image_generation.completed", "image_edit.completed")
PARTIAL = ("image_generation.partial_image", "image_edit.partial_image")
# For an svg another model is paid as well, and an animation is several pictures.
PRICED_APART = ("svg", "frame_count")
USUAL_FORMATS = ("png", "jpeg", "webp")


class ImagesFamily(CommonFamily):
    """OpenAI's Images API (base.Family)."""

    name: ClassVar[str] = "images"
    platform = "openai"
    error_path = GENERATIONS
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    file_roots = ("image", "images", "mask")
    texts = frozenset({"revised_prompt"})

    def document(self, raw: bytes, path: CallPath) -> dict[str, Any]:
        if path.path == EDITS and multipart.is_form(path.content_type):
            return FormFields(raw, path.content_type)
        return super().document(raw, path)

    def input_bound(self, document: Mapping[str, Any], raw: bytes) -> int:
        return document.input_bound if isinstance(document, FormFields) else super().input_bound(document, raw)

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        fields.query(path.query, self.query)
        pictures = fields.count(document, "n", most=MOST_PICTURES) or 1
        bound = self.input_bound(document, raw)
        return AskedCall(
            model=fields.model(document),
            is_stream=fields.flag(document, "stream"),
            input_bound=bound,
            input_estimate=bounds.likely(bound),
            choices=pictures,
            images=pictures,
        )

    def refused(self, document: Mapping[str, Any], path: CallPath) -> list[RefusedField]:
        return [
            *refused_fields.given(document, PRICED_APART, COSTS),
            *refused_fields.beyond(document, "output_format", USUAL_FORMATS),
            *self._stored(document),
        ]

    def _stored(self, document: Mapping[str, Any]) -> Iterator[RefusedField]:
        for root in self.file_roots:
            yield from refused_fields.everywhere(document, root, ("file_id",))

    def body(
        self,
        document: Mapping[str, Any],
        raw: bytes,
        asked: AskedCall,
        upstream_model: str,
        *,
        takes_stream_options: bool = True,
    ) -> bytes:
        if not isinstance(document, FormFields):
            return super().body(document, raw, asked, upstream_model)
        if upstream_model == asked.model:
            return raw
        if document.model_span is None:
            raise fields.refusal("model", "cannot be read in this form")
        return splicing.replaced(raw, document.model_span, upstream_model.encode())

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.openai_url(endpoint, path.path.removeprefix("/v1"))

    def usage(self, document: Any) -> TokenUsage | None:
        """Of the pictures alone where no tokens are told."""
        made = mapping(document).get("data")
        return _with_pictures(mapping(document).get("usage"), len(made) if isinstance(made, list) else 0)

    def delivered(self, document: Any) -> Delivered:
        usage = self.usage(document)
        return Delivered(pictures=usage.images if usage else 0)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return ImagesReader(asked, upstream_model, words=self.words, texts=None, name_path=self.name_path)


class ImagesReader(FrameReader):
    """The events of one call's pictures."""

    __slots__ = ()

    def _watch(self, frame: bytes) -> bool:
        if b'"image_' in frame and EVENT.search(frame):
            event = self._parsed(frame)
            if event.get("type") in PARTIAL:
                self._count(self._finished + 1, {})
            elif event.get("type") in COMPLETED:
                self._finished += 1
                self._count(self._finished, event.get("usage"))
                self.is_over = self.can_end = self._finished >= self._asked.images
        return True

    def _count(self, pictures: int, told: Any) -> None:
        """Each event tells the tokens of its own picture."""
        known, more = self.usage or TokenUsage(), _with_pictures(told, 0) or TokenUsage()
        self.usage = TokenUsage(
            input_tokens=known.input_tokens + more.input_tokens,
            cached_tokens=known.cached_tokens + more.cached_tokens,
            output_tokens=known.output_tokens + more.output_tokens,
            image_tokens=known.image_tokens + more.image_tokens,
            images=min(max(known.images, pictures), self._asked.images),
        )
        self.delivered = Delivered(pictures=self.usage.images)


def _with_pictures(told: Any, pictures: int) -> TokenUsage | None:
    usage = counts.believed(_usage, told)
    if usage is None:
        return TokenUsage(images=pictures) if pictures else None
    return replace(usage, images=pictures)


def _usage(told: Mapping[str, Any]) -> TokenUsage:
    usage = counts.openai_usage(told, "input", "output")
    is_divided = isinstance(told.get("output_tokens_details"), dict)
    return usage if is_divided else replace(usage, image_tokens=usage.output_tokens)
