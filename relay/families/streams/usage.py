"""Accumulates the usage that a stream reports: counts only grow, and later events complete earlier ones."""

from collections.abc import Callable, Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families import counts, tool_counts


class StreamUsage:
    """`total` is the usage so far including calls of `tools`; `told` holds its reported token fields."""

    __slots__ = ("told", "tools", "total")

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}
        self.tools: Mapping[str, int] = {}
        self.total: TokenUsage | None = None

    def learn(self, told: Mapping[str, Any], read: Callable[[Mapping[str, Any]], TokenUsage | None]) -> bool:
        """Adds an event's usage; False if it reports no tokens."""
        merged = counts.completed(self.told, told)
        usage = read(merged)
        if usage is None or not told:
            return False
        self.told, self.total = merged, tool_counts.add_calls(counts.greater(self.total, usage), self.tools)
        return True

    def count_tools(self, tools: Mapping[str, int]) -> None:
        """Sets the calls of the provider's tools so far."""
        self.tools = tools
        self.total = tool_counts.add_calls(self.total, tools)

    def count_at_least(self, tools: Mapping[str, int]) -> None:
        """Raises the calls to at least these."""
        self.count_tools(tool_counts.larger(self.tools, tools))

    def count_more(self, tools: Mapping[str, int]) -> None:
        """Adds one call of each of these tools."""
        self.count_tools(tool_counts.sum_calls(self.tools, tools))
