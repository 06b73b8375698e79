"""OpenAI's SDK for Python, unmodified, in its current major; `make sdks` makes the same calls with others.

Few tests in one module, so that one process runs them all: each process that has one starts an installation for it.
"""

import asyncio
import shutil
import sys

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.sdks import document
from tests.sdks.blocking import raised
from tests.sdks.calls import CALLS, FILM, FOX, IMAGE, KINDS, decoded, size_of

pytestmark = pytest.mark.filterwarnings("ignore:The Sora API:DeprecationWarning")

UNSUPPORTED = "Images API is not supported for this platform"


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_is_answered_as_the_package_reads_it(shop, kind):
    with KINDS[kind](base_url=shop.base_url, api_key=shop.key) as client:
        for call in CALLS:
            call(client)


def picture(client: OpenAI):
    return client.images.generate(model=IMAGE, prompt=FOX)


def film(client: OpenAI):
    return client.videos.create(model=FILM, prompt=FOX, seconds="2")


def dearest_film(client: OpenAI):
    return client.videos.create(model=FILM, prompt=FOX, seconds="86400")


REFUSED = [
    ("general", picture, openai.NotFoundError, "not_found_error"),
    ("general", film, openai.PermissionDeniedError, "TASK_SCOPE_REQUIRED"),
    ("closed", picture, openai.PermissionDeniedError, "TASK_SCOPE_REQUIRED"),
    ("closed", film, openai.PermissionDeniedError, "TASK_SCOPE_REQUIRED"),
    ("full", picture, openai.RateLimitError, "TASK_QUEUE_LIMIT_EXCEEDED"),
    ("full", film, openai.RateLimitError, "TASK_QUEUE_LIMIT_EXCEEDED"),
    ("task", dearest_film, openai.PermissionDeniedError, "TASK_INSUFFICIENT_BALANCE"),
]


def test_a_refusal_has_its_class_and_its_words(shop):
    for key, ask, kind, code in REFUSED:
        with OpenAI(base_url=shop.base_url, api_key=shop.keys[key], max_retries=0) as client:
            error = raised(openai.APIStatusError, lambda ask=ask, client=client: ask(client))
        assert (type(error), error.type, error.code) == (kind, code, code), (key, ask)
        assert (error.body["message"] == UNSUPPORTED) == (code == "not_found_error")
        assert error.request_id == error.response.headers["request-id"]


def test_many_pictures_come_at_once_and_the_list_of_films_is_walked(shop):
    async def walk() -> tuple[list[bytes], list[str]]:
        async with AsyncOpenAI(base_url=shop.base_url, api_key=shop.key) as client:
            asked = [client.images.generate(model=IMAGE, prompt=f"fox {number}") for number in range(8)]
            for _ in range(3):
                await client.videos.create(model=FILM, prompt=FOX, seconds="2")
            films = [film.id async for film in client.videos.list(limit=2)]
            return [decoded(answer.data[0]) for answer in await asyncio.gather(*asked)], films

    pictures, films = asyncio.run(walk())
    assert len(set(pictures)) == 8
    assert all(map(size_of, pictures))
    assert len(films) == len(set(films)) >= 3


needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="studio.sh needs curl, which is not installed")


@pytest.mark.parametrize(
    ("program", "name"),
    [pytest.param("sh", "studio.sh", marks=needs_curl), (sys.executable, "studio.py")],
    ids=["curl", "python"],
)
def test_a_program_of_the_page_saves_a_picture_an_edited_one_and_a_film(shop, tmp_path, program, name):
    document.saves_its_files(shop, tmp_path, program, name)
