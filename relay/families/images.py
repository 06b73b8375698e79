"""`images`: POST /v1/images/generations and /v1/images/edits of general keys, OpenAI's Images API.

An edit is JSON or a form with files. Usage counts pictures, and tokens where reported; output tokens are of pictures
unless reported as text. A preview in a stream is not a picture. A stream ends with the completed event of its last
picture, or one for all of them. Source: openai 3.54 (parameters of both, `images_response.py`, and the events in
`image_*_event.py`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from common.http import multipart
from common.token_usage import TokenUsage
from relay.families import endpoints, pictures, refusals
from relay.families.answers import images as answers
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily
from relay.families.fields import mapping
from relay.families.frames import image_frames, joined_images
from relay.families.image_forms import FormFields
from relay.families.requests import images as requests
from relay.families.streams.images import ImagesReader

GENERATIONS, EDITS = "/v1/images/generations", "/v1/images/edits"


class ImagesFamily(CommonFamily):
    """OpenAI's Images API (base.Family)."""

    name: ClassVar[str] = "images"
    platform = "openai"
    error_path = GENERATIONS
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    member = "data"

    def document(self, raw: bytes, path: CallPath) -> dict[str, Any]:
        if path.path == EDITS and multipart.is_form(path.content_type):
            return FormFields(raw, path.content_type)
        return super().document(raw, path)

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def renamed(self, document: Mapping[str, Any], raw: bytes, upstream_model: str) -> bytes:
        if isinstance(document, FormFields):
            return requests.renamed_form(document, raw, upstream_model)
        return super().renamed(document, raw, upstream_model)

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.openai_url(endpoint, path.path.removeprefix("/v1"))

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        return answers.usage(document, asked)

    def is_told(self, item: Mapping[str, Any]) -> bool:
        return pictures.is_item(item)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        return answers.delivered(document, asked)

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return image_frames.make_frames(mapping(document), is_edit=path.path == EDITS)

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        return joined_images.join_events(events)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return ImagesReader(asked, upstream_model, words=self.words, name_path=self.name_path)
