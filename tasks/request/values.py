"""The values that go into the parsers of a submission, and that come out of them."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.base import StoredFile
from common import urls

Metadata = dict[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionBody:
    """A submission whose `params` are an object and otherwise unchecked; the callback URL is acceptable by syntax."""

    model: str
    modality: str | None
    params: dict[str, Any]
    metadata: Metadata | None
    callback_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamRules:
    """What params are parsed by. `bounds` are the model's (`catalog/runnable/bounds.py`); `own_asset` gives the URL
    that a request keeps for a valid asset URL of the submitting key; `in_storage` says whether a URL leads into our
    storage itself; `upload_url` gives what stands for the URL of a file of this type until its task is bought;
    `referred` gives the file of a reference that the submitting key may take."""

    bounds: Mapping[str, Any]
    urls: urls.UrlPolicy
    own_asset: Callable[[str], str | None]
    in_storage: Callable[[str], bool]
    upload_url: Callable[[str], str] = str
    referred: "Callable[[str], ReferredFile | None]" = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstoredFile(StoredFile):
    """The bytes of a Data URL that no storage has yet: its key is empty."""

    content: bytes = field(repr=False)

    @classmethod
    def of(cls, content: bytes, content_type: str) -> "UnstoredFile":
        digest = hashlib.sha256(content).hexdigest()
        return cls(key="", content_type=content_type, size_bytes=len(content), sha256=digest, content=content)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferredFile(StoredFile):
    """A result of the key's own that a request takes by this reference. The file stays the result's."""

    reference: str

    @property
    def kind(self) -> str:
        return self.content_type.partition("/")[0]
