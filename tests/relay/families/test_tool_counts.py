"""How often the provider has run its tools, as each dialect's answers show it, whole and in a stream."""

from dataclasses import replace
from typing import Any

import pytest

from common.token_usage import TokenUsage
from relay.families.base import AskedCall, Family
from relay.families.registry import CHAT, GENERATE_CONTENT, MESSAGES, RESPONSES
from tests.relay.families.asking import event, taken

ASKED = AskedCall(model="m", is_stream=True, input_bound=1, input_estimate=1)
ALL = replace(
    ASKED,
    tools=dict.fromkeys(
        (
            *("web_search", "code_interpreter", "file_search", "image_generation", "mcp", "x_search"),
            *("code_execution", "google_search", "google_maps", "url_context"),
        )
    ),
)
TOLD = {"input_tokens": 10, "output_tokens": 5}
ITEMS = [
    {"type": "web_search_call", "action": {"type": "search"}},
    {"type": "web_search_call", "action": {"type": "open_page"}},
    {"type": "web_search_call"},
    {"type": "web_search_call", "status": "failed"},
    {"type": "code_interpreter_call"},
    {"type": "file_search_call"},
    {"type": "image_generation_call", "result": "AA"},
    {"type": "mcp_call"},
    {"type": "function_call", "name": "web_search", "arguments": "{}"},
    {"type": []},
    None,
]
RUN = {"web_search": 2, "code_interpreter": 1, "file_search": 1, "image_generation": 1, "mcp": 1}


def used(tools: dict[str, int]) -> TokenUsage:
    return TokenUsage(input_tokens=10, output_tokens=5, tools=tools, tool_calls=sum(tools.values()))


def asking(*tools: str) -> AskedCall:
    return replace(ASKED, tools=dict.fromkeys(tools))


def streamed(family: Family, asked: AskedCall, *documents: Any) -> TokenUsage | None:
    reader = family.stream(asked, "m")
    taken(reader, *map(event, documents))
    return reader.usage


def test_the_items_of_a_response_count():
    response = {"output": ITEMS, "usage": TOLD}
    assert RESPONSES.usage(response, ALL) == used(RUN)
    assert streamed(RESPONSES, ALL, {"type": "response.completed", "response": response}) == used(RUN)


@pytest.mark.parametrize("output", [ITEMS, [], None])
def test_items_that_a_stream_has_shown_count_once(output):
    done = [{"type": "response.output_item.done", "item": item} for item in ITEMS]
    last = {"type": "response.completed", "response": {"output": output, "usage": TOLD}}
    assert streamed(RESPONSES, ALL, *done, last) == used(RUN)
    assert streamed(RESPONSES, ALL, *done) == TokenUsage(tools=RUN, tool_calls=6)


def test_a_tool_is_named_as_the_request_has_it():
    response = {"output": ITEMS[:1], "usage": TOLD}
    assert RESPONSES.usage(response, asking("web_search_preview")).tools == {"web_search_preview": 1}
    assert RESPONSES.usage(response, asking("web_search_preview", "web_search")).tools == {"web_search": 1}


@pytest.mark.parametrize(
    ("asked", "tools"),
    [(asking("web_search"), {"web_search": 1}), (asking("web_search_options"), {"web_search_options": 1}), (ASKED, {})],
)
def test_citations_of_a_chat_count_as_one_search_where_one_was_asked_for(asked, tools):
    notes = [{"type": "url_citation", "url_citation": {"url": "u"}}] * 3
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    whole = {"choices": [{"message": {"content": "a", "annotations": notes}}], "usage": usage}
    assert CHAT.usage(whole, asked) == used(tools)
    chunks = [{"choices": [{"delta": {"annotations": notes}}]}] * 2
    assert streamed(CHAT, asked, *chunks, {"choices": [], "usage": usage}) == used(tools)


