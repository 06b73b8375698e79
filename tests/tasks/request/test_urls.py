"""Each field that takes a URL asks the policy and names itself; the table is that of tests/common/test_urls.py."""

from collections.abc import Callable
from typing import Any

import pytest

from common.errors import InvalidRequest
from tasks.request import body
from tests.tasks.request.param_requests import OWN_ASSET, STORAGE, STORED_ASSET, image, media, parse, rules, video

REFUSED = [
    "http://2130706433/",
    "https://hooks.example.com:22/",
    "http://[::ffff:10.0.0.1]/",
    "https://api.ours.example/x",
]
"""What only the policy finds amiss: an address in disguise, a port, a mapped address, our own host."""
AFTER_DNS = "http://127.0.0.1.nip.io/"
"""Accepted at submission: its address is judged when it is dialled."""


def refused_field(call: Callable[[], Any]) -> str | None:
    """The field that a refusal names, or None where there is none."""
    try:
        call()
    except InvalidRequest as error:
        return error.message.split(" ")[0]
    return None


def callback_to(url: str) -> str | None:
    document = {"model": "m", "params": {}, "callback_url": url}
    return refused_field(lambda: body.parse(document, rules().urls))


def input_of(url: str, modality: str) -> str | None:
    inputs = {"inputs": [media(url=url)]}
    return refused_field(lambda: parse(modality, video(**inputs) if modality == "video" else inputs))


def picture_of(url: str) -> str | None:
    return refused_field(lambda: parse("image", image(images=[{"image_url": url}])))


def test_callback_url_follows_the_policy():
    assert [callback_to(url) for url in REFUSED] == ["callback_url"] * len(REFUSED)
    assert callback_to(AFTER_DNS) is None


@pytest.mark.parametrize("modality", ["video", "3d"])
def test_inputs_follow_the_policy(modality: str):
    assert [input_of(url, modality) for url in REFUSED] == ["params.inputs[0].url"] * len(REFUSED)
    assert input_of(AFTER_DNS, modality) is None


def test_image_urls_follow_the_policy():
    assert [picture_of(url) for url in REFUSED] == ["params.images[0].image_url"] * len(REFUSED)
    assert picture_of(AFTER_DNS) is None


def test_an_own_asset_by_the_storages_url_is_kept_by_ours():
    assert parse("image", image(images=[{"image_url": STORED_ASSET}])).images[0].url == OWN_ASSET


def test_any_other_url_into_the_storage_is_refused_by_name():
    assert picture_of(f"{STORAGE}other") == "params.images[0].image_url"
    assert input_of(f"{STORAGE}other", "video") == "params.inputs[0].url"


def test_an_own_asset_is_accepted_as_a_picture_and_refused_as_callback():
    assert picture_of(OWN_ASSET) is None
    assert callback_to(OWN_ASSET) == "callback_url"


@pytest.mark.parametrize("modality", ["video", "3d"])
@pytest.mark.parametrize(
    "url", [OWN_ASSET, STORED_ASSET, "https://api.ours.example:8443/", "https://API.ours.example./a"]
)
def test_no_address_of_ours_is_an_input_of_films_and_models(modality: str, url: str):
    assert input_of(url, modality) == "params.inputs[0].url"
