"""Where `extra_body` goes in an upstream request: shallowly into its root, where it wins over what was derived. Pure.

Some protocols keep their settings in one object of the request. An object that is given for it replaces the derived one
whole. A setting may also be given by its own name, and goes into that object.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.base import Unsupported
from common import documents

EXTRA_BODY = "params.extra_body"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsObject:
    """The object of a protocol in which its settings are: its name in the request, and the names of all settings,
    those included that the adapter refuses wherever they stand."""

    place: str
    names: frozenset[str]
    refused: frozenset[str] = frozenset()

    def is_replaced(self, extra_body: Mapping[str, Any]) -> bool:
        return self.place in extra_body

    def merged(self, derived: Mapping[str, Any], extra_body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a request from a derived one, which has the object. For what `problems` passes."""
        settings = {name: value for name, value in extra_body.items() if name in self.names}
        body = {**derived, **{name: value for name, value in extra_body.items() if name not in self.names}}
        return {**body, self.place: {**body[self.place], **settings}}

    def path(self, extra_body: Mapping[str, Any], name: str) -> str:
        """Where the caller gives a setting, or would have to after replacing the object."""
        is_direct = name in extra_body or not self.is_replaced(extra_body)
        return f"{EXTRA_BODY}.{name}" if is_direct else f"{EXTRA_BODY}.{self.place}.{name}"

    def given(self, extra_body: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
        """Path, name and value of every setting that the caller gives, by its own name or inside the object."""
        for name in self.names & extra_body.keys():
            yield f"{EXTRA_BODY}.{name}", name, extra_body[name]
        for name, value in documents.shown(extra_body.get(self.place)).items():
            yield f"{EXTRA_BODY}.{self.place}.{name}", name, value

    def problems(self, extra_body: Mapping[str, Any]) -> Iterator[Unsupported]:
        """The object must be one, and no setting may be given twice with two values: one of them would be dropped."""
        replacing = extra_body.get(self.place)
        if self.is_replaced(extra_body) and not isinstance(replacing, Mapping):
            yield Unsupported(field=f"{EXTRA_BODY}.{self.place}", reason="must be an object", is_illegal=True)
        for name, value in documents.shown(replacing).items():
            if name in self.names and name in extra_body and not _is_same(extra_body[name], value):
                reason = f"has another value inside {self.place}"
                yield Unsupported(field=f"{EXTRA_BODY}.{name}", reason=reason)


def _is_same(one: object, other: object) -> bool:
    """Whether two JSON values are equal; a number is no boolean."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)
