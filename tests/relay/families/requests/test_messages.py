"""Requests of messages: what they may cost, which betas pass, and what goes upstream."""

import pytest

from relay.families.requests.messages import is_closed
from tests.relay.families.requests.asking import MESSAGES, paths, refused, said_no, sent, understood

LONG = {"type": "ephemeral", "ttl": "1h"}
OF_CLAUDE_CODE = (
    "claude-code-20250219",
    "context-1m-2025-08-07",
    "interleaved-thinking-2025-05-14",
    "thinking-token-count-2026-05-13",
    "context-management-2025-06-27",
    "prompt-caching-scope-2026-01-05",
    "mid-conversation-system-2026-04-07",
    "effort-2025-11-24",
)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"container": {"skills": []}}, "container"),
        ({"fallbacks": "default"}, "fallbacks"),
        ({"fallback_credit_token": "t"}, "fallback_credit_token"),
        ({"billing_policy": {}}, "billing_policy"),
        ({"user_profile_id": "u"}, "user_profile_id"),
        ({"workspace_id": "w"}, "workspace_id"),
        ({"speed": "fast"}, "speed"),
        ({"inference_geo": "us"}, "inference_geo"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"metadata": {"user_id": "u", "n": 5}}, "metadata.n"),
        ({"messages": [{"content": [{"type": "container_upload", "file_id": "f"}]}]}, "messages[0].content[0].file_id"),
    ],
)
def test_what_costs_beyond_every_price_is_refused(fields, path):
    assert paths(MESSAGES, fields) == [path]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"cache_control": LONG}, "cache_control.ttl"),
        ({"system": [{"type": "text", "text": "x", "cache_control": LONG}]}, "system[0].cache_control.ttl"),
        ({"tools": [{"name": "f", "cache_control": LONG}]}, "tools[0].cache_control.ttl"),
        (
            {
                "messages": [
                    {"content": [{"type": "tool_result", "content": [{"type": "text", "cache_control": LONG}]}]}
                ]
            },
            "messages[0].content[0].content[0].cache_control.ttl",
        ),
    ],
)
def test_an_hour_of_cache_is_an_amount_of_its_own_wherever_it_stands(fields, path):
    call, [field] = understood(MESSAGES, fields)
    assert (call.amounts, field.path, field.amount) == ({"cache_write_1h"}, path, "cache_write_1h")


def test_a_thread_is_refused_first_in_the_words_that_the_sdk_knows():
    field, *_ = refused(MESSAGES, {"thread": {"type": "create"}, "speed": "fast"}, ("message-threads-2026-08-12",))
    assert (field.path, field.amount, field.tool) == ("thread", "", "")
    assert field.details == {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}


@pytest.mark.parametrize(
    "beta",
    [
        "context-1m-2025-08-07", "files-api-2025-04-14", "code-execution-2025-08-25", "skills-2025-10-02",
        "mcp-client-2025-11-20", "message-threads-2026-08-12", "fast-mode-2026-02-01", "Context-1M-2099-01-01",
        "server-side-fallback-2026-07-01", "managed-agents-2026-04-01", "user-profiles-billing-2026-10-01",
        "output-128k-2025-02-19",
    ],
)  # fmt: skip
def test_a_beta_that_changes_cost_or_state_is_refused_by_its_value(beta):
    [field] = refused(MESSAGES, {}, ("effort-2025-11-24", beta))
    assert (field.name, field.path, field.beta) == ("anthropic-beta", "anthropic-beta", beta)
    assert field.reason.startswith(beta)


@pytest.mark.parametrize(
    "beta",
    [
        "prompt-caching-2024-07-31", "token-counting-2024-11-01", "extended-cache-ttl-2025-04-11", "oauth-2025-04-20",
        "interleaved-thinking-2025-05-14", "fine-grained-tool-streaming-2025-05-14",
        "computer-use-2025-11-24", "structured-outputs-2025-11-13", "advanced-tool-use-2025-11-20",
        "tool-search-tool-2025-10-19", "task-budgets-2026-03-13", "compact-2026-01-12", "context-hint-2026-04-09",
        "cache-diagnosis-2026-04-07", "brand-new-2030-01-01", "context-management-2025-06-27",
    ],
)  # fmt: skip
def test_other_betas_pass(beta):
    assert refused(MESSAGES, {}, (beta,)) == []


def test_the_betas_of_an_agent_are_not_refused_but_the_closed_ones_are_known():
    assert refused(MESSAGES, {}, OF_CLAUDE_CODE) == []
    assert [beta for beta in OF_CLAUDE_CODE if is_closed(beta)] == ["context-1m-2025-08-07"]


def test_what_claude_code_sends_passes():
    said = {
        "system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
            {"role": "system", "content": "x"},
        ],
        "metadata": {"user_id": '{"device_id":"1"}'},
        "max_tokens": 64_000,
        "thinking": {"type": "adaptive", "display": "omitted"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {}}},
        "diagnostics": {"previous_message_id": None},
        "context_hint": {"enabled": True},
        "tools": [{"name": "Bash", "input_schema": {"properties": {"cache_control": {"ttl": "1h"}}}}],
        "stream": True,
    }
    call, found = understood(MESSAGES, said, OF_CLAUDE_CODE)
    assert (found, call.amounts, call.tools, call.file_path, call.choices) == ([], frozenset(), {}, "", 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"context_management": {"edits": [{"type": "compact_20260112"}]}},
        {"compaction": {"type": "summarize"}},
    ],
)
def test_a_conversation_that_is_shortened_is_read_twice_and_written_twice(fields):
    once, _ = understood(MESSAGES, {})
    twice, _ = understood(MESSAGES, fields)
    assert (once.passes, twice.passes) == (1, 2)


def test_a_limit_that_nobody_set_goes_upstream():
    assert sent(MESSAGES, '{"model":"m"}', 9) == '{"max_tokens":9,"model":"m"}'


def test_a_limit_of_nothing_fills_a_cache_alone():
    call, found = understood(MESSAGES, {"max_tokens": 0})
    assert (call.output_limit, found) == (0, [])
    assert said_no(MESSAGES, {"max_tokens": -1}) == "max_tokens"
