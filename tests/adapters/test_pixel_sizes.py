"""The size tables that the adapters declare are what they ask for, and those of a model are the ones of its routes."""

from dataclasses import replace

import pytest

from adapters import expression
from adapters.kit.sizes import SizeTable
from catalog import pixel_sizes, snapshot
from catalog.models import ChannelModel, Plan
from tests.rows import IMAGE_PARAMS, make_channel, make_model, make_route
from tools.adapter_docs import AdapterColumn, columns

EVERY = [column for modality in ("image", "video") for column in columns(modality)]
TABLED = {"openai_images", "ark_images", "dashscope_image", "openrouter_images", "openai_videos", "runway"}


@pytest.mark.parametrize("column", EVERY, ids=lambda column: column.name)
def test_all_that_an_adapter_lists_it_can_ask_for_as_that_tier(column: AdapterColumn) -> None:
    table = expression.pixel_sizes(column.adapter, column.target)
    field = "image_size" if column.base.modality == "image" else "resolution"
    for tier, row in table.items():
        for ratio in row:
            request = replace(column.base, aspect_ratio=ratio, **{field: tier})
            assert expression.check(column.adapter, request, column.target) == []
            assert expression.build(column.adapter, request, column.target).billed.tier == tier


def test_the_protocols_that_take_pixels_say_which() -> None:
    assert {column.adapter.protocol for column in EVERY if _sizes(column)} == TABLED
    assert [column.name for column in EVERY if column.adapter.protocol in TABLED and not _sizes(column)] == [
        column.name for column in EVERY if {"xai", "router"} & set(column.target.options.values())
    ]


def _sizes(column: AdapterColumn) -> SizeTable:
    return expression.pixel_sizes(column.adapter, column.target)


def test_the_tables_of_a_model_are_those_of_its_routes_best_first_and_narrowed(plan: Plan) -> None:
    model = make_model("aurora", "image", plan=plan, prices={"1K": "1"}, params=IMAGE_PARAMS)
    xai = make_channel("xai", "openai_images", "https://x.example/v1", options={"dialect": "xai"})
    for priority, channel in enumerate(
        [
            xai,
            make_channel("a", "openai_images", "https://a.example/v1"),
            make_channel("b", "plugin", "https://b.example"),
        ]
    ):
        make_route(plan, model, channel, upstream_model="m", priority=9 - priority)
    ChannelModel.objects.filter(channel__name="a").update(capabilities={"tiers": ["2K", "1K"], "ratios": ["16:9"]})
    catalog = snapshot.load()
    (entry,) = catalog.models_named("aurora")
    routes = catalog.routes(entry.default_plan_id, entry.id)
    (table,) = pixel_sizes.tables(routes)
    assert list(table.items()) == [("2K", {"16:9": "2720x1536"}), ("1K", {"16:9": "1360x768"})]
    assert pixel_sizes.ratios(routes) == ["16:9"]
