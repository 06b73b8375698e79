"""Tools that the client runs pass wherever they stand; those that the provider runs are named, with the cure."""

import typing

import pytest
from anthropic.types.beta import BetaToolUnionParam
from openai.types.responses import ToolParam

from common.tool_names import family
from relay.families.requests import tools
from relay.families.requests.tables import anthropic_tools, openai_tools
from tests.relay.families.requests.asking import (
    CHAT,
    GEMINI,
    MESSAGES,
    RESPONSES,
    SAID,
    paths,
    refused,
    said_no,
    sent_of,
    understood,
)

FUNCTION = {"type": "function", "name": "f", "parameters": {}, "strict": False}
CUSTOM = {"type": "custom", "name": "c", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}}
SPACE = {"type": "namespace", "name": "s", "description": "", "tools": [FUNCTION, CUSTOM]}
CLIENTS_OF_RESPONSES = [
    FUNCTION,
    CUSTOM,
    SPACE,
    {**SPACE, "tools": [SPACE]},
    {"type": "tool_search", "execution": "client", "description": "d", "parameters": {}},
    {"type": "local_shell"},
    {"type": "shell", "environment": {"type": "local"}},
    {"type": "apply_patch"},
    {"type": "computer"},
    {"type": "computer_use"},
    {"type": "computer-preview"},
    {"type": "computer_use_preview", "display_width": 1, "display_height": 1, "environment": "linux"},
]
PROVIDERS_OF_RESPONSES = [
    ({"type": "web_search", "external_web_access": True, "indexed_web_access": True}, "web_search"),
    ({"type": "web_search_preview"}, "web_search"),
    ({"type": "web_search_preview_2025_03_11"}, "web_search"),
    ({"type": "web_search_2025_08_26"}, "web_search"),
    ({"type": "file_search", "vector_store_ids": ["v"]}, "file_search"),
    ({"type": "code_interpreter", "container": {"type": "auto"}}, "code_interpreter"),
    ({"type": "image_generation", "quality": "high"}, "image_generation"),
    ({"type": "mcp", "server_url": "https://a.example"}, "mcp"),
    ({"type": "programmatic_tool_calling"}, "programmatic_tool_calling"),
    ({"type": "tool_search"}, "tool_search"),
    ({"type": "tool_search", "execution": "server"}, "tool_search"),
    ({"type": "shell"}, "shell"),
    ({"type": "shell", "environment": {"type": "container_auto"}}, "shell"),
    ({"type": "brand_new"}, "brand_new"),
]
PROVIDERS_OF_MESSAGES = [
    ({"type": "web_search_20250305", "name": "web_search"}, "web_search"),
    ({"type": "web_fetch_20260318", "name": "web_fetch"}, "web_fetch"),
    ({"type": "code_execution_20260521", "name": "code_execution"}, "code_execution"),
    ({"type": "tool_search_tool_bm25_20251119", "name": "t"}, "tool_search_tool_bm25"),
    ({"type": "tool_search_tool_regex", "name": "t"}, "tool_search_tool_regex"),
    ({"type": "mcp_toolset", "mcp_server_name": "s"}, "mcp"),
    ({"type": "advisor_20260301", "model": "dear", "name": "advisor"}, "advisor"),
    ({"type": "bash_code_execution_20250825"}, "bash_code_execution"),
]
PROVIDERS_OF_GOOGLE = [
    ({"googleSearch": {}}, "google_search"),
    ({"google_search": {}}, "google_search"),
    ({"googleMaps": {}}, "google_maps"),
    ({"urlContext": {}}, "url_context"),
    ({"codeExecution": {}}, "code_execution"),
    ({"enterpriseWebSearch": {}}, "enterprise_web_search"),
    ({"googleSearchRetrieval": {}}, "google_search_retrieval"),
    ({"fileSearch": {}}, "file_search"),
    ({"brandNew": {}}, "brand_new"),
]


@pytest.mark.parametrize("tool", CLIENTS_OF_RESPONSES)
def test_tools_of_responses_that_the_client_runs_pass(tool):
    call, found = understood(RESPONSES, {"tools": [tool]})
    assert (call.tools, found) == ({}, [])
    for kind in ("additional_tools", "tool_search_output"):
        call, found = understood(RESPONSES, {"input": [{"type": kind, "role": "developer", "tools": [tool]}]})
        assert (call.tools, found) == ({}, [])


@pytest.mark.parametrize(("tool", "name"), PROVIDERS_OF_RESPONSES)
def test_tools_of_responses_that_the_provider_runs_go_by_the_vendors_name(tool, name):
    call, [field] = understood(RESPONSES, {"tools": [FUNCTION, tool]})
    assert (call.tools, field.name, field.path, family(field.tool)) == ({name: None}, "tools", "tools[1]", name)
    assert call.tool_types == {field.tool}
    assert paths(RESPONSES, {"input": [{"type": "additional_tools", "tools": [tool]}]}) == ["input[0].tools[0]"]
    assert paths(RESPONSES, {"input": {"type": "additional_tools", "tools": [tool]}}) == ["input.tools[0]"]
    assert said_no(RESPONSES, {"input": [{"type": "additional_tools", "Tools": [tool]}]}) == "input[0].Tools"
    assert paths(RESPONSES, {"tools": [{**SPACE, "tools": [FUNCTION, tool]}]}) == ["tools[0].tools[1]"]