def test_each_answer_of_a_chat_that_cites_has_searched():
    notes = [{"type": "url_citation", "url_citation": {"url": "u"}}] * 2
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    said = [{"index": index, "message": {"content": "a", "annotations": notes[: 2 - index]}} for index in range(3)]
    assert CHAT.usage({"choices": said, "usage": usage}, asking("web_search")) == used({"web_search": 2})
    chunks = [{"choices": [{"index": index, "delta": {"annotations": notes}}]} for index in (0, 2, 0)]
    assert streamed(CHAT, asking("web_search"), *chunks, {"choices": [], "usage": usage}) == used({"web_search": 2})


def test_what_a_usage_tells_of_its_tools_counts():
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "server_tool_use": {"web_search_requests": 3, "x": 9}}
    assert CHAT.usage({"usage": usage}, ALL) == used({"web_search": 3})
    assert streamed(CHAT, ALL, {"choices": [], "usage": usage}) == used({"web_search": 3})


def test_what_a_client_may_run_itself_counts_where_the_provider_runs_it():
    response = {"output": [{"type": "shell_call"}, {"type": "tool_search_call"}], "usage": TOLD}
    assert RESPONSES.usage(response, ASKED) == used({})
    assert RESPONSES.usage(response, asking("shell")).tools == {"shell": 1}


