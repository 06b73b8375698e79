"""Which model a name means and which routes can run a request."""

import pytest

from adapters.base import Billed, TaskRequest
from catalog import routing, snapshot
from catalog.models import Channel, ChannelModel, MediaModel, Plan, Route
from catalog.routing import Decision
from common.errors import ApiError, InvalidRequest, NoCapableRoute, UnsupportedAdapter, UnsupportedModel
from tests.rows import make_model, make_route

REQUEST = TaskRequest(modality="image", prompt="a fox", n=2, image_size="1K", aspect_ratio="1:1")
KEY = 1


def choose(model: MediaModel, request: TaskRequest = REQUEST) -> Decision:
    catalog = snapshot.latest()
    entry = next(found for found in catalog.models() if found.id == model.pk)
    return routing.decide(routing.survey(catalog.resolved(KEY, entry), request))


def resolve(name: str, modality: str | None = None) -> snapshot.ModelEntry:
    return routing.resolve(snapshot.latest(), KEY, name, modality).model


def refused(name: str, modality: str | None = None) -> ApiError:
    with pytest.raises(ApiError) as caught:
        resolve(name, modality)
    return caught.value


def test_the_modality_of_an_unambiguous_name_is_inferred(routed: MediaModel) -> None:
    assert resolve("aurora").modality == "image"


def test_a_name_of_several_modalities_needs_the_modality(plan: Plan, routed: MediaModel) -> None:
    make_model("aurora", "video", plan=plan, prices={"*": "1"})
    error = refused("aurora")
    assert isinstance(error, InvalidRequest)
    assert "modality" in error.message


def test_an_unknown_name_is_an_unsupported_model(db: None) -> None:
    assert isinstance(refused("nobody", "3d"), UnsupportedModel)


def test_a_known_model_asked_for_another_modality_is_an_unsupported_adapter(routed: MediaModel) -> None:
    assert isinstance(refused("aurora", "video"), UnsupportedAdapter)


def test_a_model_without_an_enabled_route_is_unsupported(aurora: MediaModel) -> None:
    assert isinstance(refused("aurora"), UnsupportedModel)


def test_a_3d_model_resolves_and_fails_at_the_adapter(plan: Plan) -> None:
    model = make_model("marble", "3d", plan=plan, prices={"*": "1"}, pricing_mode="per_request")
    assert resolve("marble", "3d").id == model.pk
    with pytest.raises(UnsupportedAdapter):
        choose(model, TaskRequest(modality="3d", prompt="a horse"))


def test_a_capable_route_is_kept_with_what_it_buys(routed: MediaModel) -> None:
    kept = choose(routed).kept[0]
    assert kept.billed == Billed(count=2, tier="1K")
    assert kept.route.target.upstream_model == "gpt-image-2"


def test_a_route_that_cannot_run_it_is_skipped_with_a_reason(plan: Plan, routed: MediaModel, atelier: Channel) -> None:
    make_route(plan, routed, atelier, upstream_model="x", priority=1)
    ChannelModel.objects.filter(channel=atelier).update(capabilities={"max_n": 1})
    decision = choose(routed)
    assert [row["kept"] for row in decision.trace] == [False, True]
    assert decision.trace[0]["reasons"] == [{"field": "params.n", "reason": "too many"}]
    assert [kept.route.id for kept in decision.kept] == [decision.trace[1]["route"]]


def test_all_kept_routes_buy_the_same(plan: Plan, routed: MediaModel, atelier: Channel) -> None:
    make_route(plan, routed, atelier, upstream_model="x", priority=20)
    ChannelModel.objects.filter(channel=atelier).update(capabilities={"tier": "2K"})
    decision = choose(routed)
    assert [kept.billed.tier for kept in decision.kept] == ["1K"]
    assert decision.trace[1]["reasons"][0]["field"] == "params"


def test_no_capable_route_names_the_fields_with_reasons_and_no_channel(
    plan: Plan, routed: MediaModel, atelier: Channel
) -> None:
    make_route(plan, routed, atelier, upstream_model="x")
    ChannelModel.objects.update(capabilities={"refuses": ["params.images"], "max_n": 1})
    ChannelModel.objects.filter(channel=atelier).update(capabilities={"refuses": ["params.images"]})
    with pytest.raises(NoCapableRoute) as caught:
        choose(routed)
    assert caught.value.message == (
        "No available route supports this request. params.images: not here; params.n: too many."
    )
    assert caught.value.param == "params.images"


def test_no_capable_route_names_the_combination_that_no_single_route_takes(
    plan: Plan, routed: MediaModel, atelier: Channel
) -> None:
    make_route(plan, routed, atelier, upstream_model="x")
    ChannelModel.objects.update(capabilities={"refuses": ["params.images"]})
    ChannelModel.objects.filter(channel=atelier).update(capabilities={"max_n": 1})
    with pytest.raises(NoCapableRoute, match=r" params\.images: not here; params\.n: too many\.") as caught:
        choose(routed)
    assert caught.value.param is None


def test_a_refusal_is_one_line_of_bounded_length(routed: MediaModel) -> None:
    fields = ["params.extra_body.a\nb\u2028", *(f"params.extra_body.{'x' * 90}{n}" for n in range(15)), "y" * 2_000]
    for refuses in (fields, fields[::-1]):
        ChannelModel.objects.update(capabilities={"refuses": refuses})
        snapshot.forget()
        with pytest.raises(NoCapableRoute) as caught:
            choose(routed)
        message = caught.value.message
        told = message.count(": not here") + message.count("…")
        assert message.isprintable()
        assert len(message) <= 1_000
        assert message.endswith(f"; and {len(fields) - told} more.")


def test_a_route_of_an_unregistered_adapter_is_skipped(plan: Plan, routed: MediaModel, atelier: Channel) -> None:
    Channel.objects.filter(pk=atelier.pk).update(adapter="vanished")
    make_route(plan, routed, atelier, upstream_model="x", priority=1)
    decision = choose(routed)
    assert [row["kept"] for row in decision.trace] == [False, True]


def test_a_model_whose_every_route_lacks_its_adapter_is_an_unsupported_adapter(routed: MediaModel) -> None:
    Channel.objects.update(adapter="vanished")
    with pytest.raises(UnsupportedAdapter):
        choose(routed)


def test_a_route_that_vanished_since_resolve_is_an_unsupported_model(routed: MediaModel) -> None:
    Route.objects.all().delete()
    with pytest.raises(UnsupportedModel):
        choose(routed)
