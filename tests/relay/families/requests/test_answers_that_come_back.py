"""What a model has answered passes as a part of the next request, as it came from any server of the dialect."""

from typing import Any

import pytest

from tests.relay.families.requests.asking import CHAT, GEMINI, MESSAGES, RESPONSES, refused

CALL = {"id": "1", "type": "function", "index": 0, "function": {"name": "f", "arguments": "{}"}}
CITATION = {
    "type": "url_citation",
    "url_citation": {"url": "https://a.example", "title": "a", "start_index": 0, "end_index": 1},
}
LOGPROB = {"token": "x", "logprob": 0, "bytes": [120]}
OF_CHAT: dict[str, dict[str, Any]] = {
    "OpenAI": {"role": "assistant", "content": "x", "refusal": None, "annotations": [CITATION], "tool_calls": [CALL]},
    "OpenAI's SDK, parsed": {
        "role": "assistant",
        "content": "{}",
        "parsed": {"Any": 1},
        "tool_calls": [{**CALL, "function": {**CALL["function"], "parsed_arguments": {"A": 1}}}],
    },
    "DeepSeek": {"role": "assistant", "content": "x", "reasoning_content": "y", "prefix": True},
    "Moonshot": {"role": "assistant", "content": "x", "partial": True, "name": "n"},
    "OpenRouter": {
        "role": "assistant",
        "content": "x",
        "reasoning": "y",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "y", "signature": "s", "id": "1", "format": "f", "index": 0},
            {"type": "reasoning.encrypted", "data": "AA"},
            {"type": "reasoning.summary", "summary": "y"},
        ],
        "images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUFB"}, "index": 0}],
    },
    "Google": {
        "role": "assistant",
        "tool_calls": [{**CALL, "extra_content": {"google": {"thought_signature": "s"}}}],
        "extra_content": {"google": {"thought": True}},
    },
    "LiteLLM": {
        "role": "assistant",
        "content": "x",
        "thinking_blocks": [{"type": "thinking", "thinking": "y", "signature": "s"}],
        "provider_specific_fields": {"Any": 1},
        "tool_calls": [{**CALL, "provider_specific_fields": {"thought_signature": "s"}}],
        "function_call": None,
        "audio": None,
    },
    "Mistral": {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "y"}]}]},
    "Groq": {"role": "assistant", "content": "x", "reasoning": "y", "executed_tools": [{"Any": 1}]},
    "Anthropic's cache": {
        "role": "assistant",
        "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
        "cache_control": {"type": "ephemeral"},
    },
}
ITEMS: dict[str, dict[str, Any]] = {
    "a message": {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "phase": "final_answer",
        "content": [
            {
                "type": "output_text",
                "text": "x",
                "parsed": {"Any": 1},
                "annotations": [{"type": "url_citation", "url": "u", "title": "a", "start_index": 0, "end_index": 1}],
                "logprobs": [{**LOGPROB, "top_logprobs": [LOGPROB]}],
            },
            {"type": "refusal", "refusal": "no"},
        ],
    },
    "thoughts": {
        "type": "reasoning",
        "id": "rs_1",
        "status": None,
        "summary": [{"type": "summary_text", "text": "y"}],
        "content": [{"type": "reasoning_text", "text": "y"}],
        "encrypted_content": "AA",
    },
    "a call": {"type": "function_call", "id": "fc_1", "call_id": "1", "name": "f", "arguments": "{}", "status": None},
    "a call with an agent's own data": {
        "type": "function_call",
        "call_id": "1",
        "name": "f",
        "namespace": "n",
        "arguments": "{}",
        "encrypted_function_args": ["a"],
        "internal_chat_message_metadata_passthrough": {"turn_id": "t", "create_time": 1.5, "content_item_kinds": ["k"]},
    },
    "what an agent says to another": {
        "type": "agent_message",
        "author": "a",
        "recipient": "b",
        "content": [{"type": "encrypted_content", "encrypted_content": "AA"}],
    },
    "a search": {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q", "queries": ["q"], "sources": [{"type": "url", "url": "https://a.example"}]},
    },
    "a search in files": {
        "type": "file_search_call",
        "id": "fs_1",
        "status": "completed",
        "queries": ["q"],
        "results": [{"filename": "f", "score": 0.5, "text": "x", "attributes": {"Any": 1}}],
    },
    "a program": {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "code": "1",
        "container_id": "c",
        "outputs": [{"type": "logs", "logs": "1"}],
    },
    "a shell": {
        "type": "local_shell_call",
        "id": "ls_1",
        "call_id": "1",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {"Any": "x"}, "timeout_ms": 1, "working_directory": "/"},
    },
    "another server's tool": {
        "type": "mcp_call", "id": "m", "name": "f", "server_label": "s", "arguments": "{}", "output": "x",
    },
    "another server's tools": {
        "type": "mcp_list_tools",
        "id": "l",
        "server_label": "s",
        "tools": [{"name": "f", "description": "d", "input_schema": {"Any": 1}, "annotations": {"readOnlyHint": True}}],
    },
    "a summary": {"type": "compaction", "id": "cmp_1", "encrypted_content": "AA", "created_by": "x"},
}  # fmt: skip
BLOCKS: dict[str, dict[str, Any]] = {
    "a text": {
        "type": "text",
        "text": "x",
        "citations": [
            {"type": "web_search_result_location", "cited_text": "x", "encrypted_index": "A", "title": "a", "url": "u"},
            {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": "a", "file_id": None,
             "start_char_index": 0, "end_char_index": 1},
        ],
    },
    "thoughts": {"type": "thinking", "thinking": "y", "signature": "s"},
    "hidden thoughts": {"type": "redacted_thinking", "data": "AA"},
    "a call": {"type": "tool_use", "id": "1", "name": "f", "input": {"Any": 1}, "caller": {"type": "direct"}},
    "a call of the provider's": {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {"query": "q"}},
    "a search": {
        "type": "web_search_tool_result",
        "tool_use_id": "1",
        "caller": {"type": "code_execution_20260521", "tool_id": "2"},
        "content": [
            {"type": "web_search_result", "url": "u", "title": "a", "encrypted_content": "AA", "page_age": "1 day"}
        ],
    },
    "a failed search": {
        "type": "web_search_tool_result",
        "tool_use_id": "1",
        "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
    },
    "a shell": {
        "type": "bash_code_execution_tool_result",
        "tool_use_id": "1",
        "content": {"type": "bash_code_execution_result", "stdout": "x", "stderr": "", "return_code": 0, "content": []},
    },
    "a found tool": {
        "type": "tool_search_tool_result",
        "tool_use_id": "1",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "f"}],
        },
    },
    "another server's tool": {
        "type": "mcp_tool_use", "id": "1", "name": "f", "server_name": "s", "input": {"Any": 1},
    },
    "a summary": {"type": "compaction", "content": "x", "encrypted_content": "AA"},
}  # fmt: skip
PARTS: dict[str, dict[str, Any]] = {
    "a thought": {"text": "y", "thought": True, "thoughtSignature": "AA"},
    "a call": {"functionCall": {"id": "1", "name": "f", "args": {"Any": 1}}, "thoughtSignature": "AA"},
    "a call in protocol buffers' spelling": {"function_call": {"name": "f"}, "thought_signature": "AA"},
    "a program": {"executableCode": {"id": "1", "language": "PYTHON", "code": "1"}},
    "its result": {"codeExecutionResult": {"id": "1", "outcome": "OUTCOME_OK", "output": "1"}},
    "a picture": {"inlineData": {"mimeType": "image/png", "data": "QUFB"}, "partMetadata": {"Any": 1}},
    "a film": {
        "fileData": {"fileUri": "https://a.example/b", "mimeType": "video/mp4"},
        "videoMetadata": {"startOffset": "1s", "endOffset": "2s", "fps": 1},
    },
}


@pytest.mark.parametrize("server", OF_CHAT)
def test_a_message_of_chat_comes_back(server):
    asked = [{"role": "user", "content": "hi"}, OF_CHAT[server], {"role": "tool", "tool_call_id": "1", "content": "x"}]
    assert refused(CHAT, {"messages": asked}) == []


@pytest.mark.parametrize("kind", ITEMS)
def test_an_item_of_responses_comes_back(kind):
    assert refused(RESPONSES, {"input": [{"role": "user", "content": "hi"}, ITEMS[kind]]}) == []


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_block_of_messages_comes_back(kind):
    asked = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [BLOCKS[kind]]}]
    assert refused(MESSAGES, {"messages": asked}) == []


@pytest.mark.parametrize("kind", PARTS)
def test_a_part_of_generate_content_comes_back(kind):
    assert refused(GEMINI, {"contents": [{"role": "model", "parts": [PARTS[kind]]}]}) == []
