"""Composes the answer to an order and its cost, always the same for an order."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle, islice
from typing import Any

from sandbox.steering import Script, without_words
from sandbox.text.orders import TextOrder

NOTHING = "Nothing was asked."


class Finish(StrEnum):
    """Reason for the end of an answer."""

    STOP = "stop"
    LENGTH = "length"
    TOOL = "tool"
    FILTER = "filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool with the JSON of its arguments."""

    name: str
    arguments: str

    @property
    def tokens(self) -> int:
        return 1 + len(self.arguments.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Tokens. `plain` went in past any cache; `output` is everything that came out, including `thoughts`."""

    plain: int
    cached: int
    cache_write: int
    output: int
    thoughts: int

    @property
    def input(self) -> int:
        return self.plain + self.cached + self.cache_write

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnswer:
    """One answer. Each of `words` but the first begins with a space; `used` is None if the usage is hidden."""

    words: tuple[str, ...]
    finish: Finish
    call: ToolCall | None
    thoughts: int
    used: Used | None

    @property
    def text(self) -> str:
        return "".join(self.words)


def compose(order: TextOrder, script: Script, *, is_filtered: bool) -> TextAnswer:
    """Returns the answer to an order; `is_filtered` if the moderation of the result ends it."""
    call = called(order, script)
    room = order.limit if order.limit is not None else 1_000_000
    thoughts = min(script.count("thinking"), room)
    whole = () if call else echo(order.last.text, script.count("words"))
    words = whole[: len(whole) // 2 if is_filtered else room - thoughts]
    output = thoughts + len(words) + (call.tokens if call else 0)
    used = Used(
        plain=order.input_tokens,
        cached=script.count("cached"),
        cache_write=script.count("cache-write"),
        output=output * order.choices,
        thoughts=thoughts * order.choices,
    )
    return TextAnswer(
        words=words,
        finish=finish_of(call, is_filtered=is_filtered, is_whole=len(words) == len(whole)),
        call=call,
        thoughts=thoughts,
        used=None if script.has("no-usage") else used,
    )


def finish_of(call: ToolCall | None, *, is_filtered: bool, is_whole: bool) -> Finish:
    """Returns why it ended; the filter takes precedence."""
    if is_filtered:
        return Finish.FILTER
    if call:
        return Finish.TOOL
    return Finish.STOP if is_whole else Finish.LENGTH


def echo(text: str, count: int) -> tuple[str, ...]:
    """Returns the words of a text, `count` of them unless 0."""
    words = without_words(text).split() or NOTHING.split()
    taken = islice(cycle(words), count or len(words))
    return tuple(f" {word}" if index else word for index, word in enumerate(taken))


def called(order: TextOrder, script: Script) -> ToolCall | None:
    """Returns the tool call, unless the answer is to a tool's result."""
    if order.tool is None or order.last.is_result or not (order.is_forced or script.has("tool")):
        return None
    arguments = example(order.tool.schema, "".join(echo(order.last.text, 0)))
    return ToolCall(name=order.tool.name, arguments=json.dumps(arguments, ensure_ascii=False))


def example(schema: Mapping[str, Any], text: str) -> Any:
    """Returns a value for a JSON schema, whose types may be in capitals."""
    if choices := schema.get("enum"):
        return choices[0]
    match str(schema.get("type", "object")).lower():
        case "string":
            return text
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case "array":
            return []
        case _:
            return {name: example(of, text) for name, of in schema.get("properties", {}).items()}
