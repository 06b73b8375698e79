"""What programs do with the package openai and a general key, in any major: one function for each call.

Runs by itself, too, where nothing but the package is installed: `python -m tests.sdks.text_openai`.
"""

import base64
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import openai
from openai import AsyncOpenAI, OpenAI

from tests.sdks.blocking import raised, run_to_its_end
from tests.sdks.places import DOT, FOX, IMAGE, TEXT, Call, Connect, Place, made_by_itself, new_prompt

LOOK = {"type": "object", "properties": {"where": {"type": "string"}}}
KINDS = {"OpenAI": OpenAI, "AsyncOpenAI": lambda **options: run_to_its_end(AsyncOpenAI(**options))}


def opened(place: Place, kind: str) -> Connect:
    """Makes clients of one kind, each with a key of the place."""

    def client(key: str = "openai", **options: Any) -> AbstractContextManager[Any]:
        return KINDS[kind](base_url=f"{place.url}/v1", api_key=place.keys.get(key, key), **options)

    return client


def asked(prompt: str = FOX) -> dict[str, Any]:
    return {"model": TEXT, "messages": [{"role": "user", "content": prompt}]}


def text_of(chunks: list[Any]) -> str:
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def a_chat_is_answered(place: Place, connect: Connect) -> None:
    with connect() as client:
        answer = client.chat.completions.create(**asked(), n=2)
        assert [choice.message.content for choice in answer.choices] == [FOX, FOX]
        assert (answer.model, answer.usage.prompt_tokens, answer.usage.completion_tokens) == (TEXT, 5, 10)
        assert answer._request_id
        short = client.chat.completions.create(**asked(), max_tokens=2)
        assert (short.choices[0].message.content, short.choices[0].finish_reason) == ("a fox", "length")


def a_chat_is_streamed(place: Place, connect: Connect) -> None:
    with connect() as client:
        chunks = list(client.chat.completions.create(**asked(), stream=True))
        assert (text_of(chunks), {chunk.model for chunk in chunks}) == (FOX, {TEXT})
        assert all(chunk.choices and not chunk.usage for chunk in chunks)
        told = list(client.chat.completions.create(**asked(), stream=True, stream_options={"include_usage": True}))
        assert (text_of(told), told[-1].choices, told[-1].usage.total_tokens) == (FOX, [], 10)
        with client.chat.completions.stream(**asked()) as stream:
            deltas = [event.delta for event in stream if event.type == "content.delta"]
            assert stream.get_final_completion().choices[0].message.content == "".join(deltas) == FOX


def a_chat_calls_a_tool(place: Place, connect: Connect) -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": LOOK, "strict": True}}]
    with connect() as client, client.chat.completions.stream(**asked(f"{FOX} [tool]"), tools=tools) as stream:
        choice = stream.get_final_completion().choices[0]
    (call,) = choice.message.tool_calls
    assert (choice.finish_reason, call.function.name) == ("tool_calls", "look")
    assert json.loads(call.function.arguments) == {"where": FOX}


def a_response_is_answered(place: Place, connect: Connect) -> None:
    with connect() as client:
        answer = client.responses.create(model=TEXT, input=f"{FOX} [cached=3] [thinking=2]", instructions="be brief")
        assert (answer.output_text, answer.model, answer.status) == (FOX, TEXT, "completed")
        usage = answer.usage
        assert (usage.input_tokens, usage.input_tokens_details.cached_tokens) == (12, 3)
        assert (usage.output_tokens, usage.output_tokens_details.reasoning_tokens) == (7, 2)


def a_response_is_streamed(place: Place, connect: Connect) -> None:
    with connect() as client:
        events = list(client.responses.create(model=TEXT, input=FOX, stream=True))
        assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == FOX
        assert (events[-1].type, events[-1].response.model) == ("response.completed", TEXT)
        with client.responses.stream(model=TEXT, input=FOX) as stream:
            assert stream.get_final_response().output_text == FOX
        tool = {"type": "function", "name": "look", "parameters": LOOK, "strict": False}
        with client.responses.stream(model=TEXT, input=f"{FOX} [tool]", tools=[tool]) as stream:
            (call,) = stream.get_final_response().output
        assert (call.type, json.loads(call.arguments)) == ("function_call", {"where": FOX})


def the_models_are_listed(place: Place, connect: Connect) -> None:
    with connect() as client:
        assert {TEXT, IMAGE} <= {model.id for model in client.models.list()}
        assert client.models.retrieve(TEXT).id == TEXT


def a_picture_is_made_and_edited(place: Place, connect: Connect) -> None:
    with connect() as client:
        made = client.images.generate(model=IMAGE, prompt=FOX, n=2)
        edited = client.images.edit(model=IMAGE, prompt=FOX, image=("dot.png", DOT), n=1)
    pictures = [base64.b64decode(item.b64_json) for item in (*made.data, *edited.data)]
    assert [picture[:4] for picture in pictures] == [b"\x89PNG"] * 3
    assert len(set(pictures)) == 3


