"""Finds what a request may not ask for: it costs beyond the price table, or names objects of the operator's account.

Each is named by the field that an operator lists in `extra_fields`, and by the path at which it stands.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from common.strict_json import Trail
from common.strict_json import path as path_of
from relay.families.base import RefusedField

COSTS = "costs beyond the prices of this model"
PROVIDERS = f"is run by the provider, and {COSTS}"
FOREIGN = "names an object of another account"
TIERS = ("auto", "default", "standard_only", "flex")

# What a tool was asked, and what it has answered: whatever its author likes.
OF_TOOLS = ("input", "args", "response")


def given(document: Mapping[str, Any], names: Collection[str], reason: str) -> Iterator[RefusedField]:
    """The top-level fields of these names that say something. An empty object does: `web_search_options: {}` means a
    search."""
    for name in names:
        if document.get(name) not in (None, False, []):
            yield RefusedField(name=name, path=name, reason=reason)


def beyond(document: Mapping[str, Any], name: str, usual: Collection[str]) -> Iterator[RefusedField]:
    """The field, where it says anything else than the usual."""
    if document.get(name) is not None and document[name] not in usual:
        yield RefusedField(name=name, path=name, reason=COSTS)


def tools(listed: Any, is_own: Callable[[Any], bool], where: str = "tools") -> Iterator[RefusedField]:
    """The tools of a list that are none of the client's own: the provider runs them, at a price of their own."""
    for index, tool in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(tool, dict) or not is_own(tool.get("type")):
            yield RefusedField(name="tools", path=f"{where}[{index}]", reason=PROVIDERS)


def everywhere(document: Mapping[str, Any], root: str, names: Collection[str]) -> Iterator[RefusedField]:
    """The fields of these names in the objects below a field; not in what a tool was asked or has answered."""
    for trail, _ in below(document, root, names):
        yield RefusedField(name=str(trail[-1]), path=path_of(trail), reason=FOREIGN)


def below(document: Mapping[str, Any], root: str, names: Collection[str]) -> Iterator[tuple[Trail, Any]]:
    """Where fields of these names stand below a field, and what they say."""
    waiting: list[tuple[Trail, Any]] = [((root,), document.get(root))]
    while waiting:
        trail, value = waiting.pop()
        if isinstance(value, list):
            waiting += [((*trail, index), item) for index, item in enumerate(value) if isinstance(item, dict | list)]
        elif isinstance(value, dict):
            for name, item in value.items():
                if name in names and item is not None:
                    yield (*trail, name), item
                elif isinstance(item, dict | list) and not (name in OF_TOOLS and "name" in value):
                    waiting.append(((*trail, name), item))
