"""The usage that a stream has told so far: its counts only grow, and a later event completes an earlier one."""

from collections.abc import Callable, Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families import counts, tool_counts


class StreamUsage:
    """`total` is the usage until then, with the calls of `tools` in it; `told` is what was told of its tokens."""

    __slots__ = ("told", "tools", "total")

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}
        self.tools: Mapping[str, int] = {}
        self.total: TokenUsage | None = None

    def learn(self, told: Mapping[str, Any], read: Callable[[Mapping[str, Any]], TokenUsage | None]) -> bool:
        """Takes in what an event tells; False for one that tells no tokens."""
        merged = counts.completed(self.told, told)
        usage = read(merged)
        if usage is None or not told:
            return False
        self.told, self.total = merged, tool_counts.put_in(counts.greater(self.total, usage), self.tools)
        return True

    def count_tools(self, tools: Mapping[str, int]) -> None:
        """So often the tools of the provider have run until now."""
        self.tools = tools
        self.total = tool_counts.put_in(self.total, tools)

    def count_at_least(self, tools: Mapping[str, int]) -> None:
        """So often they have run at least."""
        self.count_tools(tool_counts.most(self.tools, tools))

    def count_more(self, tools: Mapping[str, int]) -> None:
        """So often they have run once more."""
        self.count_tools(tool_counts.both(self.tools, tools))
