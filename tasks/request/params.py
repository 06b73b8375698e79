"""Step 2: validate `params` of any modality into a TaskRequest, pure; storing its blobs is left to submission.

A task keeps its request as JSON: `Parsed.stored`, read back by `load` at execution.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.base import ImageRef, MediaInput, StoredFile, TaskRequest
from tasks.request import image, video
from tasks.request.fields import Fields, refuse
from tasks.request.rules import Blob, ParamRules
from tasks.request.schema import inputs_summary, params_schema

__all__ = ["Blob", "ParamRules", "Parsed", "inputs_summary", "load", "params_schema", "parse", "with_stored"]

PARSERS = {"image": image.parse, "video": video.parse_video, "3d": video.parse_three_d}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A validated request. Until `with_stored`, references to `blobs` have an empty storage key in `request` and are
    `{"stored": null}` in `stored`."""

    request: TaskRequest
    stored: dict[str, Any]
    blobs: tuple[Blob, ...] = ()


def parse(modality: str, params: dict[str, Any], *, model_name: str, rules: ParamRules) -> Parsed:
    """The request of a modality (image, video or 3d); `model_name` as the top level names it. Raises InvalidRequest."""
    fields = Fields.of(params, "params")
    if (fields.text("model") or model_name) != model_name:
        refuse("params.model", "must equal model")
    request, blobs = PARSERS[modality](fields, rules)
    return Parsed(request=request, stored=_dump(request), blobs=blobs)


def with_stored(parsed: Parsed, files: Sequence[StoredFile]) -> Parsed:
    """The same request with its blobs, in order, replaced by the files they were stored as."""
    images = list(parsed.request.images)
    for blob, file in zip(parsed.blobs, files, strict=True):
        images[blob.position] = ImageRef(stored=file)
    request = dataclasses.replace(parsed.request, images=tuple(images))
    return Parsed(request=request, stored=_dump(request))


def load(modality: str, stored: Mapping[str, Any]) -> TaskRequest:
    """The request that `Parsed.stored` was made from."""
    values = dict(stored)
    images = tuple(_image(element) for element in values.pop("images", ()))
    inputs = tuple(MediaInput(**element) for element in values.pop("inputs", ()))
    return TaskRequest(modality=modality, images=images, inputs=inputs, **values)


def _dump(request: TaskRequest) -> dict[str, Any]:
    """JSON of every field that differs from an empty request."""
    empty = TaskRequest(modality=request.modality)
    values = {field.name: getattr(request, field.name) for field in dataclasses.fields(request)}
    stored = {name: value for name, value in values.items() if value != getattr(empty, name)}
    if request.images:
        stored["images"] = [_image_json(each) for each in request.images]
    if request.inputs:
        stored["inputs"] = [dataclasses.asdict(media) for media in request.inputs]
    return stored


def _image_json(given: ImageRef) -> dict[str, Any]:
    if given.stored is None:
        return {"image_url": given.url}
    return {"stored": dataclasses.asdict(given.stored) if given.stored.key else None}


def _image(element: Mapping[str, Any]) -> ImageRef:
    if "image_url" in element:
        return ImageRef(url=element["image_url"])
    return ImageRef(stored=StoredFile(**element["stored"]))
