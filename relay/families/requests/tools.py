"""Separates the tools that a client runs itself from those that the provider runs, which are charged by the call.

Client tools pass, also in namespaces and as items of a conversation. Provider tools go by the vendor's name without
version dates: `web_search` for `web_search_preview_2025_03_11`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from common import strict_json, tool_names
from common.strict_json import Trail
from relay.families import fields
from relay.families.base import RefusedField
from relay.families.requests.known_fields import DialectFields, in_protocol

SHOWN = re.compile(r"[A-Za-z0-9_.:$-]{1,64}")
MOST_CALLS = 10_000  # no request makes more calls
HINTS = {
    "shell": ", or environment.type local, where you run it yourself",
    "tool_search": ", or execution client, where you run it yourself",
}

OPENAI_CLIENTS = re.compile(r"function|custom|namespace|local_shell|apply_patch|computer(?:[-_][a-z_-]+)?")
ANTHROPIC_CLIENTS = re.compile(r"custom|(?:bash|text_editor|computer|memory)_\d+|(?:computer|browser)_toolset_\d+")
GOOGLE_CLIENTS = ("functionDeclarations", "computerUse")

Listed = tuple[Trail, Any]
"""A tool with its path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTool:
    """A tool that the provider runs: its type, and the request's own limit of calls. The type is empty if the request
    gives no valid one."""

    kind: str
    trail: Trail
    limit: int | None = None

    @property
    def name(self) -> str:
        """Returns the vendor's name without a version."""
        return tool_names.family(self.kind)

    def refusal(self, name: str = "tools") -> RefusedField:
        """Returns the refusal for a tool that no price opens."""
        shown = f"the tool {self.kind}" if self.kind else "a tool of an unknown type"
        cure = f"it needs a price in tool_prices of this group{HINTS.get(self.name, '')}, or leave it out"
        reason = f"is {shown}, which the provider runs: {cure}"
        return RefusedField(name=name, path=strict_json.path(self.trail), reason=reason, tool=self.kind)


def list_tools(value: Any, trail: Trail = ("tools",)) -> Iterator[Listed]:
    """Yields a list's tools and those nested in them, as in a namespace. Raises InvalidRequest if it is no list of
    tools."""
    if value is not None and not isinstance(value, (list, dict)):
        raise fields.refusal(strict_json.path(trail), "must be a list of tools")
    for index, tool in enumerate([value] if isinstance(value, dict) else value or []):
        where = (*trail, index)
        yield where, tool
        if isinstance(tool, dict):
            yield from list_tools(tool.get("tools"), (*where, "tools"))


def find_unknown(
    tools: Iterable[Listed], is_clients: Callable[[Any], bool], clients: DialectFields, providers: DialectFields
) -> list[RefusedField]:
    """Yields unknown fields of tools, which may hide a cost, above all in a client's tool. Raises InvalidRequest for
    one that only differs from a known field in spelling."""
    objects = ((trail, tool) for trail, tool in tools if isinstance(tool, dict))
    return [
        field for trail, tool in objects for field in (clients if is_clients(tool) else providers).unknown(tool, trail)
    ]


def find_provider_tools(tools: Iterable[Listed], is_clients: Callable[[Any], bool]) -> Iterator[ProviderTool]:
    """Yields the tools that the provider runs."""
    for trail, tool in tools:
        if not is_clients(tool):
            kind = tool.get("type") if isinstance(tool, dict) else None
            yield ProviderTool(kind=_shown(kind), trail=trail, limit=_limit(tool, trail))


def list_google_tools(value: Any) -> Iterator[ProviderTool]:
    """Yields the tools of Google's list, whose entries hold tools by name."""
    for trail, entry in list_tools(value):
        if not isinstance(entry, dict):
            yield ProviderTool(kind="", trail=trail)
            continue
        for name, said in entry.items():
            if said is not None and name not in GOOGLE_CLIENTS and name not in map(in_protocol, GOOGLE_CLIENTS):
                yield ProviderTool(kind=_shown(in_protocol(name)), trail=(*trail, name))


def limits(found: Iterable[ProviderTool]) -> dict[str, int | None]:
    """Returns the most calls of each tool by name; None if one of its entries has no limit."""
    most: dict[str, int | None] = {}
    for tool in found:
        known = most.get(tool.name, 0)
        most[tool.name] = None if known is None or tool.limit is None else known + tool.limit
    return most


def is_openai_clients(tool: Any) -> bool:
    """Tells whether the client runs one of OpenAI's tools."""
    if not isinstance(tool, dict):
        return False
    kind = tool.get("type")
    if kind == "tool_search":
        return bool(tool.get("execution") == "client")
    if kind == "shell":
        environment = tool.get("environment")
        return isinstance(environment, dict) and environment.get("type") == "local"
    if isinstance(kind, str):
        return OPENAI_CLIENTS.fullmatch(kind) is not None
    return kind is None and isinstance(tool.get("function"), dict)


def is_chat_clients(tool: Any) -> bool:
    """Tells whether the client runs a tool of the chat dialect: it holds only functions and the like."""
    return is_openai_clients(tool) and tool.get("type") in (None, "function", "custom")


def is_anthropic_clients(tool: Any) -> bool:
    """Tells whether the client runs one of Anthropic's tools."""
    kind = tool.get("type") if isinstance(tool, dict) else False
    return kind is None or (isinstance(kind, str) and ANTHROPIC_CLIENTS.fullmatch(kind) is not None)


def types(found: Iterable[ProviderTool]) -> frozenset[str]:
    """Returns the types of these tools."""
    return frozenset(tool.kind for tool in found)


def _shown(kind: Any) -> str:
    return kind if isinstance(kind, str) and SHOWN.fullmatch(kind) else ""


def _limit(tool: Any, trail: Trail) -> int | None:
    """Returns the request's own limit of a tool's calls. Raises InvalidRequest."""
    if not isinstance(tool, dict):
        return None
    return fields.count(tool, "max_uses", most=MOST_CALLS, parent=strict_json.path(trail))
