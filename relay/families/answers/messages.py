"""Reads a message of Anthropic's dialect, whole or from events: its tokens and its content."""

from collections.abc import Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families import counts, openai_counts, told_counts, tool_counts
from relay.families.answers.written import written_bytes
from relay.families.base import AskedCall, Delivered
from relay.families.fields import mapping, mappings
from relay.families.told_counts import ToldCounts

# Names that gateways in front of other models take from OpenAI.
INPUT, OUTPUT = ("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")
TEXTS = ("text", "thinking", "partial_json", "signature")
WRITTEN = frozenset(TEXTS)
ARGUMENTS = frozenset({"input"})


def usage(document: Any, asked: AskedCall) -> TokenUsage | None:
    used = mapping(mapping(document).get("usage"))
    run = tool_counts.count_blocks(mapping(document).get("content"), asked)
    return tool_counts.add_calls(read_tokens(used), tool_counts.larger(run, tool_counts.count_reported(used, asked)))


def delivered(document: Any) -> Delivered:
    blocks = mapping(document).get("content")
    written = written_bytes(blocks, WRITTEN, ARGUMENTS)
    return Delivered(output_bytes=written + sum(map(hidden_bytes, mappings(blocks))))


def read_tokens(usage: Mapping[str, Any]) -> TokenUsage | None:
    """Returns the tokens of a usage; None if it reports none."""
    if counts.count(usage, INPUT[0]) is None and counts.count(usage, OUTPUT[0]) is None:
        return openai_counts.read_tokens(usage)
    compacted = [item for item in mappings(usage.get("iterations")) if item.get("type") == "compaction"]
    counted = [usage, *compacted]  # the sums leave out what a compaction uses
    written = [_written(one) for one in counted]
    return told_counts.reconcile(
        ToldCounts(
            input=_sum(counted, INPUT),
            output=_sum(counted, OUTPUT),
            total=counts.count(usage, "total_tokens"),
            cached=_sum(counted, ("cache_read_input_tokens",)),
            written=sum(minutes for minutes, _ in written),
            written_1h=sum(hour for _, hour in written),
            thoughts=counts.count(usage, "output_tokens_details", "thinking_tokens") or 0,
            is_cache_beside=True,
        )
    )


def hidden_bytes(block: Mapping[str, Any]) -> int:
    """Counts the bytes of encrypted thoughts."""
    data = block.get("data")
    return len(data) if block.get("type") == "redacted_thinking" and isinstance(data, str) else 0


def _written(usage: Mapping[str, Any]) -> tuple[int, int]:
    """Returns the tokens written to the five-minute cache, and to the one-hour cache where reported."""
    total = counts.count(usage, "cache_creation_input_tokens") or 0
    minutes = counts.count(usage, "cache_creation", "ephemeral_5m_input_tokens") or 0
    hour = counts.count(usage, "cache_creation", "ephemeral_1h_input_tokens") or 0
    return max(minutes, total - hour), hour


def _sum(counted: list[Mapping[str, Any]], names: tuple[str, ...]) -> int:
    return sum(counts.part((one,), *names) for one in counted)