def test_a_refusal_names_the_tool_and_the_cure():
    [field] = refused(MESSAGES, {"tools": [{"type": "web_search_20250305"}]})
    cure = "it needs a price in tool_prices of this group, or leave it out"
    assert field.reason == f"is the tool web_search_20250305, which the provider runs: {cure}"
    [field] = refused(RESPONSES, {"tools": [{"type": "shell"}]})
    assert "or environment.type local, where you run it yourself" in field.reason
    for odd in ({"type": {}}, {"type": "a b" * 99}, {}, "x"):
        [field] = refused(RESPONSES, {"tools": [odd]})
        assert "a tool of an unknown type" in field.reason


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "f", "parameters": {"web_search": 1}}},
        {"type": "custom", "custom": {"name": "c"}},
        {"function": {"name": "f"}},
        {"type": "function", "function": {"name": "f"}, "cache_control": {"type": "ephemeral"}},
    ],
)
def test_tools_of_chat_that_the_client_runs_pass(tool):
    assert understood(CHAT, {"tools": [tool]})[1] == []


@pytest.mark.parametrize("kind", ["web_search", "builtin_function", "computer", "namespace", "openrouter:web_search"])
def test_chat_knows_no_other_tools(kind):
    [field] = refused(CHAT, {"tools": [{"type": kind}]})
    assert (field.path, field.tool) == ("tools[0]", kind)


def test_a_cost_that_hides_in_a_clients_tool_is_found():
    assert paths(CHAT, {"tools": [{"type": "function", "function": {}, "web_search": {}}]}) == ["tools[0].web_search"]
    assert paths(RESPONSES, {"tools": [{**FUNCTION, "server_url": "x"}]}) == ["tools[0].server_url"]
    assert paths(MESSAGES, {"tools": [{"name": "f", "max_uses": 3}]}) == ["tools[0].max_uses"]


@pytest.mark.parametrize(
    "kind",
    [
        None, "custom", "bash_20250124", "text_editor_20250728", "computer_20251124", "memory_20250818",
        "computer_toolset_20260801", "browser_toolset_20260801",
    ],
)  # fmt: skip
def test_tools_of_messages_that_the_client_runs_pass(kind):
    tool = {"name": "f"} if kind is None else {"name": "f", "type": kind}
    assert understood(MESSAGES, {"tools": [tool]})[1] == []


@pytest.mark.parametrize(("tool", "name"), PROVIDERS_OF_MESSAGES)
def test_tools_of_messages_that_the_provider_runs_go_by_the_vendors_name(tool, name):
    call, [field] = understood(MESSAGES, {"tools": [tool]})
    assert (call.tools, field.path, family(field.tool)) == ({name: None}, "tools[0]", name)


def test_a_tool_in_the_midst_of_a_conversation_is_judged_too():
    added = {
        "type": "tool_addition",
        "tool": {"type": "tool_definition", "definition": {"type": "web_search_20260318"}},
    }
    call, [field] = understood(MESSAGES, {"messages": [{"role": "user", "content": [added]}]})
    assert (call.tools, field.path) == ({"web_search": None}, "messages[0].content[0].tool.definition")


def test_other_servers_are_the_tool_mcp():
    call, [field] = understood(MESSAGES, {"mcp_servers": [{"type": "url"}]})
    assert (call.tools, field.name, field.path, field.tool) == ({"mcp": None}, "mcp_servers", "mcp_servers", "mcp")
    assert refused(MESSAGES, {"mcp_servers": []}) == []


@pytest.mark.parametrize(("tool", "name"), PROVIDERS_OF_GOOGLE)
def test_googles_tools_that_the_provider_runs_go_by_the_vendors_name(tool, name):
    for listed in ([tool], tool):
        call, [field] = understood(GEMINI, {"tools": listed})
        assert (call.tools, field.name, field.tool) == ({name: None}, "tools", name)
        assert field.path == f"tools[0].{next(iter(tool))}"


def test_googles_tools_that_the_client_runs_pass():
    for tool in (
        {"functionDeclarations": []},
        {"function_declarations": []},
        {"computerUse": {}},
        {"computer_use": {}},
    ):
        assert refused(GEMINI, {"tools": [tool]}) == []
    assert paths(GEMINI, {"tools": [{"functionDeclarations": [], "googleSearch": {}}]}) == ["tools[0].googleSearch"]


def test_a_search_of_chat_is_one_call_of_the_tool_web_search():
    call, [field] = understood(CHAT, {"web_search_options": {}})
    assert (call.tools, field.name, field.tool) == ({"web_search": 1}, "web_search_options", "web_search")


