"""What one method of one path, or one webhook, takes and answers, as the pages show it."""

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
    """One form of a request or an answer."""

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
        """The usual words for a status."""
        return HTTPStatus(int(self.status)).phrase if self.status.isdecimal() else PHRASES[self.status]

    @property
    def is_error(self) -> bool:
        return not self.status.startswith(("1", "2", "3"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`parameters` by their place: path, query, header. `keys` are the ways to show a key, in words; none is public."""

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
