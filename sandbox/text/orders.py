"""A text call in terms that the three protocols share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FILE_TOKENS = 258


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message: its text, and its number of pictures and other files.

    `is_asking`: it came from the user or a tool, `is_result`: from a tool.
    """

    text: str
    files: int = 0
    is_asking: bool = False
    is_result: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that may be called, with the JSON schema of its arguments."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOrder:
    """A valid call. `limit` is in output tokens; `tool` is the one to call, `is_forced` if the caller demands it;
    `shows_usage` applies to streams."""

    model: str
    said: Sequence[Said]
    limit: int | None = None
    choices: int = 1
    is_stream: bool = False
    shows_usage: bool = True
    tool: Tool | None = None
    is_forced: bool = False

    @property
    def last(self) -> Said:
        """Returns the message to answer."""
        return next((one for one in reversed(self.said) if one.is_asking), Said(text=""))

    @property
    def input_tokens(self) -> int:
        """Returns the tokens of all messages."""
        return sum(len(one.text.split()) + one.files * FILE_TOKENS for one in self.said)


def chosen(tools: Sequence[Tool], name: str | None) -> Tool | None:
    """Returns the tool of this name, or the first."""
    return next((tool for tool in tools if name in (None, tool.name)), None)
