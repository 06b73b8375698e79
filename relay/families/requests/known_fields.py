"""The fields of an object that a dialect is known to have, and what is said of others.

A field that is unknown may cost what no price covers. One that looks like a known one is worse: some servers read names
without regard to case, so it would be read beside the one that was checked.
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
# What forms and their headers put behind a name.
ENDINGS = f"[]*{string.whitespace}"
INDEX = re.compile(r"\[\d+\]")
BIG = re.compile(r"[A-Z]")
SMALL = re.compile(r"_([a-z])")


class DialectFields:
    """The names that an object may have, and of some what their own objects may have; below the others all is open."""

    __slots__ = ("_folded", "_inner", "_names", "_others_pass", "_spellings", "_two_spellings")

    def __init__(
        self, names: str = "", *, two_spellings: bool = False, others_pass: bool = False, **inner: "DialectFields"
    ) -> None:
        """`two_spellings`: `maxTokens` is also read as `max_tokens`. `others_pass`: others judge the other names."""
        self._two_spellings, self._others_pass = two_spellings, others_pass
        self._inner: dict[str, DialectFields] = {}
        self._spellings: dict[str, str] = {}
        self._names: set[str] = set()
        self._add(names.split())
        self.hold(**inner)

    def hold(self, **inner: "DialectFields") -> None:
        """Says what the objects of these fields may have: the same again, perhaps, as parts of an answer may."""
        self._add(inner)
        for name, table in inner.items():
            self._inner |= dict.fromkeys((name, self._spellings.get(name, name)), table)

    def unknown(self, document: Mapping[str, Any], trail: Trail = ()) -> list[RefusedField]:
        """The fields, however deep they stand, that say something and that nobody knows. Raises InvalidRequest for one
        that is a known one but for its writing, or that is there in both of its spellings."""
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
        """The objects that a field holds, itself or in a list."""
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
                raise _refusal((*trail, name), f"is {known} in another writing")
            if value is not None and not self._others_pass:
                found.append(unknown((*trail, name), value))

    def _refuse_twice(self, document: Mapping[str, Any], trail: Trail) -> None:
        for name, value in document.items():
            other = self._spellings.get(name)
            if other is not None and value is not None and document.get(other) is not None:
                raise _refusal((*trail, other), f"is {name} a second time")

    def _add(self, names: Collection[str]) -> None:
        if self._two_spellings:
            self._spellings |= {name: in_protocol(name) for name in names if in_protocol(name) != name}
        self._names = {*self._names, *names, *self._spellings.values()}
        self._folded = {folded(name): name for name in self._names}


def unknown(trail: Trail, value: Any) -> RefusedField:
    """A field that no table has. An operator lists it by its path, without the numbers in it: `tools[].name`."""
    path = strict_json.path(trail)
    return RefusedField(name=without_numbers(path), path=path, reason=UNKNOWN, value=value)


def without_numbers(path: str) -> str:
    """As an operator lists it."""
    return INDEX.sub("[]", path)


def folded(name: str) -> str:
    """A name as the most tolerant of servers would read it."""
    if name.isascii() and name.isidentifier():
        return name.lower()
    return unicodedata.normalize("NFKC", name).casefold().rstrip(ENDINGS).strip()


def in_protocol(name: str) -> str:
    """A name of JSON as protocol buffers write it: `maxTokens` as `max_tokens`."""
    return BIG.sub(lambda big: f"_{big[0].lower()}", name)


def in_json(name: str) -> str:
    """The other way round."""
    return SMALL.sub(lambda small: small[1].upper(), name)


def _refusal(trail: Trail, reason: str) -> InvalidRequest:
    path = strict_json.path(trail)
    return InvalidRequest(f"{path} {reason}.", param=path)
