"""What programs do with the package anthropic and a general key, in any major: one function for each call.

Runs by itself, too, where nothing but the package is installed: `python -m tests.sdks.text_anthropic`.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import anthropic
from anthropic import Anthropic, AsyncAnthropic

from tests.sdks.blocking import Blocking, raised, run_to_its_end
from tests.sdks.places import FOX, TEXT, Call, Connect, Place, made_by_itself, new_prompt

LOOK = {"name": "look", "input_schema": {"type": "object", "properties": {"where": {"type": "string"}}}}
KINDS = {"Anthropic": Anthropic, "AsyncAnthropic": lambda **options: run_to_its_end(AsyncAnthropic(**options))}


def opened(place: Place, kind: str) -> Connect:
    """Makes clients of one kind, each with a key of the place."""

    def client(key: str = "anthropic", **options: Any) -> AbstractContextManager[Any]:
        return KINDS[kind](base_url=place.url, api_key=place.keys.get(key, key), **options)

    return client


def asked(prompt: str = FOX) -> dict[str, Any]:
    return {"model": TEXT, "max_tokens": 100, "messages": [{"role": "user", "content": prompt}]}


def a_message_is_answered(place: Place, connect: Connect) -> None:
    with connect() as client:
        answer = client.messages.create(**asked(f"{FOX} [cached=3] [thinking=2]"), system="be brief")
        assert [block.type for block in answer.content] == ["thinking", "text"]
        assert (answer.content[1].text, answer.model, answer.stop_reason) == (FOX, TEXT, "end_turn")
        assert (answer.usage.input_tokens, answer.usage.cache_read_input_tokens, answer.usage.output_tokens) == (
            9,
            3,
            7,
        )
        assert answer._request_id
        short = client.messages.create(**asked() | {"max_tokens": 2})
        assert (short.content[0].text, short.stop_reason) == ("a fox", "max_tokens")


def a_message_is_streamed(place: Place, connect: Connect) -> None:
    with connect() as client:
        *_, delta, last = client.messages.create(**asked(), stream=True)
        assert (delta.usage.output_tokens, last.type) == (5, "message_stop")
        with client.messages.stream(**asked()) as stream:
            text = "".join(stream.text_stream)
            message = stream.get_final_message()
        assert (text, message.model, message.usage.input_tokens, message.usage.output_tokens) == (FOX, TEXT, 5, 5)
        with client.messages.stream(**asked(f"{FOX} [tool]"), tools=[LOOK]) as stream:
            message = stream.get_final_message()
        (use,) = message.content
        assert (message.stop_reason, use.name, use.input) == ("tool_use", "look", {"where": FOX})


@anthropic.beta_tool
def look(where: str) -> str:
    """Looks somewhere."""
    return where


@anthropic.beta_async_tool
async def look_asynchronously(where: str) -> str:
    """Looks somewhere."""
    return where


def a_tool_runner_goes_on_without_a_thread(place: Place, connect: Connect) -> None:
    """Newer majors ask for a thread by themselves, and do without one if they are told so in `error.details`."""
    with connect() as client:
        tool = look_asynchronously if isinstance(client, Blocking) else look
        *_, last = client.beta.messages.tool_runner(**asked(), tools=[tool])
        assert last.content[0].text == FOX


def tokens_are_counted(place: Place, connect: Connect) -> None:
    with connect() as client:
        messages = [{"role": "user", "content": FOX}]
        assert client.messages.count_tokens(model=TEXT, messages=messages).input_tokens == 5


def the_models_are_listed(place: Place, connect: Connect) -> None:
    with connect() as client:
        assert TEXT in [model.id for model in client.models.list(limit=20)]
        assert client.models.retrieve(TEXT).id == TEXT


def refused(status: int, ask: Callable[[], Any]) -> Any:
    """The error with this status, after one attempt."""
    error = raised(anthropic.APIStatusError, ask)
    assert error.status_code == status, repr(error)
    assert error.response.headers["request-id"], error
    assert error.response.request.headers["x-stainless-retry-count"] == "0", error
    assert error.body["type"] == "error", error
    return error


def a_refusal_has_its_class(place: Place, connect: Connect) -> None:
    for key, change, kind, code in (
        ("dr-gen-of-nobody", {}, anthropic.AuthenticationError, "authentication_error"),
        ("task", {}, anthropic.PermissionDeniedError, "permission_error"),
        ("anthropic", {"model": "nothing-1"}, anthropic.NotFoundError, "not_found_error"),
        ("anthropic", {"messages": "a fox"}, anthropic.BadRequestError, "invalid_request_error"),
        ("anthropic", asked("a fox [moderated]"), anthropic.BadRequestError, "invalid_request_error"),
        ("openai", {}, anthropic.NotFoundError, "not_found_error"),
    ):
        with connect(key) as client:
            fields = asked() | change
            error = raised(kind, lambda client=client, fields=fields: client.messages.create(**fields))
        assert error.body["error"]["type"] == code, error
        assert error.body["error"]["message"], error
        assert error.body["request_id"] == error.response.headers["request-id"], error


def what_is_busy_or_away_says_so(place: Place, connect: Connect) -> None:
    with connect("anthropic-busy", max_retries=0) as client:
        error = refused(429, lambda: client.messages.create(**asked("a [rate-limited]")))
        assert type(error) is anthropic.RateLimitError, error
        assert 1 <= int(error.response.headers["retry-after"]) <= 60, error
    with connect("anthropic-away", max_retries=0) as client:
        error = raised(anthropic.APIStatusError, lambda: client.messages.create(**asked("a [overloaded]")))
        told = (error.status_code, error.body["error"]["type"])
        assert told in ((429, "rate_limit_error"), (503, "overloaded_error")), error  # 429 while the channel rests


def what_may_have_been_bought_is_not_asked_for_again(place: Place, connect: Connect) -> None:
    with connect() as client:
        lost = new_prompt("[reset]")
        for prompt in (lost, new_prompt("[status=500]")):
            error = raised(anthropic.APIStatusError, lambda prompt=prompt: client.messages.create(**asked(prompt)))
            assert error.status_code >= 500, error
            assert error.response.request.headers["x-stainless-retry-count"] == "0", error
        assert place.bought(lost) == 1


def a_stream_that_breaks_is_no_success(place: Place, connect: Connect) -> None:
    with connect() as client:
        for word in ("[cut]", "[stream:reset]", "[stream:garbage]", "[stream:fail]"):
            stream = client.messages.create(**asked(f"{FOX} {word}"), stream=True)
            error = raised(anthropic.APIError, lambda stream=stream: list(stream))
            assert not isinstance(error, anthropic.APIConnectionError), word


def a_client_that_leaves_pays_for_the_whole_answer(place: Place, connect: Connect) -> None:
    place.hold()
    before = place.output_tokens("anthropic-left")
    with connect("anthropic-left") as client, client.messages.stream(**asked(f"{FOX} [stream:held]")) as stream:
        for _ in stream:
            break
    place.release()
    place.wait_until_charged("anthropic-left", before + len(FOX.split()))


CALLS: tuple[Call, ...] = (
    a_message_is_answered,
    a_message_is_streamed,
    a_tool_runner_goes_on_without_a_thread,
    tokens_are_counted,
    the_models_are_listed,
    a_refusal_has_its_class,
    what_is_busy_or_away_says_so,
    what_may_have_been_bought_is_not_asked_for_again,
    a_stream_that_breaks_is_no_success,
    a_client_that_leaves_pays_for_the_whole_answer,
)


if __name__ == "__main__":
    made_by_itself(CALLS, KINDS, opened, version=anthropic.__version__)
