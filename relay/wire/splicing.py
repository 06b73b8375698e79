"""Changes single values in the bytes of a JSON object, and leaves all other bytes unchanged.

It reads the object's keys only up to the one that it looks for. It is meant for valid JSON; in other bytes it finds
nothing, or something of no consequence.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

# The patterns never backtrack: bytes of a hostile upstream cost one pass.
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
WHOLE_STRING = re.compile(STRING, re.DOTALL)
OPENED = re.compile(rb"[ \t\r\n]*+\{")
KEY = re.compile(rb"[ \t\r\n,]*+(" + STRING + rb")[ \t\r\n]*+:[ \t\r\n]*+", re.DOTALL)
LISTED = re.compile(rb"[ \t\r\n]*+\[")
ITEM = re.compile(rb"[ \t\r\n,]*+(?=[^ \t\r\n,\]])")
EMPTY = re.compile(rb"[ \t\r\n]*+\}")
COMMA = re.compile(rb"[ \t\r\n]*+,[ \t\r\n]*+")
SCALAR = re.compile(rb"[^ \t\r\n,\]}]++")
MARK = re.compile(rb'[^"{}\[\]]*+["{}\[\]]')
QUOTE, BACKSLASH = ord('"'), ord("\\")
DEEPER = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}

Span = tuple[int, int]


def span(raw: bytes, *path: str) -> Span | None:
    """Locates the value at a path of keys; None if there is none."""
    begin, end = 0, len(raw)
    for name in path:
        found = _value(raw, name, begin, end)
        if found is None:
            return None
        begin, end = found
    return begin, end


def replaced(raw: bytes, found: Span, value: bytes) -> bytes:
    """Returns the bytes with a value replaced."""
    return raw[: found[0]] + value + raw[found[1] :]


def renamed(raw: bytes, path: Sequence[str], name: str) -> bytes:
    """Returns the bytes with the text at a path replaced; unchanged without a text there."""
    found = span(raw, *path)
    if found is None or raw[found[0] : found[0] + 1] != b'"':
        return raw
    return replaced(raw, found, json.dumps(name).encode())


def added(raw: bytes, found: Span, member: bytes) -> bytes:
    """Returns the bytes with a member (`"key":value`) added at the beginning of the object that begins there."""
    opened = OPENED.match(raw, found[0])
    if opened is None:
        return raw
    is_empty = raw[opened.end() : found[1]].lstrip()[:1] == b"}"
    return raw[: opened.end()] + member + (b"" if is_empty else b",") + raw[opened.end() :]


def with_member(raw: bytes, path: Sequence[str], name: str, value: bytes) -> bytes:
    """Sets a member of the object at a path, present or not. Unchanged without an object there."""
    found = span(raw, *path, name)
    if found is not None:
        return replaced(raw, found, value)
    whole = span(raw, *path)
    return raw if whole is None else added(raw, whole, json.dumps(name).encode() + b":" + value)


def with_values(raw: bytes, trails: Iterable[Sequence[str | int]], value: bytes) -> bytes:
    """Sets the value at each of these trails, whose last key is a member of an object, present or not, in one pass.
    Nothing changes where no object is."""
    wanted: dict[str | int, Any] = {}
    for *above, member in trails:
        branch = wanted
        for key in above:
            branch = branch.setdefault(key, {})
        branch[member] = None
    pieces, done = [], 0
    for (begin, end), said in sorted(_changes(raw, 0, wanted, value)):
        pieces += [raw[done:begin], said]
        done = end
    return b"".join([*pieces, raw[done:]])


def without(raw: bytes, name: str) -> bytes:
    """Removes one member of the top-level object; unchanged if it is absent."""
    opened = OPENED.match(raw)
    position = opened.end() if opened else len(raw)
    while key := KEY.match(raw, position):
        begin, position = position, _end(raw, key.end())
        if position < 0:
            return raw
        if _says(key[1], name):
            comma = COMMA.match(raw, position)
            is_first = opened is not None and begin == opened.end()
            return raw[: key.start(1) if is_first else begin] + raw[comma.end() if comma and is_first else position :]
    return raw


def _changes(raw: bytes, begin: int, wanted: Mapping[str | int, Any], value: bytes) -> Iterator[tuple[Span, bytes]]:
    left = dict(wanted)
    for key, found in _children(raw, begin) if left else ():
        if key in left:
            below = left.pop(key)
            yield from [(found, value)] if below is None else _changes(raw, found[0], below, value)
            if not left:
                return
    opened = OPENED.match(raw, begin)
    for name, below in left.items():
        if opened and below is None:
            end = opened.end()
            comma = b"" if EMPTY.match(raw, end) else b","
            yield (end, end), json.dumps(name).encode() + b":" + value + comma


def _children(raw: bytes, begin: int) -> Iterator[tuple[str | int | None, Span]]:
    """Yields an object's members by name, or a list's by number."""
    is_object = OPENED.match(raw, begin) is not None
    opened = (OPENED if is_object else LISTED).match(raw, begin)
    position, number = opened.end() if opened else len(raw), 0
    while found := (KEY if is_object else ITEM).match(raw, position):
        position = _end(raw, found.end())
        if position < 0:
            return
        yield _text(found[1]) if is_object else number, (found.end(), position)
        number += 1


def _value(raw: bytes, name: str, begin: int, end: int) -> Span | None:
    opened = OPENED.match(raw, begin, end)
    position = opened.end() if opened else end
    while key := KEY.match(raw, position, end):
        position = _end(raw, key.end())
        if position < 0:
            return None
        if _says(key[1], name):
            return key.end(), position
    return None


def _says(literal: bytes, name: str) -> bool:
    """Tells whether a key is this name, also if written with escapes."""
    return bool(literal[1:-1].decode(errors="replace") == name if b"\\" not in literal else _text(literal) == name)


def _text(literal: bytes) -> str | None:
    try:
        return str(json.loads(literal))
    except ValueError:
        return None


def _end(raw: bytes, begin: int) -> int:
    """Returns where the value ends that begins there; -1 if it does not end."""
    if raw[begin : begin + 1] not in (b'"', b"{", b"["):
        scalar = SCALAR.match(raw, begin)
        return scalar.end() if scalar else -1
    depth, position = 0, begin
    while mark := MARK.match(raw, position):
        position = mark.end()
        if raw[position - 1] == QUOTE:
            position = _string_end(raw, position - 1)
        depth += DEEPER.get(raw[mark.end() - 1], 0)
        if depth <= 0 or position < 0:
            return position
    return -1


def _string_end(raw: bytes, begin: int) -> int:
    """Returns where the string ends that begins there. The next quote is found at memory speed, and usually ends it."""
    quote = raw.find(b'"', begin + 1)
    if quote < 0 or raw[quote - 1] != BACKSLASH:
        return quote + 1 or -1
    whole = WHOLE_STRING.match(raw, begin)
    return whole.end() if whole else -1
