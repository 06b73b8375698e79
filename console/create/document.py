"""From what a browser posts to the body of `POST /v1/tasks`. Pure; nothing is judged here but what is no JSON.

A field that is left empty is left out. A number that is none stays text, so that the refusal names its field.
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
class Posted:
    """A form as it came: texts and files by name; `own` gives the reference to a result of the same key by
    "task/position", and raises TaskNotFound and AssetExpired."""

    texts: Mapping[str, Sequence[str]]
    own: Callable[[str], str]
    files: Mapping[str, Sequence[bytes]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """With the ends of lines as JSON has them; empty where nothing but blanks was typed."""
        given = next(iter(self.texts.get(name, ())), "").replace("\r\n", "\n")
        return given if given.strip() else ""

    def lines(self, name: str) -> list[str]:
        return [line.strip() for line in self.text(name).splitlines() if line.strip()]


def build(form: ModelForm, posted: Posted, places: dict[str, str]) -> dict[str, Any]:
    """The body, with files as `UnstoredFile`; `places` gets the name of the slot of each input, by the input's path.
    Raises InvalidRequest for what is no JSON, no picture, or no result of the key's any more."""
    document: dict[str, Any] = {"model": form.model, "modality": form.modality, "params": {}}
    for widget in form.widgets:
        value = _media(widget, posted, places) or None if widget.kind == "media" else _value(widget, posted)
        if value is not None:
            _put(document, widget.path, value)
    strict_json.loads_object(json.dumps(with_files_as(document, lambda file: file.sha256)).encode())
    return document


def with_files_as(value: Any, told: Callable[[UnstoredFile], str]) -> Any:
    """The same document with a text in place of each file."""
    if isinstance(value, UnstoredFile):
        return told(value)
    if isinstance(value, dict):
        return {name: with_files_as(item, told) for name, item in value.items()}
    return [with_files_as(item, told) for item in value] if isinstance(value, list) else value


def _put(document: dict[str, Any], path: str, value: Any) -> None:
    parent, _, name = path.rpartition(".")
    (document[parent] if parent else document)[name] = value


def _value(widget: Widget, posted: Posted) -> Any:
    """None where nothing was said."""
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


def _chosen(widget: Widget, text: str, posted: Posted) -> Any:
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


def _media(widget: Widget, posted: Posted, places: dict[str, str]) -> list[dict[str, Any]]:
    """The elements of all slots, in their order; in each own results come first, then URLs, then files."""
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


def _given(slot: Slot, posted: Posted) -> Iterator[Callable[[str], str | UnstoredFile]]:
    """What is in a slot; each gives its URL or file, and raises InvalidRequest with the path that it is told. Of own
    results, which are looked up, no more than are too many."""
    for place in posted.texts.get(f"{slot.name}.own", ())[: slot.most + 1]:
        yield partial(_own, posted, place)
    for url in posted.lines(f"{slot.name}.url"):
        yield partial(_url, url)
    for content in posted.files.get(f"{slot.name}.file", ()):
        yield partial(_file, content)


def _url(url: str, _path: str) -> str:
    return url


def _own(posted: Posted, place: str, path: str) -> str:
    try:
        return posted.own(place)
    except (TaskNotFound, AssetExpired):
        refuse(path, "is a result that is not there any more")


def _file(content: bytes, path: str) -> UnstoredFile:
    content_type = data_urls.sniffed(content)
    if content_type is None:
        refuse(path, FILE_TYPES)
    return UnstoredFile.of(content, content_type)
