"""The body of a request as OpenAI's SDKs send it: JSON, or a form whose parts are texts and files.

It is strict in both: nothing is dropped, and nothing is believed of a file but its bytes.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, NoReturn

from rest_framework.request import Request

from common import strict_json
from common.errors import InvalidRequest, UnsupportedMediaType
from common.http import data_urls, multipart
from common.http.multipart import FormPart
from tasks_api import base_view, body_digests
from tasks_api.base_view import StrictJSONParser

LIST = "[]"  # ends the name of a part that may come more than once


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """A file of a form; `name` is its part's, for the file's own and its type are whatever a client made up."""

    name: str
    content: bytes = field(repr=False)

    @property
    def image_type(self) -> str | None:
        """What image the bytes are, as a media type; None where they are none that we take."""
        return data_urls.sniffed(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBody:
    """The fields by name: JSON values, or the texts of a form. Files only a form has."""

    fields: Mapping[str, Any]
    files: tuple[SentFile, ...] = ()
    is_form: bool = False

    def named(self, *names: str) -> tuple[SentFile, ...]:
        """The files of these parts, in the order in which they came."""
        return tuple(file for file in self.files if file.name in names)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of what was sent: the same for the same form, however its boundary reads, and for JSON that
        of `strict_json`."""
        if not self.is_form:
            return strict_json.digest_of(self.fields)
        files = [[file.name, hashlib.sha256(file.content).hexdigest()] for file in self.files]
        return strict_json.digest_of({"fields": self.fields, "files": files})


def read(request: Request, *, files: Collection[str]) -> SentBody:
    """The body; `files` are the names of the parts that are files, of which those in `[]` may come more than once.

    Raises UnsupportedMediaType, then InvalidRequest naming the part.
    """
    content_type = request.headers.get("Content-Type", "")
    if not multipart.is_form(content_type):
        if base_view.media_type_of(content_type) != base_view.JSON:
            raise UnsupportedMediaType(f"Content-Type: must be {base_view.JSON} or {multipart.MEDIA_TYPE}.")
        parsed = StrictJSONParser().parse(BytesIO(request._request.body), content_type, {"request": request})
        return SentBody(fields=parsed)
    base_view.refuse_encodings(request)
    return _form(multipart.parse(request._request.body, content_type), files)


def digest_of(request: Request, *, files: Collection[str]) -> str:
    """The digest of a body that may be wrong in any way: then that of its bytes."""
    if not multipart.is_form(request.headers.get("Content-Type", "")):
        return body_digests.of(request._request.body)
    try:
        return read(request, files=files).digest
    except (InvalidRequest, UnsupportedMediaType):
        return hashlib.sha256(request._request.body).hexdigest()


def _form(parts: list[FormPart], files: Collection[str]) -> SentBody:
    fields: dict[str, str] = {}
    found: list[SentFile] = []
    seen: set[str] = set()
    for part in parts:
        if part.name in seen and not (part.name in files and part.name.endswith(LIST)):
            _refuse(part, "is given more than once")
        if part.is_file != (part.name in files):
            _refuse(part, "must be text, not a file" if part.is_file else "must be a file")
        seen.add(part.name)
        if part.is_file:
            found.append(SentFile(name=part.name, content=part.content))
        else:
            fields[part.name] = part.text()
    return SentBody(fields=fields, files=tuple(found), is_form=True)


def _refuse(part: FormPart, reason: str) -> NoReturn:
    raise InvalidRequest(f"{strict_json.field('', part.name)} {reason}.", param=part.name)
