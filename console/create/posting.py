"""Reader of posted forms."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from console.create import own_results
from console.create.document import PostedForm


def read(request: HttpRequest, key_id: int) -> PostedForm:
    """Read texts and files; an empty file field is skipped."""
    files = {name: [_content(file) for file in given if file.size] for name, given in request.FILES.lists()}
    return PostedForm(texts=texts(request), files=files, own=partial(own_results.reference, key_id))


def _content(file: "UploadedFile[bytes]") -> bytes:
    """Read the whole file, even if it was read before."""
    file.seek(0)
    content: bytes = file.read()
    return content


def with_texts(posted: PostedForm, texts: Mapping[str, Sequence[str]]) -> PostedForm:
    """Replace the texts of a posted form."""
    return replace(posted, texts=texts)


def texts(request: HttpRequest) -> Mapping[str, list[str]]:
    return {name: [text for text in given if isinstance(text, str)] for name, given in request.POST.lists()}
