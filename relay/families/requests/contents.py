"""Finds what a conversation holds besides text: pictures, files, sound, stored objects, one-hour caches, tools.

Tool inputs and results have free form, and are read as text, as are tool definitions.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from common.strict_json import Trail
from relay.families.refused_fields import USUAL_CACHE
from relay.families.requests import media
from relay.families.requests.media import ContentKind, folded

TOOL_USES = ("tool_use", "server_tool_use", "mcp_tool_use")
OF_TOOLS = frozenset({"args", "response"})
CITING = frozenset({"annotations", "citations", "results"})
TOOL_CALLS = frozenset({"functioncall", "functionresponse", "toolcall", "toolresponse"})


@dataclass(slots=True)
class Contents:
    """Findings with their paths. `inline_bytes` counts base64 pictures and files, which are not text. `costly` are
    fields that no price covers, `addresses` Google's `fileData`, `definitions` tools within the conversation."""

    pictures: int = 0
    inline_bytes: int = 0
    files: list[Trail] = field(default_factory=list)
    sounds: list[Trail] = field(default_factory=list)
    stored: list[Trail] = field(default_factory=list)
    long_caches: list[Trail] = field(default_factory=list)
    costly: list[Trail] = field(default_factory=list)
    addresses: list[tuple[Trail, Any]] = field(default_factory=list)
    definitions: list[tuple[Trail, Any]] = field(default_factory=list)

    def add(self, trail: Trail, kind: ContentKind, item: Any) -> None:
        """Counts one item."""
        if kind is ContentKind.TEXT:
            return
        self.inline_bytes += media.inline_bytes(item)
        if kind is ContentKind.PICTURE:
            self.pictures += 1
            return
        self.files.append(trail)
        if kind is ContentKind.SOUND:
            self.sounds.append(trail)


def find_contents(document: Mapping[str, Any], roots: Collection[str]) -> Contents:
    """Searches the fields of these names."""
    contents = Contents()
    waiting = list(_fields((), {root: document.get(root) for root in roots}, ""))[::-1]
    while waiting:
        trail, holder, name, value, is_held = waiting.pop()
        key = folded(name)
        if not is_held:
            is_held = _judge(contents, trail, key, value, holder)
        if _is_stored(trail, key, is_held):
            contents.stored.append(trail)
        waiting += list(_below(trail, value, key, is_held))[::-1]
    return contents


def lasts_beyond(control: Any, usual: str) -> bool:
    """Tells whether a cache setting asks for an unusual lifetime."""
    said = [value for name, value in control.items() if folded(name) == "ttl"] if isinstance(control, dict) else []
    return any(value not in (None, usual) for value in said)


def long_caches(document: Mapping[str, Any], tools: Iterable[tuple[Trail, Any]]) -> Iterator[Trail]:
    """Finds the request and tools that ask for more than the five minutes that every price covers."""
    for trail, holder in [((), document), *tools]:
        if isinstance(holder, dict) and lasts_beyond(holder.get("cache_control"), "5m"):
            yield (*trail, "cache_control")


Found = tuple[Trail, Mapping[str, Any], str, Any, bool]
"""A field: its path, its object, its name, its value, and whether it is inside a counted item."""


def _judge(contents: Contents, trail: Trail, key: str, value: Any, holder: Mapping[str, Any]) -> bool:
    """Counts the field if it holds something else than text."""
    if key == "cachecontrol" and lasts_beyond(value, "5m"):
        contents.long_caches.append(trail)
    elif key == "promptcachebreakpoint" and lasts_beyond(value, USUAL_CACHE):
        contents.costly.append(trail)
    elif key == "definition" and isinstance(value, dict):
        contents.definitions.append((trail, value))
    elif key == "filedata" and isinstance(value, dict):
        contents.addresses.append((trail, value))
        contents.add(trail, media.classify_file(value, holder), value)
        return True
    if key not in media.KEYS:
        return False
    if key == media.STORED and not CITING.isdisjoint(trail):
        return False
    kinds = [(item, media.kind(key, item, holder)) for item in (value if isinstance(value, list) else [value])]
    for item, kind in kinds:
        if kind is not None:
            contents.add(trail, kind, item)
    return any(kind is not None for _, kind in kinds)


def _is_stored(trail: Trail, key: str, is_held: bool) -> bool:
    """Tells whether the field names an object stored at the provider to be read, rather than cited."""
    if key == media.STORED:
        return is_held
    return key == "id" and is_held and folded(str(trail[-2])) == "audio"


def _below(trail: Trail, value: Any, key: str, is_held: bool) -> Iterator[Found]:
    """Returns the fields of the objects in a value, in order."""
    if isinstance(value, dict):
        yield from _fields(trail, value, key, is_held)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _below((*trail, index), item, key, is_held)


def _fields(trail: Trail, holder: Mapping[str, Any], parent: str, is_held: bool = False) -> Iterator[Found]:
    is_use = holder.get("type") in TOOL_USES
    for name, value in holder.items():
        is_of_tools = name == "tools" or (is_use and name == "input") or (parent in TOOL_CALLS and name in OF_TOOLS)
        if value is not None and not is_of_tools:
            yield (*trail, name), holder, name, value, is_held
