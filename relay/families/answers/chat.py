"""Reads what a chat completion contains, whole (in `message`) or as a chunk (in `delta`)."""

from collections.abc import Iterator, Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families import openai_counts, pictures, sounds, tool_counts
from relay.families.answers.written import written_bytes
from relay.families.base import AskedCall, Delivered
from relay.families.fields import mapping, mappings

TEXTS = ("content", "refusal", "reasoning_content", "reasoning", "arguments", "input", "text", "transcript")
# Names for the same thoughts; vLLM, OpenRouter and LiteLLM send two of them.
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "thinking_blocks")
IN_THOUGHTS = frozenset({*THOUGHTS, "text", "summary", "data"})
IN_OTHERS = frozenset(TEXTS)


def usage(document: Any, asked: AskedCall) -> TokenUsage | None:
    citing = sum(map(tool_counts.cites, messages(document, "message")))
    return openai_counts.find_usage(document, asked, tool_counts.count_citing(citing, asked))


def delivered(document: Any) -> Delivered:
    written = sum(written_in(choice, "message") for choice in choices(document))
    return Delivered(
        output_bytes=written,
        pictures=pictures.count_in_messages(messages(document, "message")),
        sound_bytes=sounds.measure_messages(messages(document, "message")),
    )


def choices(document: Any) -> list[dict[str, Any]]:
    return mappings(mapping(document).get("choices"))


def messages(document: Any, name: str) -> Iterator[dict[str, Any]]:
    """Returns the messages of an answer's choices, or the deltas of a chunk's."""
    return (mapping(choice.get(name)) for choice in choices(document))


def written_in(choice: Mapping[str, Any], name: str) -> int:
    """Counts the bytes that a choice contains, in `message` or `delta`: of alternative names for one text, the
    longest."""
    message = mapping(choice.get(name))
    thoughts = max((_under(each, message, IN_THOUGHTS) for each in THOUGHTS if message.get(each)), default=0)
    answer = max(_under("content", message, IN_OTHERS), _under("text", choice, IN_OTHERS))
    rest = {each: value for each, value in message.items() if value and each not in THOUGHTS and each != "content"}
    return thoughts + answer + written_bytes(rest, IN_OTHERS)


def _under(name: str, said: Mapping[str, Any], texts: frozenset[str]) -> int:
    return written_bytes({name: said.get(name)}, texts)
