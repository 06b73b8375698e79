"""What programs do with the package openai, in any major: one function for each call, which fails where it goes wrong.

Runs by itself, too, where nothing but the package is installed: `python -m tests.sdks.calls` makes every call, with a
client and with an asynchronous one. Address and key stand in OPENAI_BASE_URL and OPENAI_API_KEY.
"""

import base64
import io
import struct
import sys
import time
import urllib.request
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import openai
from openai import AsyncOpenAI, OpenAI

from tests.sdks.blocking import raised, run_to_its_end

IMAGE, FILM = "aurora-image", "comet-video"
FOX = "a fox in the snow"
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
Call = Callable[[Any], None]


def asynchronous(**options: Any) -> AbstractContextManager[Any]:
    return run_to_its_end(AsyncOpenAI(**options))


KINDS = {"OpenAI": OpenAI, "AsyncOpenAI": asynchronous}


def decoded(item: Any) -> bytes:
    return base64.b64decode(item.b64_json, validate=True)


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


def size_of(png: bytes) -> tuple[int, int]:
    """Its pixels, as the header of a PNG tells them."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n"), png[:20]
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def a_picture_comes_as_bytes_and_as_a_link(client: Any) -> None:
    answer = client.images.generate(model=IMAGE, prompt=FOX)
    (item,) = answer.data
    assert abs(answer.created - time.time()) < 3600
    assert size_of(decoded(item))
    assert fetched(item.url) == decoded(item)


def a_picture_comes_in_the_form_that_is_asked_for(client: Any) -> None:
    (link,) = client.images.generate(model=IMAGE, prompt=FOX, response_format="url").data
    assert link.b64_json is None
    assert size_of(fetched(link.url))
    (item,) = client.images.generate(model=IMAGE, prompt=FOX, response_format="b64_json").data
    assert item.url is None
    assert size_of(decoded(item))


def several_pictures_have_the_shape_that_is_asked_for(client: Any) -> None:
    answer = client.images.generate(model=IMAGE, prompt=FOX, n=2, size="1536x1024")
    first, second = map(decoded, answer.data)
    (width, height), other = size_of(first), size_of(second)
    assert (width, height) == other == tuple(map(int, answer.size.split("x")))
    assert (round(width / height, 2), width >= 1536) == (1.5, True)
    assert first != second


def the_model_chooses_the_size_and_the_client_the_format(client: Any) -> None:
    (item,) = client.images.generate(model=IMAGE, prompt=FOX, size="auto", output_format="jpeg").data
    assert decoded(item).startswith(b"\xff\xd8\xff")


def pictures_are_edited_however_they_are_given(client: Any) -> None:
    """The sandbox writes on a picture how many it was made of."""
    unnamed, named = io.BytesIO(DOT), ("dot.png", DOT, "image/png")
    given = [unnamed, named, [named], [io.BytesIO(DOT), named]]
    seen = [decoded(client.images.edit(model=IMAGE, prompt=FOX, image=image, n=1).data[0]) for image in given]
    assert seen[0] == seen[1] == seen[2] != seen[3]
    assert size_of(seen[0])
    assert seen[0] != decoded(client.images.generate(model=IMAGE, prompt=FOX).data[0])


def a_picture_is_edited_where_a_mask_says(client: Any) -> None:
    answer = client.images.edit(model=IMAGE, prompt=FOX, image=("dot.png", DOT), mask=io.BytesIO(DOT), n=2)
    assert [bool(size_of(decoded(item))) for item in answer.data] == [True, True]


def a_repeated_name_is_the_same_picture(client: Any) -> None:
    named = {"Idempotency-Key": f"fox {time.time_ns()}"}
    first, again = (
        client.images.with_raw_response.generate(model=IMAGE, prompt=FOX, extra_headers=named) for _ in range(2)
    )
    assert first.headers["x-task-id"] == again.headers["x-task-id"]
    assert again.headers["idempotency-replayed"] == "true"
    assert decoded(first.parse().data[0]) == decoded(again.parse().data[0])


def a_film_is_made_fetched_listed_and_deleted(client: Any) -> None:
    film = client.videos.create(model=FILM, prompt="waves roll in", seconds="2")
    assert film.status in ("queued", "in_progress"), film
    assert (film.object, film.seconds, film.size, film.model) == ("video", "2", "1280x720", FILM)
    other = client.videos.create_and_poll(model=FILM, prompt="a fox runs", seconds="2", size="720x1280")
    assert (other.status, other.progress, other.size) == ("completed", 100, "720x1280"), other
    film = client.videos.poll(film.id)
    assert film.status == "completed", film
    assert client.videos.retrieve(film.id).completed_at == film.completed_at
    assert client.videos.download_content(film.id).content[4:8] == b"ftyp"
    newest, after = (client.videos.list(limit=1, **page) for page in ({}, {"after": other.id}))
    assert [film.id for film in [*newest.data, *after.data]] == [other.id, film.id]
    assert newest.has_more
    gone = client.videos.delete(film.id)
    assert (gone.id, gone.deleted, gone.object) == (film.id, True, "video.deleted")
    assert raised(openai.APIStatusError, lambda: client.videos.download_content(film.id)).status_code in (404, 410)


def a_film_begins_with_a_picture(client: Any) -> None:
    film = client.videos.create_and_poll(model=FILM, prompt=FOX, seconds="2", input_reference=("dot.png", DOT))
    assert film.status == "completed", film


def a_film_that_fails_says_why(client: Any) -> None:
    film = client.videos.create_and_poll(model=FILM, prompt="waves [moderated]", seconds="2")
    assert (film.status, film.error.code) == ("failed", "TASK_CONTENT_REJECTED")
    assert film.error.message


def refused(kind: type[openai.APIStatusError], ask: Callable[[], Any]) -> Any:
    """The error, of exactly this class, after one attempt: a repeat might have been bought once more."""
    error = raised(openai.APIStatusError, ask)
    assert type(error) is kind, repr(error)
    assert error.request_id, error
    assert error.response.request.headers["x-stainless-retry-count"] == "0", error
    return error


def a_wrong_field_is_named(client: Any) -> None:
    wrong = {"n": 99, "size": "1000x10", "model": "nobody", "quality": "high", "stream": True}
    for name, value in wrong.items():
        fields = {"model": IMAGE, "prompt": FOX, name: value}
        error = refused(openai.BadRequestError, lambda fields=fields: client.images.generate(**fields))
        assert error.param == name, error
        assert name in error.body["message"], error


def a_wrong_file_is_named(client: Any) -> None:
    error = refused(
        openai.BadRequestError, lambda: client.images.edit(model=IMAGE, prompt=FOX, image=io.BytesIO(b"no picture"))
    )
    assert error.param == "image", error


def a_wrong_key_is_refused(client: Any) -> None:
    stranger = client.with_options(api_key="dr-task-of-nobody")
    error = refused(openai.AuthenticationError, lambda: stranger.images.generate(model=IMAGE, prompt=FOX))
    assert error.type == "authentication_error", error


def what_was_refused_for_its_content_is_not_asked_for_again(client: Any) -> None:
    error = refused(openai.BadRequestError, lambda: client.images.generate(model=IMAGE, prompt="a fox [moderated]"))
    assert (error.type, error.code) == ("TASK_CONTENT_REJECTED", "TASK_CONTENT_REJECTED")
    assert error.response.headers["x-task-id"].startswith("task_")


def what_may_have_been_bought_is_not_asked_for_again(client: Any) -> None:
    error = refused(
        openai.InternalServerError, lambda: client.images.generate(model=IMAGE, prompt="a lost fox [reset]")
    )
    assert (error.status_code, error.type) == (503, "TASK_OUTCOME_UNKNOWN")


CALLS: tuple[Call, ...] = (
    a_picture_comes_as_bytes_and_as_a_link,
    a_picture_comes_in_the_form_that_is_asked_for,
    several_pictures_have_the_shape_that_is_asked_for,
    the_model_chooses_the_size_and_the_client_the_format,
    pictures_are_edited_however_they_are_given,
    a_picture_is_edited_where_a_mask_says,
    a_repeated_name_is_the_same_picture,
    a_film_is_made_fetched_listed_and_deleted,
    a_film_begins_with_a_picture,
    a_film_that_fails_says_why,
    a_wrong_field_is_named,
    a_wrong_file_is_named,
    a_wrong_key_is_refused,
    what_was_refused_for_its_content_is_not_asked_for_again,
    what_may_have_been_bought_is_not_asked_for_again,
)


def is_known(call: Call) -> bool:
    """Whether this major has what the call needs: films came with the second."""
    return hasattr(OpenAI, "videos") or "film" not in call.__name__


def main() -> None:
    warnings.simplefilter("ignore", DeprecationWarning)  # of the Videos API, whose shape outlives OpenAI's own service
    for kind, opened in KINDS.items():
        with opened() as client:
            for call in filter(is_known, CALLS):
                call(client)
                sys.stdout.write(f"{kind} {openai.__version__}: {call.__name__.replace('_', ' ')}\n")


if __name__ == "__main__":
    main()
