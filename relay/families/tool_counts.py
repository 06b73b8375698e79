"""Counts how often the provider has run each of its tools, as answers show or report it. Pure.

Tools go by the vendor's name without a version (`web_search` for `web_search_20250305`), or as the request names them.
Only tools that the request asked for count.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from common.token_usage import TokenUsage
from relay.families import counts
from relay.families.base import AskedCall
from relay.families.fields import index_of, mapping, mappings

# Response items in which OpenAI's tools have run.
ITEMS = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter",
    "image_generation_call": "image_generation",
    "mcp_call": "mcp",
    "shell_call": "shell",
    "tool_search_call": "tool_search",
}
# Tools that the client may run as well; they count only if the request gives them to the provider.
OF_EITHER = ("shell", "tool_search")
# Web search actions that OpenAI does not charge: looking at results.
UNPAID_ACTIONS = ("open_page", "find", "find_in_page")
# Where a usage counts tool calls: Anthropic's fields, which OpenRouter shares, and xAI's.
TOLD = (
    *(("server_tool_use", f"{name}_requests", name) for name in ("web_search", "web_fetch", "code_execution")),
    *(
        ("server_side_tool_usage_details", f"{name}_calls", name)
        for name in ("web_search", "x_search", "code_interpreter", "file_search", "mcp")
    ),
)
# Message blocks in which Anthropic's tools have run.
BLOCKS = {
    "web_search": "web_search",
    "web_fetch": "web_fetch",
    "code_execution": "code_execution",
    "bash_code_execution": "code_execution",
    "text_editor_code_execution": "code_execution",
    "tool_search_tool_regex": "tool_search",
    "tool_search_tool_bm25": "tool_search",
}
# Result blocks that may hold a failed search or fetch, which Anthropic does not charge.
FAILED = {"web_search_tool_result": "web_search", "web_fetch_tool_result": "web_fetch"}
# Google's search tools, which ground an answer in the same way.
GOOGLES_SEARCHES = (
    "google_search", "google_search_retrieval", "enterprise_web_search", "exa_ai_search", "parallel_ai_search",
)  # fmt: skip

Query = tuple[int, str, str]
"""A Google search: its candidate, its kind, and its text."""


def count_items(items: Any, asked: AskedCall) -> dict[str, int]:
    """Counts the calls in a response's output."""
    kinds = [item.get("type") for item in mappings(items) if _is_paid(item)]
    found = Counter(ITEMS[kind] for kind in kinds if isinstance(kind, str) and kind in ITEMS)
    return _named({name: found[name] for name in found if name not in OF_EITHER or name in asked.tools}, asked)


def count_blocks(blocks: Any, asked: AskedCall) -> dict[str, int]:
    """Counts the calls in a message's content. A failed one counts -1, so a single block may count below zero."""
    names = [block.get("name") for block in mappings(blocks) if block.get("type") == "server_tool_use"]
    found = Counter(BLOCKS[name] for name in names if isinstance(name, str) and name in BLOCKS)
    found["mcp"] = sum(1 for block in mappings(blocks) if block.get("type") == "mcp_tool_use")
    found.subtract(FAILED[str(block["type"])] for block in mappings(blocks) if _has_failed(block))
    return _named(found, asked)


def count_citing(messages: int, asked: AskedCall) -> dict[str, int]:
    """Counts one search for each message of a chat completion with citations, if a search was asked for."""
    name = next((tool for tool in asked.tools if "search" in tool), "")
    return {name: messages} if name and messages else {}


def cites(message: Mapping[str, Any]) -> bool:
    """Tells whether a message of a chat completion cites an address."""
    return any(note.get("type") == "url_citation" for note in mappings(message.get("annotations")))


