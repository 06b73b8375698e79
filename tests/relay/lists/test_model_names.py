"""Which models are listed: those that the group names, else what its channels say and what has a price."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from catalog import snapshot
from catalog.models import GroupChannel
from common.concurrency import threads
from relay.lists import model_names, upstream_lists
from relay.wire import upstream as client
from tests.relay.general import make_group
from tests.relay.upstreams import answers, upstream
from tests.rows import make_channel

pytestmark = pytest.mark.django_db(transaction=True)

PRICES = {"gpt-*": {"input": 1, "output": 2}, "gem-*": {"input": 1, "output": 2}, "best": {"input": 1, "output": 2}}
OPENAI = {"object": "list", "data": [{"id": "gpt-1"}, {"id": "unpriced"}, {"id": "gpt-1"}, {"id": 7}, {"id": "theirs"}]}
GEMINI = {"models": [{"name": "models/gem-1"}, {"name": "models/unpriced"}]}


def listed(group, *behaviours, asked: int = 1, links=()) -> tuple[list[tuple[str, ...]], list[bytes]]:
    """What list_models returns in each call, with a channel for each behaviour; and what upstreams have heard."""

    async def scene():
        async with AsyncExitStack() as until_end:
            until_end.push_async_callback(client.close)
            heard = [await until_end.enter_async_context(upstream(behaviour)) for behaviour in behaviours]
            version = await asyncio.to_thread(
                threads.returning_connection, _linked, group, [one.url for one in heard], links
            )
            entry = snapshot.current(version).group(group.pk)
            names = [await model_names.list_models(entry, version) for _ in range(asked)]
            return names, [request for one in heard for request in one.requests]

    return asyncio.run(scene())


def _linked(group, urls, links) -> int:
    for number, url in enumerate(urls):
        base = f"{url}/v1" if group.platform == "openai" else url
        channel = make_channel(f"c-{number}", f"{group.platform}_relay", base)
        extra = links[number] if links else {}
        GroupChannel.objects.create(group=group, channel=channel, priority=number, **extra)
    return snapshot.latest().version


def test_a_list_of_its_own_is_shown_as_it_is_and_nobody_is_asked():
    names, heard = listed(make_group("text", models_listed=["b", "a"]), answers(OPENAI))
    assert (names, heard) == ([("b", "a")], [])


def test_a_group_without_channels_has_none():
    assert listed(make_group("text", prices=PRICES))[0] == [()]


def test_priced_models_of_the_channels_are_listed_once_by_their_public_names_and_kept():
    group = make_group("text", prices=PRICES, image_prices={"draw-*": 0.04})
    other = {"data": [{"id": "gpt-2"}, {"id": "gpt-1"}, {"id": "draw-1"}]}
    names, heard = listed(
        group, answers(OPENAI), answers(other), asked=2, links=[{"upstream_models": {"best": "theirs"}}, {}]
    )
    assert names == [("gpt-1", "best", "gpt-2", "draw-1")] * 2
    assert [request.split(b"\r\n")[0] for request in heard] == [b"GET /v1/models HTTP/1.1"] * 2
    assert b"authorization: bearer c-0-credential-1234" in heard[0].lower()


@pytest.mark.parametrize(
    ("platform", "said", "line", "header"),
    [
        ("anthropic", OPENAI, b"GET /v1/models?limit=1000 HTTP/1.1", b"x-api-key: c-0-credential-1234"),
        ("gemini", GEMINI, b"GET /v1beta/models?pageSize=1000 HTTP/1.1", b"x-goog-api-key: c-0-credential-1234"),
    ],
)
def test_each_platform_is_asked_in_its_own_way(platform, said, line, header):
    names, (heard,) = listed(make_group("text", platform, prices=PRICES), answers(said))
    assert names == [("gem-1",) if platform == "gemini" else ("gpt-1",)]
    assert heard.startswith(line)
    assert header in heard.lower()
    assert (b"anthropic-version: 2023-06-01" in heard.lower()) == (platform == "anthropic")


async def hangs(talk) -> None:
    await talk.gone()


async def resets(talk) -> None:
    talk.reset()


BROKEN = {
    "no success": answers(OPENAI, "500 Internal Server Error"),
    "a redirect": answers(b"", "302 Found", location="http://127.0.0.1:9/"),
    "no JSON": answers(b"<html>"),
    "another shape": answers([1]),
    "a list of nothing": answers({"data": [None]}),
    "nested": answers(b"[" * 200_000),
    "a reset": resets,
}


@pytest.mark.parametrize("behaviour", BROKEN.values(), ids=BROKEN.keys())
def test_a_channel_that_does_not_say_is_left_out_and_asked_again_soon(behaviour, monkeypatch):
    monkeypatch.setattr(model_names, "KEPT_PART_SECONDS", 0.0)
    names, heard = listed(make_group("text", prices=PRICES), behaviour, answers(OPENAI), asked=2)
    assert names == [("gpt-1",)] * 2
    assert len([request for request in heard if b"c-1-credential" in request]) == 2


def test_a_channel_that_is_silent_is_waited_for_no_longer_than_the_bound(monkeypatch):
    monkeypatch.setattr(upstream_lists, "SECONDS", 0.1)
    assert listed(make_group("text", prices=PRICES), hangs)[0] == [()]


def test_all_who_wait_share_one_question():
    async def scene():
        async with upstream(answers(OPENAI)) as heard:
            version = await asyncio.to_thread(threads.returning_connection, _linked, group, [heard.url], [])
            entry = snapshot.current(version).group(group.pk)
            found = await asyncio.gather(*(model_names.list_models(entry, version) for _ in range(5)))
            await client.close()
            return set(found), len(heard.requests)

    group = make_group("text", prices=PRICES)
    assert asyncio.run(scene()) == ({("gpt-1",)}, 1)


@pytest.mark.parametrize("bad", [{}, {"id": None}, {"name": 5}, None, "gpt-1", []])
@pytest.mark.parametrize("platform", ["openai", "anthropic", "gemini"])
def test_a_model_without_a_name_is_skipped(platform, bad):
    member, good = ("models", GEMINI["models"]) if platform == "gemini" else ("data", OPENAI["data"])
    names, _ = listed(make_group("text", platform, prices=PRICES), answers({member: [bad, *good]}))
    assert names == [("gem-1",) if platform == "gemini" else ("gpt-1",)]


def test_what_no_client_could_ask_for_is_no_name():
    odd = [
        "7",
        "1.5",
        "true",
        "[]",
        "{}",
        '""',
        '" gpt-2"',
        r'"gpt-2\u0000"',
        r'"gpt-2\ud800"',
        r'"gpt-2\n"',
        f'"{"x" * 201}"',
    ]
    models = [f'{{"id": {each}}}' for each in [*odd, f'"gpt-1", "created": {"9" * 5_000}', '"gpt-1"']]
    group = make_group("text", prices={"*": {"input": 1, "output": 2}})
    names, _ = listed(group, answers(f'{{"data": [{", ".join(models)}]}}'.encode()))
    assert names == [("gpt-1",)]