def refused(kind: type[openai.APIStatusError], ask: Callable[[], Any]) -> Any:
    """The error, of exactly this class, after one attempt."""
    error = raised(openai.APIStatusError, ask)
    assert type(error) is kind, repr(error)
    assert error.request_id, error
    assert error.response.request.headers["x-stainless-retry-count"] == "0", error
    return error


def a_refusal_has_its_class(place: Place, connect: Connect) -> None:
    for key, change, kind, code in (
        ("dr-gen-of-nobody", {}, openai.AuthenticationError, "authentication_error"),
        ("task", {}, openai.PermissionDeniedError, "permission_error"),
        ("openai", {"model": "nothing-1"}, openai.NotFoundError, "invalid_request_error"),
        ("openai", {"messages": "a fox"}, openai.BadRequestError, "invalid_request_error"),
        ("openai", asked("a fox [moderated]"), openai.BadRequestError, "invalid_request_error"),
        ("anthropic", {}, openai.NotFoundError, "not_found_error"),
    ):
        with connect(key) as client:
            fields = asked() | change
            error = refused(kind, lambda client=client, fields=fields: client.chat.completions.create(**fields))
        assert error.type == code, error
        assert error.body["message"], error
    with connect() as client:
        error = refused(openai.BadRequestError, lambda: client.responses.create(model=TEXT, input=FOX, background=True))
        assert error.param == "background", error
    with connect("anthropic") as client:
        error = refused(openai.NotFoundError, lambda: client.images.generate(model=IMAGE, prompt=FOX))
        assert error.body["message"] == "Images API is not supported for this platform", error


def what_is_busy_or_away_says_so(place: Place, connect: Connect) -> None:
    with connect("openai-busy", max_retries=0) as client:
        error = refused(openai.RateLimitError, lambda: client.chat.completions.create(**asked("a [rate-limited]")))
        assert 1 <= int(error.response.headers["retry-after"]) <= 60, error
    with connect("openai-away", max_retries=0) as client:
        error = raised(openai.APIStatusError, lambda: client.chat.completions.create(**asked("a [overloaded]")))
        assert error.status_code in (429, 503), error  # 429 while the channel rests after the first one


def what_may_have_been_bought_is_not_asked_for_again(place: Place, connect: Connect) -> None:
    with connect() as client:
        lost = new_prompt("[reset]")
        for prompt in (lost, new_prompt("[status=500]")):
            error = refused(
                openai.InternalServerError,
                lambda prompt=prompt: client.chat.completions.create(**asked(prompt)),
            )
            assert error.response.headers["x-should-retry"] == "false", error
        assert place.bought(lost) == 1


def assert_is_told(events: Any, word: str) -> None:
    """The package raises for an event with an `error` in it, and hands out the others."""
    try:
        *_, last = events
    except openai.APIConnectionError:
        raise
    except openai.APIError as error:
        assert error.message, word  # noqa: PT017
    else:
        assert last.type in ("error", "response.failed"), word


def a_stream_that_breaks_is_no_success(place: Place, connect: Connect) -> None:
    with connect() as client:
        for word in ("[cut]", "[stream:reset]", "[stream:garbage]", "[stream:fail]"):
            chat = client.chat.completions.create(**asked(f"{FOX} {word}"), stream=True)
            error = raised(openai.APIError, lambda chat=chat: list(chat))
            assert not isinstance(error, openai.APIConnectionError), word
            assert_is_told(client.responses.create(model=TEXT, input=f"{FOX} {word}", stream=True), word)


def a_client_that_leaves_pays_for_the_whole_answer(place: Place, connect: Connect) -> None:
    place.hold()
    before = place.output_tokens("openai-left")
    with connect("openai-left") as client:
        stream = client.chat.completions.create(**asked(f"{FOX} [stream:held]"), stream=True)
        for _ in stream:
            break
        stream.close()
    place.release()
    place.wait_until_charged("openai-left", before + len(FOX.split()))


CALLS: tuple[Call, ...] = (
    a_chat_is_answered,
    a_chat_is_streamed,
    a_chat_calls_a_tool,
    a_response_is_answered,
    a_response_is_streamed,
    the_models_are_listed,
    a_picture_is_made_and_edited,
    a_refusal_has_its_class,
    what_is_busy_or_away_says_so,
    what_may_have_been_bought_is_not_asked_for_again,
    a_stream_that_breaks_is_no_success,
    a_client_that_leaves_pays_for_the_whole_answer,
)


if __name__ == "__main__":
    made_by_itself(CALLS, KINDS, opened, version=openai.__version__)
