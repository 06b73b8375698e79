"""A task keeps its request as JSON. Before that, the Data URLs of the request are stored as files."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from adapters.base import ImageRef, MediaInput, StoredFile, TaskRequest
from tasks.request.values import UnstoredFile


def unstored(request: TaskRequest) -> list[UnstoredFile]:
    """The files that must be stored before the request can be kept, in order."""
    return [image.stored for image in request.images if isinstance(image.stored, UnstoredFile)]


def with_files(request: TaskRequest, files: Iterable[StoredFile]) -> TaskRequest:
    """The same request with the files, in order, that its unstored ones were stored as."""
    left = iter(files)
    images = (ImageRef(stored=next(left)) if isinstance(i.stored, UnstoredFile) else i for i in request.images)
    return dataclasses.replace(request, images=tuple(images))


def dump(request: TaskRequest) -> dict[str, Any]:
    """JSON of every field that differs from an empty request."""
    empty = TaskRequest(modality=request.modality)
    values = {field.name: getattr(request, field.name) for field in dataclasses.fields(request)}
    stored = {name: value for name, value in values.items() if value != getattr(empty, name)}
    if request.images:
        stored["images"] = [_image_json(image) for image in request.images]
    if request.inputs:
        stored["inputs"] = [dataclasses.asdict(media) for media in request.inputs]
    return stored


def load(modality: str, stored: Mapping[str, Any]) -> TaskRequest:
    """The request that `dump` was given."""
    values = dict(stored)
    images = tuple(_image(element) for element in values.pop("images", ()))
    inputs = tuple(MediaInput(**element) for element in values.pop("inputs", ()))
    return TaskRequest(modality=modality, images=images, inputs=inputs, **values)


def _image_json(image: ImageRef) -> dict[str, Any]:
    return {"image_url": image.url} if image.stored is None else {"stored": dataclasses.asdict(image.stored)}


def _image(element: Mapping[str, Any]) -> ImageRef:
    if "image_url" in element:
        return ImageRef(url=element["image_url"])
    return ImageRef(stored=StoredFile(**element["stored"]))
