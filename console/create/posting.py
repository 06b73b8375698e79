"""What a browser has posted, as the form reads it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from console.create import own_results
from console.create.document import Posted


def of(request: HttpRequest, key_id: int) -> Posted:
    """The fields and the files; a file field in which nothing was chosen comes without bytes and counts for nothing."""
    files = {name: [_content(file) for file in given if file.size] for name, given in request.FILES.lists()}
    return Posted(texts=texts(request), files=files, own=partial(own_results.reference, key_id))


def _content(file: "UploadedFile[bytes]") -> bytes:
    """All of it, also when it was read before."""
    file.seek(0)
    content: bytes = file.read()
    return content


def with_texts(posted: Posted, texts: Mapping[str, Sequence[str]]) -> Posted:
    """The same files beside other texts."""
    return replace(posted, texts=texts)


def texts(request: HttpRequest) -> Mapping[str, list[str]]:
    return {name: [text for text in given if isinstance(text, str)] for name, given in request.POST.lists()}
