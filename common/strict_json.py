"""Strict JSON: parses a body or refuses it with the cause and the path; what the fields mean is for others.

Beyond the limits of the contract (section 1) a body may hold at most 100,000 values, so that a small body cannot
unfold into a gigabyte of empty lists.
"""

import codecs
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from common.errors import InvalidRequest

MAX_VALUES = 100_000
LARGEST, SMALLEST = 2**63 - 1, -(2**63)

QUOTED = re.compile(rb'"[^"]*"?')
BRACKET = re.compile(rb"[\[\]{}]")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# The only ways to write a NUL or a surrogate: plain UTF-8 has none, and a plain NUL is no JSON.
MAY_BE_UNSTORABLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Trail = tuple[str | int, ...]


class Flaw(ValueError):
    """A value that is refused, and stands in the document then; `key` where a key of an object is."""

    __slots__ = ("key", "reason")  # there may be 100,000

    def __init__(self, reason: str, key: str | None = None) -> None:
        self.reason = reason
        self.key = key


def loads(raw: bytes, *, max_depth: int = 64, is_kept: bool = True) -> Any:
    """The parsed body. Without `is_kept` it is only looked at, and its texts and numbers may be any that JSON has; a
    number of more than 20 digits is not read as what it is. Raises InvalidRequest naming the cause, with the JSON path
    where there is one."""
    if raw.startswith(codecs.BOM_UTF8):
        raise InvalidRequest("The body starts with a byte order mark.")
    if not raw or raw.isspace():
        raise InvalidRequest("The body is empty.")
    # Most bodies keep their bounds even if all that stands in their strings were structure.
    opened = raw.count(b"[") + raw.count(b"{")
    if opened > max_depth or opened + raw.count(b",") > MAX_VALUES:
        _check_structure(raw, max_depth)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"The body is not valid UTF-8 (byte {error.start}).") from None
    if not is_kept or not MAY_BE_UNSTORABLE.search(raw):
        with suppress(ValueError):
            return (STRICT if is_kept else LOOKING).decode(text)
    return _judged(text, is_kept)


def _judged(text: str, is_kept: bool) -> Any:
    """The document as a tolerant decoder finds it, slower. Raises InvalidRequest for its first flaw."""
    try:
        document = (TOLERANT if is_kept else TOLERANT_LOOKING).decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidRequest(f"The body is not valid JSON: {error.msg} ({where}).") from None
    for trail, reason in _flaws(document, (), is_kept):
        field_at_fault = path(trail)
        raise InvalidRequest(f"{field_at_fault or 'The body'}: {reason}.", param=field_at_fault or None)
    return document


def loads_object(raw: bytes, *, is_kept: bool = True) -> dict[str, Any]:
    """As `loads`, for a body that must be one JSON object."""
    document = loads(raw, is_kept=is_kept)
    if not isinstance(document, dict):
        raise InvalidRequest("The body must be a JSON object.")
    return document


def digest(raw: bytes) -> str:
    """SHA-256 (hex) of the body as JSON; of its bytes where it is none."""
    try:
        return digest_of(loads(raw))
    except InvalidRequest:
        return hashlib.sha256(raw).hexdigest()


def digest_of(document: Any) -> str:
    """SHA-256 (hex) of a parsed body: the order of keys, blanks, escapes and 1 against 1.0 make no difference."""
    canonical = hashlib.sha256()
    _feed(canonical.update, document)
    return canonical.hexdigest()


def field(parent: str, key: str) -> str:
    """The path of a field: `params.n`; unusual keys as `params["a b"]`, always ASCII and short."""
    if PLAIN_NAME.fullmatch(key):
        return f"{parent}.{key}" if parent else key
    return f"{parent}[{json.dumps(key if len(key) <= 64 else key[:64] + '…')}]"


def path(trail: Trail) -> str:
    """Keys and indexes from the root as one path: `params.inputs[0].url`."""
    written = ""
    for step in trail:
        written = f"{written}[{step}]" if isinstance(step, int) else field(written, step)
    return written


