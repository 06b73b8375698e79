"""A task keeps its request as JSON. Before that, the Data URLs of the request are stored as files."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from adapters.base import ImageRef, MediaInput, StoredFile, TaskRequest
from common import documents
from common.documents import Unreadable
from tasks.request.values import ReferredFile, UnstoredFile


def unstored(request: TaskRequest) -> list[UnstoredFile]:
    """The files that must be stored before the request can be kept, in order."""
    return [file for file in request.stored_files if isinstance(file, UnstoredFile)]


def with_files(request: TaskRequest, files: Iterable[StoredFile]) -> TaskRequest:
    """The same request with the files, in order, that its unstored ones were stored as."""
    left = iter(files)
    request = request.with_pictures(lambda i: ImageRef(stored=next(left)) if isinstance(i.stored, UnstoredFile) else i)
    inputs = (
        dataclasses.replace(media, stored=next(left)) if isinstance(media.stored, UnstoredFile) else media
        for media in request.inputs
    )
    return dataclasses.replace(request, inputs=tuple(inputs))


EMPTY = TaskRequest(modality="")
EMPTIES = {field.name: getattr(EMPTY, field.name) for field in dataclasses.fields(EMPTY) if field.name != "modality"}


def dump(request: TaskRequest) -> dict[str, Any]:
    """JSON of every field that differs from an empty request."""
    stored = {name: value for name, empty in EMPTIES.items() if (value := getattr(request, name)) != empty}
    if request.images:
        stored["images"] = [_image_json(image) for image in request.images]
    if request.mask:
        stored["mask"] = _image_json(request.mask)
    if request.inputs:
        stored["inputs"] = [_input_json(media) for media in request.inputs]
    return stored


def load(modality: str, stored: object) -> TaskRequest:
    """The request that `dump` was given; what another version added to it is left out. Raises Unreadable."""
    values = documents.whole(stored, "params")
    given: dict[str, Any] = {"modality": modality}
    for name, read in (("images", _image), ("inputs", _input)):
        if name in values:
            given[name] = tuple(map(read, documents.listed(values[name], f"params.{name}")))
    if "mask" in values:
        given["mask"] = None if values["mask"] is None else _image(values["mask"])
    return documents.read(TaskRequest, values, **given)


def load_to_buy(modality: str, stored: object) -> TaskRequest:
    """The same for a purchase, in which a field is used or refused, and never dropped: raises Unreadable also where
    this version does not know a key."""
    request = load(modality, stored)
    if strange := _unknown(documents.whole(stored, "params")):
        raise Unreadable(f"this version does not know {', '.join(strange)}")
    return request


def duration(stored: object) -> int | None:
    """The seconds that were asked for: all that a charge needs of a request. Raises Unreadable."""
    asked: int | None = documents.whole(stored, "params").get("duration")
    if not documents.fits(asked, int | None):
        raise Unreadable("params.duration: is of a wrong type")
    return asked


def _unknown(stored: Mapping[str, Any]) -> list[str]:
    """The paths of the keys that were left out of a request that could be read."""
    parts: list[tuple[str, type, Mapping[str, Any]]] = [("params", TaskRequest, stored)]
    pictures = {f"params.images[{n}]": element for n, element in enumerate(stored.get("images", ()))}
    if stored.get("mask") is not None:
        pictures["params.mask"] = stored["mask"]
    for path, element in pictures.items():
        parts.append((path, _Image, element))
        if element.get("stored") is not None:
            parts.append((f"{path}.stored", _kind_of(element["stored"]), element["stored"]))
    for n, element in enumerate(stored.get("inputs", ())):
        parts.append((f"params.inputs[{n}]", MediaInput, element))
        if element.get("stored") is not None:
            parts.append((f"params.inputs[{n}].stored", _kind_of(element["stored"]), element["stored"]))
    return [f"{path}.{name}" for path, kind, part in parts for name in documents.unknown(kind, part)]


def _input_json(media: MediaInput) -> dict[str, Any]:
    """With a URL or a file: the URL of a file is made for each purchase."""
    left_out = "stored" if media.stored is None else "url"
    return {name: value for name, value in dataclasses.asdict(media).items() if name != left_out}


def _input(element: object) -> MediaInput:
    file = documents.shown(element).get("stored")
    if file is None:
        return documents.read(MediaInput, element)
    return documents.read(MediaInput, element, url="", stored=_file(file))


def _image_json(image: ImageRef) -> dict[str, Any]:
    return {"image_url": image.url} if image.stored is None else {"stored": dataclasses.asdict(image.stored)}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Image:
    """An image as `_image_json` writes it: one of both."""

    image_url: str | None = None
    stored: Mapping[str, Any] | None = None


def _image(element: object) -> ImageRef:
    found = documents.read(_Image, element)
    if found.image_url is not None:
        return ImageRef(url=found.image_url)
    return ImageRef(stored=_file(found.stored))


def _file(stored: object) -> StoredFile:
    return documents.read(_kind_of(stored), stored)


def _kind_of(stored: object) -> type[StoredFile]:
    return ReferredFile if "reference" in documents.shown(stored) else StoredFile
