"""The table of URL verdicts at each field that takes a URL."""

import json
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from common import urls
from common.errors import InvalidRequest
from common.urls import UrlPolicy
from tasks import body, params
from tests.tasks.param_requests import OWN_ASSET, image, media, rules, video

ROWS = [json.loads(line) for line in (Path(__file__).parents[1] / "data/bad_urls.jsonl").read_text().splitlines()]
FOR_ALL = [row for row in ROWS if row["scope"] == "both"]
POLICY = UrlPolicy(deny_networks=(ip_network("198.41.0.99/32"),), own_hosts=urls.own_hosts("https://api.ours.example"))


def refused_field(call: Any) -> str | None:
    """The field that a refusal names, or None where there is none."""
    try:
        call()
    except InvalidRequest as error:
        return error.message.split(" ")[0]
    return None


def parse(modality: str, given: dict[str, Any]) -> Any:
    return params.parse(modality, given, model_name="m", rules=rules())


def named(row: dict[str, Any]) -> str:
    return f"{row['class']}-{row['why'][:40]}"


@pytest.mark.parametrize("row", FOR_ALL, ids=named)
def test_callback_url_follows_the_table(row: dict[str, Any]):
    document = {"model": "m", "params": {}, "callback_url": row["url"]}
    refused = refused_field(lambda: body.parse(document, POLICY))
    assert refused == ("callback_url" if row["verdict"] == "reject" else None)


@pytest.mark.parametrize("modality", ["video", "3d"])
@pytest.mark.parametrize("row", ROWS, ids=named)
def test_inputs_follow_the_table(row: dict[str, Any], modality: str):
    inputs = {"inputs": [media(url=row["url"])]}
    refused = refused_field(lambda: parse(modality, video(**inputs) if modality == "video" else inputs))
    assert refused == ("params.inputs[0].url" if row["verdict"] == "reject" else None)


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_image_urls_follow_the_table(row: dict[str, Any]):
    refused = refused_field(lambda: parse("image", image(images=[{"image_url": row["url"]}])))
    assert refused == ("params.images[0].image_url" if row["verdict"] == "reject" else None)


def test_an_own_asset_is_accepted_for_media_and_refused_as_callback():
    assert refused_field(lambda: parse("image", image(images=[{"image_url": OWN_ASSET}]))) is None
    assert refused_field(lambda: parse("video", video(inputs=[media(url=OWN_ASSET)]))) is None
    document = {"model": "m", "params": {}, "callback_url": OWN_ASSET}
    assert refused_field(lambda: body.parse(document, POLICY)) == "callback_url"
