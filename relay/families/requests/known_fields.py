"""The fields of an object that a dialect is known to have, and what is said of others.

A field that is unknown may cost what no price covers. One that looks like a known one is worse: some servers read names
without regard to case, so it would be read beside the one that was checked.
"""

import re
import string
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from common import strict_json
from common.errors import InvalidRequest
from common.strict_json import Trail
from relay.families.base import RefusedField

UNKNOWN = "is not known to this service"
# What forms and their headers put behind a name.
ENDINGS = f"[]*{string.whitespace}"
BIG = re.compile(r"[A-Z]")
SMALL = re.compile(r"_([a-z])")


class DialectFields:
    """The names that an object may have, and of some what their own objects may have; below the others all is open."""

    __slots__ = ("_folded", "_inner", "_names", "_twins")

    def __init__(self, names: str, *, two_spellings: bool = False, **inner: "DialectFields") -> None:
        """`two_spellings`: `maxTokens` is also read as `max_tokens`."""
        self._inner = dict(inner)
        listed = [*names.split(), *inner]
        self._twins = {name: in_protocol(name) for name in listed} if two_spellings else {}
        self._inner |= {self._twins[name]: inner[name] for name in inner if self._twins}
        self._names = {*listed, *self._twins.values()}
        self._folded = {folded(name): name for name in self._names}

    def check(self, document: Mapping[str, Any], trail: Trail = ()) -> None:
        """Raises InvalidRequest for a field that is a known one but for its writing, or that is there in both of its
        spellings."""
        for name, value in document.items():
            where = (*trail, name)
            if name not in self._names:
                if (known := self._folded.get(folded(name))) is not None:
                    raise _refusal(where, f"is {known} in another writing")
                continue
            twin = self._twins.get(name, name)
            if twin != name and value is not None and document.get(twin) is not None:
                raise _refusal((*trail, twin), f"is {name} a second time")
            for position, item in _objects(value):
                if name in self._inner:
                    self._inner[name].check(item, (*where, *position))

    def unknown(self, document: Mapping[str, Any], trail: Trail = ()) -> Iterator[RefusedField]:
        """The fields that say something and that nobody knows."""
        for name, value in document.items():
            where = (*trail, name)
            if name not in self._names:
                if value is not None:
                    yield unknown(where)
            elif name in self._inner:
                for position, item in _objects(value):
                    yield from self._inner[name].unknown(item, (*where, *position))


def unknown(trail: Trail) -> RefusedField:
    """A field that no table has. An operator lists it by its path, without the numbers in it: `tools[].name`."""
    path = strict_json.path(trail)
    return RefusedField(name=re.sub(r"\[\d+\]", "[]", path), path=path, reason=UNKNOWN)


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


def _objects(value: Any) -> Iterator[tuple[Trail, dict[str, Any]]]:
    """The objects that a field holds, itself or in a list."""
    if isinstance(value, dict):
        yield (), value
    elif isinstance(value, list):
        yield from (((index,), item) for index, item in enumerate(value) if isinstance(item, dict))


def _refusal(trail: Trail, reason: str) -> InvalidRequest:
    path = strict_json.path(trail)
    return InvalidRequest(f"{path} {reason}.", param=path)
