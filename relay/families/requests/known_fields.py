"""Names the fields that a dialect is known to have in each object, and judges all others.

An unknown field may cost what no price covers. Worse is one that resembles a known field: some servers ignore case in
names, so it would be read instead of the checked one.
"""

import re
import string
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from common import strict_json
from common.errors import InvalidRequest
from common.strict_json import Trail
from relay.families.base import RefusedField

UNKNOWN = "is not known to this service"
# Suffixes of names in forms and their headers.
ENDINGS = f"[]*{string.whitespace}"
INDEX = re.compile(r"\[\d+\]")
BIG = re.compile(r"[A-Z]")
SMALL = re.compile(r"_([a-z])")


class DialectFields:
    """Names that an object may have, and for some the names inside their objects; others may contain anything."""

    __slots__ = ("_folded", "_inner", "_names", "_others_pass", "_spellings", "_two_spellings")

    def __init__(
        self, names: str = "", *, two_spellings: bool = False, others_pass: bool = False, **inner: "DialectFields"
    ) -> None:
        """Sets the names. `two_spellings`: `maxTokens` is also read as `max_tokens`. `others_pass`: other names are
        judged elsewhere."""
        self._two_spellings, self._others_pass = two_spellings, others_pass
        self._inner: dict[str, DialectFields] = {}
        self._spellings: dict[str, str] = {}
        self._names: set[str] = set()
        self._add(names.split())
        self.hold(**inner)

    def hold(self, **inner: "DialectFields") -> None:
        """Sets the names inside these fields' objects, which may be this table again, as for nested parts."""
        self._add(inner)
        for name, table in inner.items():
            self._inner |= dict.fromkeys((name, self._spellings.get(name, name)), table)

    def unknown(self, document: Mapping[str, Any], trail: Trail = ()) -> list[RefusedField]:
        """Yields the unknown fields that are set, at any depth. Raises InvalidRequest for one that only differs from a
        known field in spelling, or that is present in both spellings."""
        found: list[RefusedField] = []
        self._look(document, trail, found)
        return found

    def _look(self, document: Mapping[str, Any], trail: Trail, found: list[RefusedField]) -> None:
        if not self._names.issuperset(document):
            self._judge_others(document, trail, found)
        if self._spellings:
            self._refuse_twice(document, trail)
        inner = self._inner
        for name, value in document.items():
            if name in inner and isinstance(value, (dict, list)):
                inner[name]._look_into(value, (*trail, name), found)

    def _look_into(self, value: Any, trail: Trail, found: list[RefusedField]) -> None:
        """Searches the objects in a field, itself or in a list."""
        if isinstance(value, dict):
            self._look(value, trail, found)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._look_into(item, (*trail, index), found)

    def _judge_others(self, document: Mapping[str, Any], trail: Trail, found: list[RefusedField]) -> None:
        for name, value in document.items():
            if name in self._names:
                continue
            if (known := self._folded.get(folded(name))) is not None:
                raise _refusal((*trail, name), f"is another spelling of {known}")
            if value is not None and not self._others_pass:
                found.append(refuse_unknown((*trail, name), value))

    def _refuse_twice(self, document: Mapping[str, Any], trail: Trail) -> None:
        for name, value in document.items():
            other = self._spellings.get(name)
            if other is not None and value is not None and document.get(other) is not None:
                raise _refusal((*trail, other), f"repeats {name}")

    def _add(self, names: Collection[str]) -> None:
        if self._two_spellings:
            self._spellings |= {name: in_protocol(name) for name in names if in_protocol(name) != name}
        self._names = {*self._names, *names, *self._spellings.values()}
        self._folded = {folded(name): name for name in self._names}


def refuse_unknown(trail: Trail, value: Any) -> RefusedField:
    """Refuses a field that no table has. Operators list it by its path without indexes: `tools[].name`."""
    path = strict_json.path(trail)
    return RefusedField(name=without_numbers(path), path=path, reason=UNKNOWN, value=value)


def without_numbers(path: str) -> str:
    """Returns the path as operators list it."""
    return INDEX.sub("[]", path)


def folded(name: str) -> str:
    """Returns a name as the most tolerant server would read it."""
    if name.isascii() and name.isidentifier():
        return name.lower()
    return unicodedata.normalize("NFKC", name).casefold().rstrip(ENDINGS).strip()


def in_protocol(name: str) -> str:
    """Returns a JSON name in protocol buffers' spelling: `maxTokens` as `max_tokens`."""
    return BIG.sub(lambda big: f"_{big[0].lower()}", name)


def in_json(name: str) -> str:
    """Returns a protocol buffers' name in JSON's spelling."""
    return SMALL.sub(lambda small: small[1].upper(), name)


def _refusal(trail: Trail, reason: str) -> InvalidRequest:
    path = strict_json.path(trail)
    return InvalidRequest(f"{path} {reason}.", param=path)
