"""Makes our own assets usable as inputs when a task is executed: gives them new URLs, or takes them from storage."""

from dataclasses import replace
from typing import TypeVar

from adapters.base import ImageRef, MediaInput, StoredFile, TaskRequest
from adapters.kit import references as files
from tasks.assets import assets, referred, signed_urls, uploads
from tasks.request import references
from tasks.request.values import ReferredFile

Found = TypeVar("Found")


class InputGone(Exception):
    """An own asset that the task takes as an input is not there any more."""


def fresh(request: TaskRequest, *, takes_files: bool = True) -> TaskRequest:
    """The request with every own asset URL made usable again; it may have expired while the task waited.

    Reference images and the mask become files of ours where the channel takes such. Raises InputGone.
    """
    if request.pictures:
        request = request.with_pictures(lambda image: _image(image, takes_files))
    return replace(request, inputs=tuple(map(_input, request.inputs))) if request.inputs else request


def judged(request: TaskRequest) -> TaskRequest:
    """The request as routes are judged by it: a picture that it refers to can be had by URL and as a file, so that it
    rules out neither those that take no files nor, where its type is one that all take, those that take nothing else.
    """
    if not any(isinstance(picture.stored, ReferredFile) for picture in request.pictures):
        return request
    return request.with_pictures(_example)


def _example(image: ImageRef) -> ImageRef:
    is_usual = isinstance(image.stored, ReferredFile) and image.stored.content_type in files.TYPES
    return ImageRef(url=uploads.example(image.stored.content_type)) if image.stored and is_usual else image


def with_upload_urls(request: TaskRequest, task_id: str) -> TaskRequest:
    """The request of this task with a URL for each file among its inputs."""
    if not any(element.stored for element in request.inputs):
        return request
    elements = (
        element if element.stored is None else replace(element, url=uploads.url(task_id, n, element.stored))
        for n, element in enumerate(request.inputs)
    )
    return replace(request, inputs=tuple(elements))


def _input(element: MediaInput) -> MediaInput:
    _require(element.stored)
    own = signed_urls.parse_own(element.url, expired_too=True)
    return replace(element, url=_still(assets.input_url(*own))) if own else element


def _image(image: ImageRef, takes_files: bool) -> ImageRef:
    _require(image.stored)
    if isinstance(image.stored, ReferredFile):
        own = None if takes_files else references.place_of(image.stored.reference)
    else:
        own = signed_urls.parse_own(image.url, expired_too=True) if image.url else None
    if own is None:
        return image
    if takes_files:
        return ImageRef(stored=_still(assets.own_file(*own)))
    return ImageRef(url=_still(assets.input_url(*own)))


def _require(file: StoredFile | None) -> None:
    """Raises InputGone for a result that was deleted."""
    if isinstance(file, ReferredFile) and not referred.is_there(file):
        _still(None)


def _still(found: Found | None) -> Found:
    if found is None:
        raise InputGone("an own asset that the request takes as an input was deleted")
    return found