def leaves(value: Any, trail: Trail = ()) -> Iterator[Trail]:
    """Where in a document all values stand that hold no others."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner:
        yield trail
    for step, held in inner:
        yield from leaves(held, (*trail, step))


def _check_structure(raw: bytes, max_depth: int) -> None:
    """Depth and number of values, counted outside strings before anything is built."""
    text = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    too_many = InvalidRequest(f"The body holds more than {MAX_VALUES:,} values.")
    # A value has at most four quotes, its key's included; the substitution costs memory by their number.
    if text.count(b'"') > 4 * MAX_VALUES:
        raise too_many
    structure = QUOTED.sub(b"", text)
    if sum(structure.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES:
        raise too_many
    depth = 0
    for bracket in BRACKET.finditer(structure):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth < 0:
            return
        if depth > max_depth:
            raise InvalidRequest(f"The body is nested more than {max_depth} levels deep.")


def _integer(digits: str) -> int:
    # The length first: int() itself refuses thousands of digits with a ValueError.
    number = int(digits) if len(digits) <= 20 else LARGEST + 1
    if SMALLEST <= number <= LARGEST:
        return number
    raise Flaw("an integer beyond 64 bits")


def _any_integer(digits: str) -> int:
    return int(digits) if len(digits) <= 20 else LARGEST + 1


def _float(digits: str) -> float:
    number = float(digits)
    if math.isfinite(number):
        return number
    raise Flaw("a number that is not finite")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) == len(pairs):
        return built
    seen: set[str] = set()
    twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    raise Flaw("a duplicate key", twice)


def _constant(name: str) -> None:
    raise Flaw(f"{name} is not a JSON number")


def _tolerant(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same hook, but a flaw stands in the document."""

    def tolerated(found: Any) -> Any:
        try:
            return hook(found)
        except Flaw as flaw:
            return flaw.with_traceback(None)  # which would keep two frames of each alive

    return tolerated


HOOKS: dict[str, Any] = {
    "object_pairs_hook": _object,
    "parse_int": _integer,
    "parse_float": _float,
    "parse_constant": _constant,
}
LOOKING_HOOKS: dict[str, Any] = {
    "object_pairs_hook": _object,
    "parse_int": _any_integer,
    "parse_constant": _constant,
}


def _tolerating(hooks: dict[str, Any]) -> dict[str, Any]:
    return {name: _tolerant(hook) for name, hook in hooks.items()}


STRICT, TOLERANT = json.JSONDecoder(**HOOKS), json.JSONDecoder(**_tolerating(HOOKS))
LOOKING, TOLERANT_LOOKING = json.JSONDecoder(**LOOKING_HOOKS), json.JSONDecoder(**_tolerating(LOOKING_HOOKS))


def _flaws(value: Any, trail: Trail, is_kept: bool) -> Iterator[tuple[Trail, str]]:
    if isinstance(value, str):
        if is_kept and (reason := _unstorable(value)):
            yield trail, reason
    elif isinstance(value, dict):
        for key, item in value.items():
            if is_kept and (reason := _unstorable(key)):
                yield (*trail, key), reason
            yield from _flaws(item, (*trail, key), is_kept)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _flaws(item, (*trail, index), is_kept)
    elif isinstance(value, Flaw):
        yield trail if value.key is None else (*trail, value.key), value.reason


def _unstorable(text: str) -> str:
    if text.isascii():
        return "a NUL character" if "\0" in text else ""
    found = UNSTORABLE.search(text)
    return "" if found is None else "a NUL character" if found[0] == "\0" else "a lone surrogate"


def _feed(update: Callable[[bytes], None], value: Any) -> None:
    if isinstance(value, str):
        encoded = value.encode()
        update(b'"%d:' % len(encoded))
        update(encoded)
    elif isinstance(value, dict):
        update(b"{%d:" % len(value))
        for key in sorted(value):
            _feed(update, key)
            _feed(update, value[key])
    elif isinstance(value, list):
        update(b"[%d:" % len(value))
        for item in value:
            _feed(update, item)
    elif isinstance(value, float) and value.is_integer():
        update(b"%d;" % int(value))
    else:
        update(f"{value!r};".encode())
