"""What programs do with the package google-genai and a general key, in any major: one function for each call.

Runs by itself, too, where nothing but the package is installed: `python -m tests.sdks.text_google`.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from google import genai
from google.genai import errors
from google.genai.types import HttpOptions, Part

from tests.sdks.blocking import raised, run_to_its_end
from tests.sdks.places import DOT, FOX, TEXT, Call, Connect, Place, made_by_itself, new_prompt

PICTURE = "gemini-3-pro-image"
LOOK = {"name": "look", "parameters": {"type": "OBJECT", "properties": {"where": {"type": "STRING"}}}}
VERSIONS: dict[str, dict[str, str]] = {"by itself": {}, "v1beta": {"api_version": "v1beta"}}


@contextmanager
def blocking(client: genai.Client) -> Iterator[Any]:
    try:
        yield client
    finally:
        client.close()


@contextmanager
def asynchronous(client: genai.Client) -> Iterator[Any]:
    with run_to_its_end(client.aio, close="aclose") as opened:
        yield opened


KINDS = {
    f"{name}, {version}": (wrap, version)
    for name, wrap in (("Client", blocking), ("Client.aio", asynchronous))
    for version in VERSIONS
}


def opened(place: Place, kind: str) -> Connect:
    """Makes clients of one kind, each with a key of the place. The base URL is the host and nothing else."""
    wrap, version = KINDS[kind]

    def client(key: str = "gemini") -> AbstractContextManager[Any]:
        options = HttpOptions(base_url=place.url, **VERSIONS[version])
        return wrap(genai.Client(api_key=place.keys.get(key, key), http_options=options))

    return client


def text_of(pieces: list[Any]) -> str:
    return "".join(piece.text or "" for piece in pieces)


def a_content_is_answered(place: Place, connect: Connect) -> None:
    with connect() as client:
        answer = client.models.generate_content(
            model=TEXT, contents=f"{FOX} [cached=3] [thinking=2]", config={"system_instruction": "be brief"}
        )
        usage = answer.usage_metadata
        assert (answer.text, answer.model_version) == (FOX, TEXT)
        assert (usage.prompt_token_count, usage.cached_content_token_count) == (12, 3)
        assert (usage.candidates_token_count, usage.thoughts_token_count) == (5, 2)
        several = client.models.generate_content(
            model=TEXT, contents=FOX, config={"max_output_tokens": 2, "candidate_count": 2}
        )
        assert [one.content.parts[0].text for one in several.candidates] == ["a fox", "a fox"]
        assert several.candidates[0].finish_reason.name == "MAX_TOKENS"


def a_content_is_streamed(place: Place, connect: Connect) -> None:
    with connect() as client:
        pieces = list(client.models.generate_content_stream(model=TEXT, contents=FOX))
        assert (text_of(pieces), {piece.model_version for piece in pieces}) == (FOX, {TEXT})
        assert pieces[-1].usage_metadata.total_token_count == 10
        config = {"tools": [{"function_declarations": [LOOK]}]}
        called = client.models.generate_content_stream(model=TEXT, contents=f"{FOX} [tool]", config=config)
        (call,) = [call for piece in called for call in piece.function_calls or []]
        assert (call.name, call.args) == ("look", {"where": FOX})


def a_picture_is_made(place: Place, connect: Connect) -> None:
    with connect() as client:
        config = {"response_modalities": ["IMAGE"], "image_config": {"aspect_ratio": "1:1"}}
        dot = Part.from_bytes(data=DOT, mime_type="image/png")
        answer = client.models.generate_content(model=PICTURE, contents=[dot, FOX], config=config)
    (picture,) = [part.inline_data.data for part in answer.candidates[0].content.parts if part.inline_data]
    assert picture.startswith(b"\x89PNG")


def tokens_are_counted(place: Place, connect: Connect) -> None:
    with connect() as client:
        assert client.models.count_tokens(model=TEXT, contents=FOX).total_tokens == 5


def the_models_are_listed(place: Place, connect: Connect) -> None:
    with connect() as client:
        assert f"models/{TEXT}" in [model.name for model in client.models.list()]
        assert client.models.get(model=TEXT).name == f"models/{TEXT}"


def a_refusal_has_its_class(place: Place, connect: Connect) -> None:
    for key, fields, status, code in (
        ("dr-gen-of-nobody", {}, 401, "UNAUTHENTICATED"),
        ("task", {}, 403, "PERMISSION_DENIED"),
        ("gemini", {"model": "nothing-1"}, 404, "NOT_FOUND"),
        ("gemini", {"config": {"cached_content": "cachedContents/1"}}, 400, "INVALID_ARGUMENT"),
        ("gemini", {"contents": "a fox [fail]"}, 400, "INVALID_ARGUMENT"),
        ("openai", {}, 404, "NOT_FOUND"),
        ("gemini-busy", {"contents": "a fox [rate-limited]"}, 429, "RESOURCE_EXHAUSTED"),
    ):
        with connect(key) as client:
            call = {"model": TEXT, "contents": FOX} | fields
            error = raised(errors.ClientError, lambda client=client, call=call: client.models.generate_content(**call))
        assert (error.code, error.status, bool(error.message)) == (status, code, True), (key, error)


def what_is_away_says_so(place: Place, connect: Connect) -> None:
    with connect("gemini-away") as client:
        call = {"model": TEXT, "contents": "a fox [overloaded]"}
        error = raised(errors.APIError, lambda: client.models.generate_content(**call))
        told = (error.code, error.status)
        assert told in ((429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE")), error  # 429 while the channel rests


def what_may_have_been_bought_is_asked_for_once(place: Place, connect: Connect) -> None:
    lost = new_prompt("[reset]")
    with connect() as client:
        raised(errors.ServerError, lambda: client.models.generate_content(model=TEXT, contents=lost))
    assert place.bought(lost) == 1


def a_stream_that_breaks_is_no_success(place: Place, connect: Connect) -> None:
    with connect() as client:
        for word in ("[cut]", "[stream:reset]", "[stream:garbage]", "[stream:fail]"):
            stream = client.models.generate_content_stream(model=TEXT, contents=f"{FOX} {word}")
            error = raised(errors.APIError, lambda stream=stream: list(stream))
            assert error.code >= 500, (word, error)


CALLS: tuple[Call, ...] = (
    a_content_is_answered,
    a_content_is_streamed,
    a_picture_is_made,
    tokens_are_counted,
    the_models_are_listed,
    a_refusal_has_its_class,
    what_is_away_says_so,
    what_may_have_been_bought_is_asked_for_once,
    a_stream_that_breaks_is_no_success,
)


if __name__ == "__main__":
    made_by_itself(CALLS, KINDS, opened, version=genai.__version__)
