"""The packages of the three vendors read what the sandbox writes: answers, streams, tools, lists and errors."""

import base64

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors, types

from tests.sandbox.speaking import CHAT, GEMINI, MESSAGES, RESPONSES

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PROMPT = "a fox in snow [thinking=2]"
BUSY, LATE = "a fox [overloaded]", "a fox in snow [stream:overloaded]"


def test_openai_reads_chats(sandbox):
    with openai.OpenAI(base_url=f"{sandbox.url}/openai/v1", api_key="any", max_retries=0) as client:
        chats = client.chat.completions
        whole = chats.create(**CHAT.body(PROMPT))
        with chats.stream(**CHAT.body(PROMPT), n=2, stream_options={"include_usage": True}) as stream:
            streamed = stream.until_done().get_final_completion()
        texts = [choice.message.content for choice in (*whole.choices, *streamed.choices)]
        assert texts == ["a fox in snow"] * 3
        assert (whole.usage.total_tokens, streamed.usage.completion_tokens_details.reasoning_tokens) == (11, 4)
        with chats.stream(**CHAT.body("[tool]"), **CHAT.tools) as stream:
            (call,) = stream.get_final_completion().choices[0].message.tool_calls
        assert (call.function.name, "often" in call.function.arguments) == ("look", True)
        assert "gpt-image-2" in [model.id for model in client.models.list()]
        with pytest.raises(openai.InternalServerError):
            chats.create(**CHAT.body(BUSY))
        with pytest.raises(openai.APIError, match="overloaded"):
            list(chats.create(**CHAT.body(LATE), stream=True))


def test_openai_reads_responses(sandbox):
    with openai.OpenAI(base_url=f"{sandbox.url}/openai/v1", api_key="any", max_retries=0) as client:
        whole = client.responses.create(**RESPONSES.body(PROMPT))
        with client.responses.stream(**RESPONSES.body(PROMPT)) as stream:
            streamed = stream.until_done().get_final_response()
        assert (whole.output_text, streamed.output_text) == ("a fox in snow",) * 2
        assert whole.usage == streamed.usage
        with client.responses.stream(**RESPONSES.body("[tool]"), **RESPONSES.tools) as stream:
            (call,) = stream.get_final_response().output
        assert (call.type, call.name) == ("function_call", "look")
        failed = list(client.responses.create(**RESPONSES.body("a fox [stream:fail]"), stream=True))[-1]
        assert (failed.type, failed.response.error.code) == ("response.failed", "server_error")


def test_anthropic_reads_messages(sandbox):
    with anthropic.Anthropic(base_url=f"{sandbox.url}/anthropic", api_key="any", max_retries=0) as client:
        whole = client.messages.create(**MESSAGES.body(PROMPT))
        with client.messages.stream(**MESSAGES.body(PROMPT)) as stream:
            streamed = stream.get_final_message()
        assert [block.type for block in whole.content] == ["thinking", "text"]
        assert (whole.content[1].text, streamed.content[1].text) == ("a fox in snow",) * 2
        assert whole.usage.output_tokens == streamed.usage.output_tokens == 6
        with client.messages.stream(**MESSAGES.body("[tool]"), **MESSAGES.tools) as stream:
            (use,) = stream.get_final_message().content
        assert (use.type, use.name, use.input["often"]) == ("tool_use", "look", 1)
        assert client.messages.count_tokens(**CHAT.body("a fox")).input_tokens == 2
        assert [model.type for model in client.models.list()] == ["model", "model"]
        with pytest.raises(anthropic.APIStatusError) as busy:
            client.messages.create(**MESSAGES.body(BUSY))
        assert busy.value.status_code == 529
        with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
            list(client.messages.create(**MESSAGES.body(LATE), stream=True))


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_google_reads_contents(sandbox, version):
    options = types.HttpOptions(base_url=f"{sandbox.url}/gemini", api_version=version)
    with genai.Client(api_key="any", http_options=options) as client:
        models = client.models
        whole = models.generate_content(model="m", contents=PROMPT)
        streamed = list(models.generate_content_stream(model="m", contents=PROMPT))
        assert (whole.text, "".join(piece.text or "" for piece in streamed)) == ("a fox in snow",) * 2
        assert whole.usage_metadata == streamed[-1].usage_metadata
        (call,) = models.generate_content(model="m", contents="[tool]", config=GEMINI.tools).function_calls
        assert (call.name, call.args["often"]) == ("look", 1)
        drawn = models.generate_content(
            model="an-image", contents=[types.Part.from_bytes(data=DOT, mime_type="image/png"), "a"]
        )
        assert drawn.candidates[0].content.parts[-1].inline_data.data.startswith(b"\x89PNG")
        assert models.count_tokens(model="m", contents="a fox").total_tokens == 2
        assert "models/gemini-3-pro" in [model.name for model in models.list()]
        for prompt in (BUSY, LATE):
            with pytest.raises(errors.ServerError) as busy:
                list(models.generate_content_stream(model="m", contents=prompt))
            assert (busy.value.code, busy.value.status) == (503, "UNAVAILABLE")