def count_candidates(candidates: Any, asked: AskedCall, known: Collection[Query] = ()) -> dict[str, int]:
    """Counts the calls in Google's candidates: each distinct search query, including those `known` from earlier chunks,
    each address read, each piece of code."""
    found: Counter[str] = Counter()
    asked_search = next(filter(asked.tools.__contains__, GOOGLES_SEARCHES), GOOGLES_SEARCHES[0])
    found[asked_search] = len({*known, *queries(candidates)}) or sum(map(_is_searched, mappings(candidates)))
    for candidate in mappings(candidates):
        chunks = mappings(mapping(candidate.get("groundingMetadata")).get("groundingChunks"))
        found["google_maps"] += int(any(chunk.get("maps") for chunk in chunks))
        found["file_search"] += int(any(chunk.get("retrievedContext") for chunk in chunks))
        found["url_context"] += _length(mapping(candidate.get("urlContextMetadata")).get("urlMetadata"))
        parts = mappings(mapping(candidate.get("content")).get("parts"))
        found["code_execution"] += sum(1 for part in parts if part.get("executableCode"))
    return _named(found, asked)


def queries(candidates: Any) -> set[Query]:
    """Returns the distinct queries of Google's searches, each of which is charged."""
    return {
        (index_of(candidate, place), name, query.strip())
        for place, candidate in enumerate(mappings(candidates))
        for name in ("webSearchQueries", "imageSearchQueries")
        for query in _listed(mapping(candidate.get("groundingMetadata")).get(name))
        if isinstance(query, str) and query.strip()
    }


def count_later_candidates(
    known: Mapping[str, int], candidates: Any, asked: AskedCall, asked_before: Collection[Query]
) -> dict[str, int]:
    """Counts a stream's calls after its next chunk: grounding is repeated in chunks, code is sent once."""
    found, code = count_candidates(candidates, asked, asked_before), _as_asked("code_execution", asked)
    run = known.get(code, 0) + found.get(code, 0)
    return {**larger(known, found), **({code: run} if run else {})}


def count_reported(usage: Mapping[str, Any], asked: AskedCall) -> dict[str, int]:
    """Returns the calls that a usage reports."""
    if not asked.tools:
        return {}
    told = {name: number for parent, field, name in TOLD if (number := counts.count(usage, parent, field))}
    return _named(told, asked)


def larger(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    """Returns the larger of two counts of the same calls, by tool."""
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}


def sum_calls(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    """Adds further calls to calls."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def add_calls(usage: TokenUsage | None, tools: Mapping[str, int]) -> TokenUsage | None:
    """Adds the calls to the usage, or makes one of them alone if no tokens are reported."""
    tools = {name: number for name, number in tools.items() if number > 0}
    if not tools:
        return usage
    return replace(usage or TokenUsage(), tools=tools, tool_calls=sum(tools.values()))


def _has_failed(block: Mapping[str, Any]) -> bool:
    content = mapping(block.get("content"))
    return block.get("type") in FAILED and str(content.get("type")).endswith("_error")


def _is_paid(item: Mapping[str, Any]) -> bool:
    return item.get("status") != "failed" and mapping(item.get("action")).get("type") not in UNPAID_ACTIONS


def _is_searched(candidate: Mapping[str, Any]) -> bool:
    """Tells whether Google has searched without reporting queries."""
    grounds = mapping(candidate.get("groundingMetadata"))
    return bool(grounds.get("searchEntryPoint")) or any(
        chunk.get("web") for chunk in mappings(grounds.get("groundingChunks"))
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _length(value: Any) -> int:
    return sum(1 for item in _listed(value) if item)


def _named(found: Mapping[str, int], asked: AskedCall) -> dict[str, int]:
    """Renames tools as the request does, and drops those that it does not have."""
    named = ((_as_asked(name, asked), number) for name, number in found.items() if number)
    return {name: number for name, number in named if name in asked.tools}


def _as_asked(name: str, asked: AskedCall) -> str:
    """Returns the request's name for a tool if it is a version (`web_search_preview`) or another spelling."""
    versions = (known for known in asked.tools if _plain(known).startswith(_plain(name)))
    return name if name in asked.tools else next(versions, name)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
