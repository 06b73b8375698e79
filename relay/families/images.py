"""`images`: POST /v1/images/generations and /v1/images/edits of general keys, OpenAI's Images API.

An edit is JSON or a form with files. What was made is counted in pictures, and in tokens where the answer tells them;
its output tokens are those of pictures, but for those of text that it tells. A picture of which a stream has shown a
part counts as made: nobody gets it for nothing by leaving early. A stream ends with the completed event of its last
picture. Facts: openai 3.54 (parameters of both, `images_response.py`, and the events in `image_*_event.py`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from adapters.base import text
from common.http import multipart
from common.token_usage import COUNTS, TokenUsage
from relay.families import counts, endpoints, fields, openai_counts, pictures, refusals
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily
from relay.families.fields import mapping
from relay.families.frames import image_frames, joined_images
from relay.families.image_forms import FormFields
from relay.families.requests import images as requests
from relay.families.watching import FrameReader

GENERATIONS, EDITS = "/v1/images/generations", "/v1/images/edits"
EVENT = re.compile(rb'"type"\s*:\s*"image_(?:generation|edit)\.(?:partial_image|completed)"')
OWN = re.compile(rb'"type"\s*:\s*"image_(?:generation|edit)\.')
COMPLETED = ("image_generation.completed", "image_edit.completed")
PARTIAL = ("image_generation.partial_image", "image_edit.partial_image")
LONGEST_KIND = 40  # of a size or a quality


class ImagesFamily(CommonFamily):
    """OpenAI's Images API (base.Family)."""

    name: ClassVar[str] = "images"
    platform = "openai"
    error_path = GENERATIONS
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    member = "data"
    texts = frozenset({"revised_prompt"})

    def document(self, raw: bytes, path: CallPath) -> dict[str, Any]:
        if path.path == EDITS and multipart.is_form(path.content_type):
            return FormFields(raw, path.content_type)
        return super().document(raw, path)

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

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
        return raw if upstream_model == asked.model else requests.renamed_form(document, raw, upstream_model)

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.openai_url(endpoint, path.path.removeprefix("/v1"))

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        """Of the pictures alone where no tokens are told."""
        answer = mapping(document)
        made = min(sum(map(_is_picture, fields.mappings(answer.get("data")))), asked.images)
        return _with_pictures(_usage(mapping(answer.get("usage"))), made, answer)

    def is_told(self, item: Mapping[str, Any]) -> bool:
        return _is_picture(item)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        usage = self.usage(document, asked)
        return Delivered(pictures=usage.images if usage else 0)

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return image_frames.of_answer(mapping(document), is_edit=path.path == EDITS)

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        return joined_images.of_events(events)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return ImagesReader(asked, upstream_model, words=self.words, texts=None, name_path=self.name_path)


class ImagesReader(FrameReader):
    """The events of one call's pictures."""

    __slots__ = ("_completed", "_made")
    own = OWN

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        return isinstance(document.get("data"), list) and not document.get("type")

    def _watch(self, frame: bytes) -> bool:
        if b'"image_' in frame and EVENT.search(frame):
            event = self._parsed(frame)
            if event.get("type") in PARTIAL:
                self._take(event, 0)
            elif event.get("type") in COMPLETED:
                self._take(event, 1)
        return True

    def _take(self, event: Mapping[str, Any], completed: int) -> None:
        """Each event tells the tokens of its own picture, and the completed one of the last picture ends the stream."""
        begun, is_picture = getattr(self, "_made", 0), _is_picture(event)
        self._made = begun + (completed if is_picture else 0)
        self._completed = getattr(self, "_completed", 0) + completed
        known, told = self.usage or TokenUsage(), _usage(mapping(event.get("usage"))) or TokenUsage()
        made = min(max(known.images, begun + int(is_picture)), self._asked.images)
        if completed or made != known.images:
            tokens = _sum(known, told) if completed else known
            self.usage = _with_pictures(tokens, made, event)
        self.delivered = Delivered(pictures=made)
        self.is_over = self.can_end = self._completed >= self._asked.images


def _is_picture(item: Mapping[str, Any]) -> bool:
    return pictures.is_base64(item.get("b64_json")) or pictures.is_address(item.get("url"))


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in COUNTS})


def _with_pictures(usage: TokenUsage | None, made: int, told: Mapping[str, Any]) -> TokenUsage | None:
    """The usage with so many pictures, of the size and quality that are told; None where nothing was used."""
    if not made and (usage is None or not usage.input_tokens + usage.output_tokens):
        return None
    known = usage or TokenUsage()
    size, quality = (text(told.get(name))[:LONGEST_KIND] for name in ("size", "quality"))
    return replace(known, images=made, size=size or known.size, quality=quality or known.quality)


def _usage(told: Mapping[str, Any]) -> TokenUsage | None:
    usage = openai_counts.told(told)
    if usage is None:
        return None
    details = told.get("output_tokens_details")
    texts = max(counts.count(details, "text_tokens") or 0, usage.reasoning_tokens)
    if usage.image_tokens and usage.image_tokens + texts >= usage.output_tokens:
        return usage
    return replace(usage, image_tokens=max(0, usage.output_tokens - texts) or usage.output_tokens)
