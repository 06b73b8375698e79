"""The differences between two pictures of the catalog, in words."""

from copy import deepcopy
from typing import Any

import pytest

from catalog.file import yaml_text
from desk.catalog_file import words
from desk.catalog_file.tree_snapshot import Reach, TreeSnapshot
from tests.catalog.conftest import FILE

BEFORE: dict[str, Any] = yaml_text.read(FILE.replace("sandbox-key-of-the-studio", "x"), {})[0]
for route in BEFORE["plans"][0]["routes"]:
    route |= {"priority": 10, "weight": 1}
for channel in BEFORE["groups"][0]["channels"]:
    channel["name"] = "text-1"


def picture(tree: Any, **credentials: Any) -> TreeSnapshot:
    return TreeSnapshot(tree=tree, credentials=credentials, reach=lambda _: Reach(plans=3, keys=12))


def told(change) -> list[str]:
    after = deepcopy(BEFORE)
    change(after)
    return [each.text for each in words.differences(picture(BEFORE), picture(after))]


def test_the_same_catalog_has_no_differences():
    assert told(lambda tree: None) == []
    same = deepcopy(BEFORE)
    same["models"][0]["pricing"]["prices"]["1K"] = "0.040"
    assert words.differences(picture(BEFORE), picture(same)) == []


CASES = [
    (
        lambda tree: tree["models"][0]["pricing"]["prices"].update({"2K": 0.07}),
        ["Price of aurora-image 2K $0.08 → $0.07, for 3 plans, 12 keys."],
    ),
    (
        lambda tree: tree["models"][0]["pricing"].update(prices={"1K": 0.04, "4K": 1}),
        [
            "Price of aurora-image 2K $0.08 is gone, for 3 plans, 12 keys.",
            "Price of aurora-image 4K is new: $1.00, for 3 plans, 12 keys.",
        ],
    ),
    (
        lambda tree: tree["models"][0].update(aliases=["a"], enabled=False),
        ['Model aurora-image: aliases ["aurora"] → ["a"].', "Model aurora-image is disabled."],
    ),
    (lambda tree: tree["models"][0]["params"].pop("n"), ["Model aurora-image: params.n.max 4 → nothing."]),
    (
        lambda tree: tree["models"].append(BEFORE["models"][1] | {"name": "nova"}),
        ["Model nova (video) is new: plan standard, prices 720p $0.10, * $0.20."],
    ),
    (
        lambda tree: tree["plans"][0].update(price_multiplier=0.9),
        ["Price multiplier of plan standard 1 → 0.9: the prices of 2 models follow."],
    ),
    (
        lambda tree: tree["plans"][0]["routes"][0].update(priority=5),
        ["Plan standard: the route of aurora-image to studio: priority 10 → 5."],
    ),
    (
        lambda tree: tree["plans"][0]["routes"].pop(),
        ["Plan standard: the route of comet-video to cinema is removed."],
    ),
    (lambda tree: tree["channels"][0].update(max_running=3), ["Channel studio: max_running 20 → 3."]),
    (
        lambda tree: tree["channels"][0]["models"][0]["cost"].update({"1K": 0.03}),
        ["Channel studio: its offer of aurora-image: cost.1K 0.02 → 0.03."],
    ),
    (
        lambda tree: tree.pop("groups"),
        ["Group text of general keys is removed."],
    ),
]


def test_each_kind_of_change_has_its_sentence():
    for change, sentences in CASES:
        assert told(change) == sentences


def test_credentials_are_told_by_their_ends():
    before, after = (
        picture(BEFORE, studio=((1, "…1234"), (2, "…5678"))),
        picture(BEFORE, studio=((2, "…5678"), (3, "…9"))),
    )
    assert [each.text for each in words.differences(before, after)] == [
        "Channel studio: credential …1234 is no longer used.",
        "Channel studio: credential …9 is new.",
    ]
    assert words.touches_credentials(before, after)
    assert not words.touches_credentials(before, before)


@pytest.mark.parametrize(("name", "touches"), [("studio", True), ("cinema", False)])
def test_another_address_of_a_channel_with_credentials_touches_them(name, touches):
    elsewhere = deepcopy(BEFORE)
    next(each for each in elsewhere["channels"] if each["name"] == name)["base_url"] = "https://elsewhere.example"
    held = {"studio": ((1, "…1234"),)}
    assert words.touches_credentials(picture(BEFORE, **held), picture(elsewhere, **held)) == touches
