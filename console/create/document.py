"""Conversion of a posted form to the body of `POST /v1/tasks`. Pure; only JSON syntax is validated here.

An empty field is left out. Invalid numbers stay text, so that the API's error names their field.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from common import strict_json
from common.errors import AssetExpired, InvalidRequest, TaskNotFound
from common.http import data_urls
from console.create.fields import ModelForm
from console.create.widgets import OTHER, Slot, Widget
from tasks.request.fields import refuse
from tasks.request.values import UnstoredFile

WHOLE, NUMBER = re.compile(r"-?[0-9]{1,20}"), re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?")
FILE_TYPES = "must be a PNG, JPEG, WebP or GIF image"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedForm:
    """Posted form: texts and files by name; `own` returns the reference to the key's own result "task/position", and
    raises TaskNotFound and AssetExpired."""

    texts: Mapping[str, Sequence[str]]
    own: Callable[[str], str]
    files: Mapping[str, Sequence[bytes]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Get a text with normalised line ends; empty if it is blank."""
        given = next(iter(self.texts.get(name, ())), "").replace("\r\n", "\n")
        return given if given.strip() else ""

    def lines(self, name: str) -> list[str]:
        return [line.strip() for line in self.text(name).splitlines() if line.strip()]


def build(form: ModelForm, posted: PostedForm, places: dict[str, str]) -> dict[str, Any]:
    """Build the body, with files as `UnstoredFile`; `places` receives the slot name of each input by its path. Raises
    InvalidRequest for invalid JSON, a file that is no image, or a missing own result."""
    document: dict[str, Any] = {"model": form.model, "modality": form.modality, "params": {}}
    for widget in form.widgets:
        value = _media(widget, posted, places) or None if widget.kind == "media" else _value(widget, posted)
        if value is not None:
            _put(document, widget.path, value)
    strict_json.loads_object(json.dumps(with_files_as(document, lambda file: file.sha256)).encode())
    return document


def with_files_as(value: Any, told: Callable[[UnstoredFile], str]) -> Any:
    """Replace each file in a document by a text."""
    if isinstance(value, UnstoredFile):
        return told(value)
    if isinstance(value, dict):
        return {name: with_files_as(item, told) for name, item in value.items()}
    return [with_files_as(item, told) for item in value] if isinstance(value, list) else value


def _put(document: dict[str, Any], path: str, value: Any) -> None:
    parent, _, name = path.rpartition(".")
    (document[parent] if parent else document)[name] = value


def _value(widget: Widget, posted: PostedForm) -> Any:
    """Read the value of a widget; None if it is empty."""
    text = posted.text(widget.path)
    if widget.choices:
        return _chosen(widget, text, posted)
    if widget.kind == "lines":
        return posted.lines(widget.path) or None
    if widget.kind == "number":
        return _number(text.strip(), is_whole=widget.is_whole)
    if widget.kind == "json" and text:
        return _json(widget.path, text)
    return (text.strip() if widget.kind != "long" else text) or None


def _chosen(widget: Widget, text: str, posted: PostedForm) -> Any:
    if widget.is_free and text == OTHER:
        return posted.text(f"{widget.path}.{OTHER}").strip() or None
    is_index = WHOLE.fullmatch(text) and 0 <= int(text) < len(widget.choices)
    return widget.choices[int(text)].value if is_index else text or None


def _number(text: str, *, is_whole: bool) -> int | float | str | None:
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if NUMBER.fullmatch(text) and not is_whole else text or None


def _json(path: str, text: str) -> Any:
    try:
        return strict_json.loads(text.encode())
    except InvalidRequest as error:
        inner = f"{path}.{error.param}" if error.param else path
        raise InvalidRequest(f"{path}: {error.message.replace('The body', 'The text')}", param=inner) from None


def _media(widget: Widget, posted: PostedForm, places: dict[str, str]) -> list[dict[str, Any]]:
    """Build the elements of all slots in order; in each, own results come first, then URLs, then files."""
    found: list[dict[str, Any]] = []
    for slot in widget.slots:
        for given in _given(slot, posted):
            path = f"{widget.path}[{len(found)}]"
            places[path] = slot.name
            found.append(_element(slot, given, path))
    return found


def _element(slot: Slot, given: Callable[[str], str | UnstoredFile], path: str) -> dict[str, Any]:
    if not slot.role:
        return {"image_url": given(f"{path}.image_url")}
    return {"type": slot.medium, "role": slot.role, "url": given(f"{path}.url")}


def _given(slot: Slot, posted: PostedForm) -> Iterator[Callable[[str], str | UnstoredFile]]:
    """Yield the contents of a slot as functions that return a URL or file, and raise InvalidRequest for the given path.
    Own results need look-ups, so at most one beyond the limit is yielded."""
    for place in posted.texts.get(f"{slot.name}.own", ())[: slot.most + 1]:
        yield partial(_own, posted, place)
    for url in posted.lines(f"{slot.name}.url"):
        yield partial(_url, url)
    for content in posted.files.get(f"{slot.name}.file", ()):
        yield partial(_file, content)


def _url(url: str, _path: str) -> str:
    return url


def _own(posted: PostedForm, place: str, path: str) -> str:
    try:
        return posted.own(place)
    except (TaskNotFound, AssetExpired):
        refuse(path, "is a result that no longer exists")


def _file(content: bytes, path: str) -> UnstoredFile:
    content_type = data_urls.sniffed(content)
    if content_type is None:
        refuse(path, FILE_TYPES)
    return UnstoredFile.of(content, content_type)
