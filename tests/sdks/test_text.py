"""The packages of three vendors, unmodified, with general keys; `make sdks` makes the same calls with older ones.

The calls themselves stand in text_openai.py, text_anthropic.py and text_google.py, for a blocking client and an
asynchronous one.
"""

import sys
from decimal import Decimal
from typing import Any

import openai
import pytest

from common.token_usage import COUNTS
from tests.sdks import document, text_anthropic, text_google, text_openai
from tests.sdks.conftest import Shop
from tests.sdks.places import FOX, IMAGE, TEXT, new_prompt

# google-genai has a session of aiohttp of its own kind, where that is installed.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

PACKAGES = (text_openai, text_anthropic, text_google)
KINDS = [pytest.param(package, kind, id=kind) for package in PACKAGES for kind in package.KINDS]


@pytest.mark.parametrize(("package", "kind"), KINDS)
def test_a_package_makes_every_call(shop, package, kind):
    for call in package.CALLS:
        call(shop.place, package.opened(shop.place, kind))


def test_a_busy_channel_is_asked_again_when_it_says(shop):
    """By the package itself: nothing was accepted, so nothing is bought twice."""
    prompt = new_prompt("[rate-limited=1]")
    with openai.OpenAI(base_url=shop.base_url, api_key=shop.keys["openai-busy"]) as client:
        answer = client.chat.completions.with_raw_response.create(**text_openai.asked(prompt))
    assert answer.retries_taken >= 1
    assert shop.place.bought(prompt) == 1


def billed(shop: Shop, key: str) -> dict[str, dict[str, Any]]:
    """What a key used, by model."""
    usage = shop.stack.client(shop.keys[key]).get("/v1/usage").json()
    return {one.pop("model"): one for one in usage["by_model"]}


def line(calls: int, micros: int, **counts: int) -> dict[str, Any]:
    return {"calls": calls, **dict.fromkeys(COUNTS, 0), **counts, "cost": Decimal(micros) / 1_000_000}


def told(calls: int, *, thoughts: int = 2) -> dict[str, int]:
    """What the sandbox says of as many calls with the prompt below."""
    each = {"input_tokens": 10, "cached_tokens": 3, "output_tokens": 7, "reasoning_tokens": thoughts}
    return {name: count * calls for name, count in each.items()}


PICTURES = {"input_tokens": 5, "output_tokens": 2096, "image_tokens": 2096, "images": 2}
PICTURE = {"input_tokens": 5, "output_tokens": 1048, "image_tokens": 1048}


def test_every_call_is_charged_once_by_what_it_used(shop):
    """7 tokens in, 3 from a cache, 7 out; so it is streamed and not. A picture has its price, or that of its tokens."""
    prompt = f"{FOX} [cached=3] [thinking=2]"
    chat = text_openai.opened(shop.place, "OpenAI")
    with chat("openai-bill") as client:
        list(client.chat.completions.create(**text_openai.asked(prompt), stream=True))
        client.responses.create(model=TEXT, input=prompt)
        client.images.generate(model=IMAGE, prompt=FOX, n=2)
    with text_anthropic.opened(shop.place, "Anthropic")("anthropic-bill") as client:
        client.messages.create(**text_anthropic.asked(prompt))
        client.messages.count_tokens(model=TEXT, messages=text_anthropic.asked(prompt)["messages"])
    with text_google.opened(shop.place, "Client, by itself")("gemini-bill") as client:
        list(client.models.generate_content_stream(model=TEXT, contents=prompt))
        client.models.generate_content(model=text_google.PICTURE, contents=FOX)
    for key, expected in (
        ("openai-bill", {TEXT: line(2, 158, **told(2)), IMAGE: line(1, 80_000, **PICTURES)}),
        ("anthropic-bill", {TEXT: line(1, 79, **told(1, thoughts=0))}),
        ("gemini-bill", {TEXT: line(1, 79, **told(1)), text_google.PICTURE: line(1, 125_770, **PICTURE)}),
    ):
        found = billed(shop, key)
        assert {name: {**one, "cost": Decimal(str(one["cost"]))} for name, one in found.items()} == expected, key
    shop.stack.manage("check_ledger")


@pytest.mark.parametrize("name", document.COMPANION)
def test_a_program_of_the_page_prints_its_answers(shop, tmp_path, name):
    program = "sh" if name.endswith(".sh") else sys.executable
    document.prints_its_answers(shop, tmp_path, program, name)