def test_searches_of_google_count_under_the_name_of_the_one_that_was_asked_for():
    whole = {
        "candidates": [{"groundingMetadata": {"webSearchQueries": ["a"]}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
    }
    asked = asking("file_search", "enterprise_web_search")
    assert GENERATE_CONTENT.usage(whole, asked).tools == {"enterprise_web_search": 1}


def test_what_xai_tells_of_its_tools_counts():
    usage = {**TOLD, "server_side_tool_usage_details": {"x_search_calls": 2, "web_search_calls": 1, "mcp_calls": 0}}
    assert RESPONSES.usage({"output": ITEMS[:1], "usage": usage}, ALL) == used({"web_search": 1, "x_search": 2})


def test_anthropics_requests_count_and_blocks_where_they_are_more():
    told = {**TOLD, "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 0}}
    blocks = [{"type": "server_tool_use", "name": name} for name in ("web_search", "bash_code_execution", "other", [])]
    blocks.append({"type": "mcp_tool_use", "name": "anything"})
    message = {"content": blocks, "usage": told}
    assert MESSAGES.usage(message, ALL) == used({"web_search": 3, "code_execution": 1, "mcp": 1})
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}
    begun = [{"type": "content_block_start", "content_block": block} for block in blocks]
    last = {"type": "message_delta", "usage": {"output_tokens": 5, "server_tool_use": {"web_search_requests": 3}}}
    assert streamed(MESSAGES, ALL, start, *begun, last) == used({"web_search": 3, "code_execution": 1, "mcp": 1})


@pytest.mark.parametrize(
    ("candidate", "tools"),
    [
        ({"groundingMetadata": {"webSearchQueries": ["a", "b", ""]}}, {"google_search": 2}),
        ({"groundingMetadata": {"searchEntryPoint": {"renderedContent": "x"}}}, {"google_search": 1}),
        ({"groundingMetadata": {"groundingChunks": [{"web": {"uri": "u"}}]}}, {"google_search": 1}),
        ({"groundingMetadata": {"groundingChunks": [{"maps": {"uri": "u"}}]}}, {"google_maps": 1}),
        ({"groundingMetadata": {"groundingChunks": [{"retrievedContext": {"uri": "u"}}]}}, {"file_search": 1}),
        ({"urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "u"}, {"retrievedUrl": "v"}]}}, {"url_context": 2}),
        ({"groundingMetadata": {}}, {}),
        ({"groundingMetadata": {"webSearchQueries": 7, "groundingChunks": "x"}}, {}),
    ],
)
def test_what_grounds_googles_answers_counts_once_though_every_chunk_tells_it(candidate, tools):
    whole = {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}
    assert GENERATE_CONTENT.usage(whole, ALL) == used(tools)
    assert streamed(GENERATE_CONTENT, ALL, whole, whole) == used(tools)


def test_googles_tools_are_named_as_the_request_spells_them():
    whole = {
        "candidates": [{"groundingMetadata": {"webSearchQueries": ["a"]}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
    }
    assert GENERATE_CONTENT.usage(whole, asking("googleSearch")).tools == {"googleSearch": 1}


def test_pieces_of_code_add_up_in_googles_stream():
    chunk = {
        "candidates": [{"content": {"parts": [{"executableCode": {"code": "1"}}]}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
    }
    assert streamed(GENERATE_CONTENT, ALL, chunk, chunk) == used({"code_execution": 2})


def test_tools_that_the_request_never_had_do_not_count():
    told = {**TOLD, "server_tool_use": {"web_search_requests": 3}}
    block = {"type": "server_tool_use", "name": "web_search"}
    grounded = {
        "candidates": [{"groundingMetadata": {"webSearchQueries": ["a"]}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
    }
    other = asking("code_execution")
    assert MESSAGES.usage({"content": [block], "usage": told}, other) == used({})
    assert CHAT.usage({"choices": [], "usage": told}, other) == used({})
    assert RESPONSES.usage({"output": ITEMS, "usage": told}, other) == used({})
    assert GENERATE_CONTENT.usage(grounded, other) == used({})
    assert streamed(MESSAGES, other, {"type": "message_delta", "usage": told}) == used({})
    assert streamed(CHAT, other, {"choices": [], "usage": told}) == used({})
    last = {"type": "response.completed", "response": {"output": ITEMS, "usage": told}}
    assert streamed(RESPONSES, other, last) == used({})
    assert streamed(GENERATE_CONTENT, other, grounded) == used({})


def searching(*ids: str) -> list[dict[str, Any]]:
    return [{"type": "server_tool_use", "id": name, "name": "web_search", "input": {}} for name in ids]


FAILED_SEARCH = {
    "type": "web_search_tool_result",
    "tool_use_id": "1",
    "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "2", "content": [{"type": "web_search_result"}]}


@pytest.mark.parametrize(
    ("blocks", "told", "tools"),
    [
        ([*searching("1"), FAILED_SEARCH], 0, {}),
        ([*searching("1"), FAILED_SEARCH], None, {}),
        ([*searching("1"), FAILED_SEARCH, *searching("2"), FOUND], 1, {"web_search": 1}),
        ([*searching("1", "2"), FAILED_SEARCH, FOUND], None, {"web_search": 1}),
        ([FAILED_SEARCH], None, {}),
        ([*searching("1", "2"), FOUND, FOUND], 0, {"web_search": 2}),
    ],
)
def test_a_search_of_anthropics_that_has_failed_costs_nothing(blocks, told, tools):
    usage = {**TOLD, **({} if told is None else {"server_tool_use": {"web_search_requests": told}})}
    assert MESSAGES.usage({"content": blocks, "usage": usage}, ALL) == used(tools)
    events = [
        {"type": "message_start", "message": {"usage": TOLD}},
        *(
            {"type": "content_block_start", "index": place, "content_block": block}
            for place, block in enumerate(blocks)
        ),
        {"type": "message_delta", "usage": usage},
    ]
    assert streamed(MESSAGES, ALL, *events) == used(tools)


def grounded(*queries: Any) -> dict[str, Any]:
    return {"candidates": [{"groundingMetadata": {"webSearchQueries": [*queries]}}]}


@pytest.mark.parametrize(
    ("chunks", "searches"),
    [
        ([["a", "a"]], 1),
        ([["a", "a", "b", "", " "]], 2),
        ([[None, 5, "a"]], 1),
        ([["a"], ["b"]], 2),
        ([["a"], ["a", "b"], ["a", "b"]], 2),
    ],
)
def test_each_different_query_of_googles_search_counts_in_whatever_chunk_it_is_told(chunks, searches):
    usage = {"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}
    told = [grounded(*queries) | usage for queries in chunks]
    assert streamed(GENERATE_CONTENT, ALL, *told) == used({"google_search": searches})
    if len(told) == 1:
        assert GENERATE_CONTENT.usage(told[0], ALL) == used({"google_search": searches})
