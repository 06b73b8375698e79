"""Pages of the reference: one for each tag of the document that has operations."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.text import slugify

from reference.document import document
from reference.operations import Operation
from reference.reader import operations


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    slug: str
    name: str
    description: str
    operations: tuple[Operation, ...]

    @property
    def has_webhooks(self) -> bool:
        return any(operation.is_webhook for operation in self.operations)


@cache
def sections() -> tuple[Section, ...]:
    """Returns all sections in the document's order of tags."""
    return tuple(sections_of(document()))


def sections_of(whole: Mapping[str, Any]) -> list[Section]:
    every = list(operations(whole))
    made = (section(tag, every) for tag in whole["tags"])
    return [found for found in made if found.operations]


def section(tag: Mapping[str, Any], every: list[Operation]) -> Section:
    return Section(
        slug=slugify(tag["name"]),
        name=tag["name"],
        description=tag.get("description", ""),
        operations=tuple(operation for operation in every if operation.tag == tag["name"]),
    )
