"""Describes requests and answers of one method of a path, or of a webhook, for the pages."""

from dataclasses import dataclass
from http import HTTPStatus

from reference.rows import FieldRow

PHRASES = {"2XX": "Any success", "3XX": "Any redirect", "4XX": "Any refusal", "5XX": "Any fault", "default": "All else"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaBody:
    """One media type of a request or an answer."""

    media_type: str
    kind: str
    rows: tuple[FieldRow, ...]
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAnswer:
    status: str
    description: str
    headers: tuple[FieldRow, ...]
    bodies: tuple[MediaBody, ...]

    @property
    def phrase(self) -> str:
        """Returns the status's usual phrase."""
        return HTTPStatus(int(self.status)).phrase if self.status.isdecimal() else PHRASES[self.status]

    @property
    def is_error(self) -> bool:
        return not self.status.startswith(("1", "2", "3"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of a path, or a webhook. `parameters` are grouped by location: path, query, header. `keys` describes
    the ways to authenticate; none if the operation is public."""

    id: str
    method: str
    path: str
    tag: str
    summary: str
    description: str
    is_webhook: bool
    is_deprecated: bool
    keys: tuple[str, ...]
    parameters: tuple[tuple[str, tuple[FieldRow, ...]], ...]
    description_of_body: str
    is_body_required: bool
    bodies: tuple[MediaBody, ...]
    answers: tuple[StatusAnswer, ...]
    errors: tuple[StatusAnswer, ...]
    error_rows: tuple[FieldRow, ...]
    curl: str
