"""Each field that an official SDK documents is known at its place, in a request and in an answer that comes back.

The SDKs are those that are installed: one that is new tells what is new in it.
"""

import re
from typing import Any

import pytest
from anthropic.types import Message, message_create_params
from anthropic.types import beta as anthropic_types
from google.genai import types as google_types
from openai.types import chat as chat_types
from openai.types import image_edit_params, image_generate_params
from openai.types import responses as responses_types
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

from relay.families.requests import images
from relay.families.requests.known_fields import DialectFields, in_protocol
from relay.families.requests.tables import (
    anthropic_tools,
    chat,
    generate_content,
    google_tools,
    messages,
    openai_tools,
    responses,
)
from tests.relay.families.requests.documented import FREE, example, fields_of, names_in

CHOSEN = re.compile(r"tool_choice\[\d+\](\.allowed_tools)?\.tools\[\"An author's\"\]")
"""They name tools of the request, which OpenAI documents in words alone."""
# The SDKs take them as arguments, and send them as headers or in other places, or send nothing of them.
CLIENTS_OWN = {
    "betas", "httpOptions", "shouldReturnHttpResponse", "automaticFunctionCalling", "automaticContinuation",
    "systemInstruction",
}  # fmt: skip


def all_of(kind: type) -> dict[str, Any]:
    """An object in which all fields of a type stand, but those that are judged by a table of their own."""
    hints = fields_of(kind) or {}
    return {name: example(hint, (kind,)) for name, hint in hints.items() if name not in CLIENTS_OWN}


def of_google() -> dict[str, Any]:
    """A request with all fields that Google's SDK may send: most of the SDK's own ones are settings in it."""
    config, settings = all_of(google_types.GenerateContentConfig), all_of(google_types.GenerationConfig)
    inner = {*settings, "imageConfig", "thinkingConfig"}
    return {
        "contents": all_of(google_types.Content),
        "systemInstruction": all_of(google_types.Content),
        "generationConfig": settings | {name: config[name] for name in inner & set(config)},
        **{name: config[name] for name in set(config) - inner},
    }


def in_the_other_spelling(value: Any) -> Any:
    if isinstance(value, dict) and value != FREE:
        return {in_protocol(name): in_the_other_spelling(inner) for name, inner in value.items()}
    return [in_the_other_spelling(item) for item in value] if isinstance(value, list) else value


REQUESTS: list[tuple[DialectFields, dict[str, Any], int]] = [
    (chat.FIELDS, all_of(completion_create_params.CompletionCreateParamsStreaming), 150),
    (responses.FIELDS, all_of(response_create_params.ResponseCreateParamsStreaming), 700),
    (messages.FIELDS, all_of(message_create_params.MessageCreateParamsStreaming), 300),
    (messages.FIELDS, all_of(anthropic_types.message_create_params.MessageCreateParamsStreaming), 700),
    (messages.FIELDS, all_of(anthropic_types.message_count_tokens_params.MessageCountTokensParams), 600),
    (images.FIELDS, all_of(image_generate_params.ImageGenerateParamsStreaming), 15),
    (images.FIELDS, all_of(image_edit_params.ImageEditParamsStreaming), 15),
    (generate_content.REQUEST, of_google(), 200),
    (generate_content.REQUEST, in_the_other_spelling(of_google()), 200),
]
TOOLS: list[tuple[DialectFields, Any, int]] = [
    (openai_tools.PROVIDERS, example(responses_types.ToolParam), 100),
    (openai_tools.PROVIDERS, example(chat_types.ChatCompletionToolUnionParam), 10),
    (openai_tools.LISTED, example(responses_types.response_input_item_param.McpListToolsTool), 4),
    (anthropic_tools.PROVIDERS, example(anthropic_types.BetaToolUnionParam), 250),
    (google_tools.TOOL, [all_of(google_types.Tool)], 80),
]
ANSWERS: list[tuple[DialectFields, dict[str, Any], int]] = [
    (chat.FIELDS, {"messages": example(chat_types.ChatCompletionMessage)}, 25),
    (responses.FIELDS, {"input": example(list[responses_types.ResponseOutputItem])}, 300),
    (messages.FIELDS, {"messages": {"content": example(Message)["content"]}}, 100),
    (messages.FIELDS, {"messages": {"content": example(anthropic_types.BetaMessage)["content"]}}, 150),
    (generate_content.REQUEST, {"contents": example(google_types.Candidate)["content"]}, 50),
]


@pytest.mark.parametrize(("table", "said", "least"), REQUESTS)
def test_every_field_of_a_request_of_the_official_sdks_is_known(table, said, least):
    assert names_in(said) >= least
    assert [field.path for field in table.unknown(said) if not CHOSEN.match(field.path)] == []


@pytest.mark.parametrize(("table", "listed", "least"), TOOLS)
def test_every_field_of_a_tool_of_the_official_sdks_is_known(table, listed, least):
    assert names_in(listed) >= least
    listed = listed if isinstance(listed, list) else [listed]
    assert [field.path for tool in listed for field in table.unknown(tool)] == []


@pytest.mark.parametrize(("table", "said", "least"), ANSWERS)
def test_every_field_of_an_answer_of_the_official_sdks_is_known_where_it_comes_back(table, said, least):
    assert names_in(said) >= least
    assert [field.path for field in table.unknown(said)] == []
