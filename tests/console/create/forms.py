"""What a browser posts for the models of the tests, and forms of any schema."""

from collections.abc import Mapping, Sequence
from typing import Any

from common.errors import TaskNotFound
from console.create import document, fields
from console.create.document import PostedForm
from console.create.fields import ModelForm
from tasks.request import schema

CATALOG = {
    "image_size": {"values": ["1K", "2K"], "default": "1K"},
    "aspect_ratio": {"values": ["1:1", "16:9"], "default": "1:1"},
    "n": {"max": 4},
    "images": {"max": 3},
}
SUGGESTED = {"resolution": ("720p", "1080p"), "aspect_ratio": ("16:9", "1:1")}
IMAGE = {"params.prompt": "a fox", "params.n": "2", "params.image_size": "1", "params.aspect_ratio": "0"}
VIDEO = {
    "params.prompt": "a fox runs",
    "params.duration": "5",
    "params.resolution": "0",
    "params.aspect_ratio": "0",
    "params.generate_audio": "",
}


def form_of(modality: str, catalog: Mapping[str, Any] = CATALOG) -> ModelForm:
    published = schema.params_schema(modality, catalog, names=["aurora"])
    return fields.made("aurora", modality, published, SUGGESTED if modality == "video" else {})


def form_of_fields(required: Sequence[str] = (), **properties: Any) -> ModelForm:
    return fields.made("odd", "image", {"properties": properties, "required": list(required)}, {})


def nothing_own(place: str) -> str:
    raise TaskNotFound()


def posted(texts: Mapping[str, str | list[str]], **more: Any) -> PostedForm:
    listed = {name: text if isinstance(text, list) else [text] for name, text in texts.items()}
    return PostedForm(texts=listed, **{"own": nothing_own, **more})


def built(form: ModelForm, texts: Mapping[str, str | list[str]], **more: Any) -> dict[str, Any]:
    return document.build(form, posted(texts, **more), {})
