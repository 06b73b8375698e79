"""The picture of the catalog: what is in it, and when it is loaded anew."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog import snapshot
from catalog.models import CatalogVersion, Channel, ChannelModel, MediaModel, ModelName, Plan, PlanChoice, Route
from tests.rows import IssuedKey, make_channel, make_model, make_route
from tests.tasks.steps import at_once


def entry(model: MediaModel) -> snapshot.ModelEntry:
    return next(found for found in snapshot.latest().models() if found.id == model.pk)


def test_the_picture_is_kept_while_the_version_stays(routed: MediaModel) -> None:
    first = snapshot.latest()
    with CaptureQueriesContext(connection) as queries:
        assert snapshot.latest() is first
    assert len(queries) == 1


def test_current_asks_the_database_nothing_while_the_version_stays(routed: MediaModel) -> None:
    version = snapshot.latest().version
    with CaptureQueriesContext(connection) as queries:
        snapshot.current(version)
    assert len(queries) == 0


def test_every_kind_of_write_is_seen(routed: MediaModel) -> None:
    for kind in (Plan, MediaModel, ModelName, Channel, ChannelModel, Route):
        before = snapshot.latest()
        kind.objects.first().save()
        assert snapshot.latest() is not before, kind


def test_deleting_a_route_is_seen(routed: MediaModel) -> None:
    plan_id = routed.default_plan_id
    assert snapshot.latest().routes(plan_id, routed.pk)
    Route.objects.all().delete()
    assert snapshot.latest().routes(plan_id, routed.pk) == ()


def test_models_are_found_by_name_and_alias(routed: MediaModel) -> None:
    ModelName.objects.create(model=routed, modality="image", name="dawn")
    catalog = snapshot.latest()
    assert [model.id for model in catalog.models_named("dawn")] == [routed.pk]
    assert catalog.model("dawn", "image") == catalog.model("aurora", "image")
    assert catalog.model("aurora", "video") is None
    assert catalog.models_named("dusk") == ()


def test_one_name_may_stand_for_a_model_of_each_modality(plan: Plan, routed: MediaModel) -> None:
    make_model("aurora", "video", plan=plan, prices={"*": "1"})
    assert {model.modality for model in snapshot.latest().models_named("aurora")} == {"image", "video"}


def test_a_disabled_model_is_unknown(routed: MediaModel) -> None:
    routed.enabled = False
    routed.save()
    assert snapshot.latest().models_named("aurora") == ()


@pytest.mark.parametrize("kind", [Route, Channel, ChannelModel])
def test_a_route_needs_everything_on_its_way_enabled(kind: type, routed: MediaModel) -> None:
    route = Route.objects.get()
    kind.objects.update(enabled=False)
    catalog = snapshot.latest()
    assert catalog.routes(routed.default_plan_id, routed.pk) == ()
    assert catalog.route(route.pk) is None


def test_routes_come_by_priority_then_id(plan: Plan, routed: MediaModel, atelier: Channel) -> None:
    late = Route.objects.get()
    early = make_route(plan, routed, atelier, upstream_model="x", priority=1)
    third = make_route(plan, routed, make_channel("loft", "stub_images", "https://loft.example"), upstream_model="x")
    routes = snapshot.latest().routes(plan.pk, routed.pk)
    assert [route.id for route in routes] == [early.pk, late.pk, third.pk]


def test_prices_are_exact(plan: Plan) -> None:
    model = make_model("m", "image", plan=plan, prices={"1K": "0.1", "2K": 0.2})  # type: ignore[dict-item]
    assert entry(model).prices == {"1K": Decimal("0.1"), "2K": Decimal("0.2")}


def test_a_key_takes_its_chosen_plan(routed: MediaModel, studio: Channel, key: IssuedKey) -> None:
    gold = Plan.objects.create(name="gold")
    make_route(gold, routed, studio, upstream_model="x")
    PlanChoice.objects.create(key=key.record, model=routed, plan=gold)
    plan, is_selected = snapshot.latest().plan_for(key.id, entry(routed))
    assert (plan.name, is_selected) == ("gold", True)


def test_another_key_keeps_the_default_plan(
    routed: MediaModel, studio: Channel, key: IssuedKey, other_key: IssuedKey
) -> None:
    gold = Plan.objects.create(name="gold")
    make_route(gold, routed, studio, upstream_model="x")
    PlanChoice.objects.create(key=key.record, model=routed, plan=gold)
    plan, is_selected = snapshot.latest().plan_for(other_key.id, entry(routed))
    assert (plan.name, is_selected) == ("standard", False)


def test_only_the_model_whose_choice_broke_returns_to_its_default(
    plan: Plan, routed: MediaModel, studio: Channel, key: IssuedKey
) -> None:
    gold = Plan.objects.create(name="gold")
    other = make_model("borealis", "image", plan=plan, prices={"1K": "1"})
    make_route(gold, other, studio, upstream_model="x")
    broken = make_route(gold, routed, studio, upstream_model="x")
    for model in (routed, other):
        PlanChoice.objects.create(key=key.record, model=model, plan=gold)
    broken.delete()
    catalog = snapshot.latest()
    assert catalog.plan_for(key.id, entry(routed))[0].name == "standard"
    assert catalog.plan_for(key.id, entry(other))[0].name == "gold"


def test_no_credential_is_in_the_picture(studio: Channel) -> None:
    catalog = snapshot.latest()
    assert "credential" not in repr(catalog.channels())


@pytest.mark.django_db(transaction=True)
def test_threads_share_one_picture_and_see_each_write() -> None:
    Plan.objects.create(name="standard")

    first = set(at_once([snapshot.latest] * 16))
    Plan.objects.create(name="gold")
    second = set(at_once([snapshot.latest] * 16))
    assert len(first) == len(second) == 1
    assert next(iter(second)).version == CatalogVersion.objects.get().version