def test_a_requests_own_limit_of_calls_holds():
    search = {"type": "web_search_20250305", "name": "web_search"}
    assert understood(MESSAGES, {"tools": [{**search, "max_uses": 5}]})[0].tools == {"web_search": 5}
    twice = {**search, "max_uses": 1, "Max_Uses": 7}
    assert said_no(MESSAGES, {"tools": [twice]}) == "tools[0].Max_Uses"
    assert understood(MESSAGES, {"tools": [{**search, "max_uses": None}]})[0].tools == {"web_search": None}
    for odd in (0, -1, True, "5", 2**70):
        assert said_no(MESSAGES, {"tools": [{**search, "max_uses": odd}]}) == "tools[0].max_uses"


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES, GEMINI])
@pytest.mark.parametrize("odd", ["web_search", 5, True])
def test_tools_that_are_no_list_are_refused(path, odd):
    assert said_no(path, {"tools": odd}) == "tools"


def test_a_limit_of_all_tools_together_is_none_of_each():
    run = [{"type": "mcp"}, {"type": "web_search"}, {"type": "mcp"}]
    call = understood(RESPONSES, {"max_tool_calls": 3, "tools": run})[0]
    assert (call.tools, call.tool_calls, call.sent_tool_limits) == ({"mcp": None, "web_search": None}, 3, ())


@pytest.mark.parametrize(
    ("body", "upstream"),
    [
        ({"tools": [{"type": "web_search"}]}, {"tools": [{"type": "web_search"}], "max_tool_calls": 10}),
        ({"max_tool_calls": None, "tools": [{"type": "mcp"}]}, {"max_tool_calls": 10, "tools": [{"type": "mcp"}]}),
        ({"max_tool_calls": 3, "tools": [{"type": "mcp"}]}, {"max_tool_calls": 3, "tools": [{"type": "mcp"}]}),
        ({"tools": [FUNCTION]}, {"tools": [FUNCTION]}),
        ({}, {}),
    ],
)
def test_responses_have_a_limit_of_the_calls_of_the_providers_tools(body, upstream):
    assert sent_of(RESPONSES, body) == {**SAID[RESPONSES], **upstream}


def test_searches_of_messages_have_a_limit_each():
    search, fetch, code = {"type": "web_search_20250305"}, {"type": "web_fetch_20250910"}, {"type": "code_execution"}
    body = {"tools": [{"name": "f"}, search, {**fetch, "max_uses": 3}, {**fetch, "max_uses": None}, code]}
    limited = [{"name": "f"}, {**search, "max_uses": 10}, {**fetch, "max_uses": 3}, {**fetch, "max_uses": 10}, code]
    assert sent_of(MESSAGES, body)["tools"] == limited
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": search}}
    said = [{"role": "user", "content": [{"type": "text", "text": "hi"}, added]}]
    assert sent_of(MESSAGES, {"messages": said})["messages"][0]["content"][1]["tool"]["definition"] == {
        **search,
        "max_uses": 10,
    }


def test_a_counting_has_no_limit_of_calls():
    assert sent_of(f"{MESSAGES}/count_tokens", {"tools": [{"type": "web_search_20250305"}]})["tools"] == [
        {"type": "web_search_20250305"}
    ]


def test_where_a_dialect_has_no_such_limit_none_is_sent():
    body = {"tools": [{"googleSearch": {}}]}
    assert sent_of(GEMINI, body) == {**SAID[GEMINI], **body}


def test_two_entries_of_one_tool_have_both_their_limits():
    listed = [tools.ProviderTool(kind="a", trail=(), limit=limit) for limit in (2, 3)]
    assert tools.limits(listed) == {"a": 5}
    assert tools.limits([*listed, tools.ProviderTool(kind="a", trail=())]) == {"a": None}


def kinds_and_fields(union: object) -> list[tuple[str, dict]]:
    """Of each tool of an SDK its type and its fields."""
    hints = [typing.get_type_hints(tool) for tool in typing.get_args(union)]
    return [(kind, dict.fromkeys(said, 1)) for said in hints for kind in strings_in(said["type"])]


def strings_in(hint: object) -> list[str]:
    if isinstance(hint, str):
        return [hint]
    return [text for inner in typing.get_args(hint) for text in strings_in(inner)]


@pytest.mark.parametrize(
    ("union", "is_clients", "known", "least"),
    [
        (ToolParam, tools.is_openai_clients, openai_tools.CLIENTS, 7),
        (BetaToolUnionParam, tools.is_anthropic_clients, anthropic_tools.CLIENTS, 12),
    ],
)
def test_every_field_of_the_clients_tools_in_the_official_sdks_is_known(union, is_clients, known, least):
    own = [(kind, said) for kind, said in kinds_and_fields(union) if is_clients({**said, "type": kind})]
    assert len(own) >= least
    assert [field.path for _, said in own for field in known.unknown(said)] == []
