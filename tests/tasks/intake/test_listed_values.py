"""What the list of models says of params is what a submission may have, in catalogs of all adapters drawn at random."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from adapters.kit.replaced_inputs import LONGEST_PROMPT
from catalog import listing
from catalog.entries import ChannelEntry, ModelEntry, PlanEntry, RouteEntry
from catalog.listing import ModelOffer
from catalog.snapshot import Catalog
from common.errors import ApiError, InvalidRequest
from tasks.intake import examination
from tasks.request import schema
from tests.tasks.request.param_requests import data_url

KEY = 1
TIERS = ["0.5K", "1K", "2K", "3K", "4K"]
RATIOS = ["1:1", "16:9", "9:16", "21:9", "1:8", "2:1"]
MOST = 5
PICTURE_URL = "https://cdn.example.com/a.png"
ROWS = {tier: {"1:1": size, "16:9": size} for tier, size in (("1K", "1024x1024"), ("4K", "4096x4096"))}
RESOLUTIONS = ["480p", "720p", "1080p", "768p", "4k"]
FILM_RATIOS = ["16:9", "1:1", "adaptive"]
SECONDS = [2, 5, 8, 12]
ROLES = {"image": ["first_frame", "last_frame", "reference"], "video": ["reference"], "audio": ["reference"]}
KINDS = [(kind, role) for kind, roles in ROLES.items() for role in roles]
TEMPLATE = {
    "modalities": ["image"],
    "submit": {"path": "/pictures", "body": {"prompt": "{prompt}", "tier": "{image_size}", "shape": "{aspect_ratio}"}},
    "maps": {"aspect_ratio": {"1:1": "square", "16:9": "wide"}},
    "result": {"outputs": "pictures[].url"},
}


def some(values: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=4, unique=True)


def parts(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object that has each of these or lacks it."""
    return st.fixed_dictionaries({}, optional=strategies)


counts = st.integers(1, MOST)
picture_capabilities = parts(
    tiers=some(TIERS),
    ratios=some(RATIOS),
    max_n=counts,
    max_images=st.integers(0, MOST),
    prompt_max=st.just(40),
    data_url=st.booleans(),
)
picture_channels = st.one_of(
    st.tuples(st.sampled_from(["openai_images", "dashscope_image", "ark_images"]), st.just({}), picture_capabilities),
    st.tuples(st.just("openai_images"), st.just({"dialect": "xai"}), picture_capabilities),
    st.tuples(
        st.just("openai_images"),
        st.just({}),
        st.builds(lambda more: {"size_table": ROWS, **more}, picture_capabilities),
    ),
    st.tuples(
        st.just("gemini_generate_content"),
        st.just({}),
        st.builds(lambda more, fixed: {**more, "fixed_size": fixed}, picture_capabilities, st.booleans()),
    ),
    st.tuples(st.just("openrouter_images"), st.just({}), picture_capabilities),
    st.tuples(st.just("http_template"), st.just({"template": TEMPLATE}), picture_capabilities),
)
film_capabilities = parts(
    durations=st.sampled_from([[5], [2, 12], {"min": 4}, {"max": 8}]),
    resolutions=some(RESOLUTIONS),
    ratios=some(FILM_RATIOS),
    roles=st.dictionaries(
        st.sampled_from(["first_frame", "last_frame", "reference_image", "reference_video", "reference_audio"]),
        st.integers(0, 3),
    ),
    audio=st.sampled_from(["switch", "always", "never"]),
    frames_exclusive_refs=st.booleans(),
    max_inputs=st.integers(0, 4),
)
film_channels = st.one_of(
    st.tuples(
        st.sampled_from(["ark_content_tasks", "kling_tasks", "dashscope_video", "openrouter_videos", "runway"]),
        st.just({}),
        film_capabilities,
    ),
    st.tuples(st.just("ark_content_tasks"), st.just({"dialect": "minimax_v2"}), film_capabilities),
    st.tuples(st.just("openai_videos"), st.sampled_from([{}, {"dialect": "vllm_omni"}]), film_capabilities),
    st.tuples(st.just("http_template"), st.just({"template": "replicate_video"}), film_capabilities),
)
Channels = list[tuple[str, dict[str, Any], dict[str, Any]]]


@st.composite
def choices(draw: st.DrawFn, values: list[str]) -> dict[str, Any]:
    listed = draw(some(values))
    return {"values": listed, **draw(parts(default=st.sampled_from(listed)))}


picture_params = st.builds(
    lambda size, more: {"image_size": size, **more},
    choices(TIERS),
    parts(
        aspect_ratio=choices(RATIOS),
        n=st.builds(lambda most: {"max": most}, counts),
        images=st.builds(lambda most: {"max": most}, st.integers(0, MOST)),
    ),
)


def catalog_of(channels: Channels, modality: str, mode: str, prices: dict[str, str], params: dict[str, Any]) -> Catalog:
    """One model under one plan, with a route to each channel."""
    model = ModelEntry(
        id=1,
        name="aurora",
        aliases=(),
        modality=modality,
        default_plan_id=1,
        pricing_mode=mode,
        prices={tier: Decimal(price) for tier, price in prices.items()},
        params=params,
        enabled=True,
    )
    entries = [
        ChannelEntry(
            id=number,
            name=f"channel-{number}",
            adapter=adapter,
            base_url="https://provider.example/v1",
            options=options,
            max_running=None,
            enabled=True,
        )
        for number, (adapter, options, _) in enumerate(channels)
    ]
    routes = [
        RouteEntry(
            id=channel.id,
            plan_id=1,
            model_id=1,
            channel=channel,
            priority=channel.id,
            weight=1,
            resubmit_ambiguous=False,
            upstream_model="unheard-of",
            capabilities=capabilities,
            extra_fields=[],
            fixed={},
            cost={},
        )
        for channel, (_, _, capabilities) in zip(entries, channels, strict=True)
    ]
    plans = [PlanEntry(id=1, name="standard", price_multiplier=Decimal(1))]
    return Catalog(1, models=[model], plans=plans, channels=entries, routes=routes, choices={})


def verdict(catalog: Catalog, **params: Any) -> str:
    """The type of the error; empty for what is accepted and priced."""
    outcome = examination.examine(KEY, {"model": "aurora", "params": {"prompt": "x", **params}}, catalog).outcome
    return outcome.type if isinstance(outcome, ApiError) else ""


def values_of(bounds: Any, name: str) -> list[Any]:
    return list(bounds.get(name, {}).get("values", []))


def beside_defaults(bounds: Any) -> dict[str, Any]:
    """What a request has to choose, with the first of the listed values."""
    found = {name: bounds[name] for name in ("image_size", "aspect_ratio") if name in bounds}
    return {name: bound["values"][0] for name, bound in found.items() if "default" not in bound}


def pictures(count: int) -> list[dict[str, str]]:
    return [{"image_url": PICTURE_URL}] * count


def validator(offer: ModelOffer) -> Draft202012Validator:
    published = schema.params_schema(offer.model.modality, offer.bounds)
    Draft202012Validator.check_schema(published)
    return Draft202012Validator(published)


def changes_of(bounds: Any, name: str, every: list[Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each value of a field, and whether it is listed."""
    for value in every:
        yield {name: value}, value in values_of(bounds, name)


def picture_changes(bounds: Any) -> Iterator[tuple[dict[str, Any], bool]]:
    yield {}, True
    yield from changes_of(bounds, "image_size", TIERS)
    yield from changes_of(bounds, "aspect_ratio", RATIOS)
    most_made, most_taken = bounds.get("n", {}).get("max", 1), bounds.get("images", {}).get("max", 0)
    for count in range(1, MOST + 2):
        yield {"n": count}, count <= most_made
        yield {"images": pictures(count)}, count <= most_taken
    yield {"images": [{"image_url": data_url()}]}, most_taken > 0 and bounds.get("data_url", True)
    longest = bounds.get("prompt", {}).get("max", LONGEST_PROMPT)
    yield {"prompt": "x" * longest}, True
    yield {"prompt": "x" * (longest + 1)}, False


@settings(max_examples=40)
@given(
    channels=st.lists(picture_channels, min_size=1, max_size=3),
    params=picture_params,
    priced=st.lists(st.sampled_from(TIERS), min_size=1, unique=True),
    is_by_tier=st.booleans(),
)
def test_each_listed_value_of_a_picture_runs_beside_the_defaults_and_no_other_is_taken(
    channels: Channels, params: dict[str, Any], priced: list[str], is_by_tier: bool
) -> None:
    mode = "image_matrix" if is_by_tier else "per_request"
    catalog = catalog_of(channels, "image", mode, dict.fromkeys(priced if is_by_tier else ["*"], "0.04"), params)
    offers = listing.offers(catalog, KEY)
    if not offers:
        sizes, ratios = values_of(params, "image_size"), values_of(params, "aspect_ratio") or [None]
        assert all(verdict(catalog, image_size=size, aspect_ratio=ratio) for size, ratio in product(sizes, ratios))
        return
    (offer,) = offers
    base, valid = beside_defaults(offer.bounds), validator(offer)
    for change, is_listed in picture_changes(offer.bounds):
        sent = {"prompt": "x", **base, **change}
        assert verdict(catalog, **sent) == ("" if is_listed else InvalidRequest.type), change
        assert valid.is_valid(sent) is is_listed, change


@settings(max_examples=40)
@given(
    channels=st.lists(picture_channels, min_size=1, max_size=3),
    params=picture_params,
    priced=st.lists(st.sampled_from(TIERS), min_size=1, unique=True),
)
def test_a_value_is_left_out_only_where_it_runs_on_no_route_beside_the_defaults(
    channels: Channels, params: dict[str, Any], priced: list[str]
) -> None:
    catalog = catalog_of(channels, "image", "image_matrix", dict.fromkeys(priced, "0.04"), params)
    unchecked = catalog_of(channels, "image", "image_matrix", dict.fromkeys(priced, "0.04"), params)
    unchecked.bounds[1, 1] = params
    for offer in listing.offers(catalog, KEY):
        chosen = {name: offer.bounds[name] for name in ("image_size", "aspect_ratio") if name in offer.bounds}
        base = {name: bound.get("default", bound["values"][0]) for name, bound in chosen.items()}
        for name in ("image_size", "aspect_ratio"):
            left_out = set(values_of(params, name)) - set(values_of(offer.bounds, name))
            assert all(verdict(unchecked, **{**base, name: value}) for value in left_out), name
        for name, value in (("n", int), ("images", pictures)):
            listed, found = params.get(name, {}).get("max"), offer.bounds.get(name, {}).get("max")
            assert listed == found or verdict(unchecked, **{**base, name: value(found + 1)}), name


def films() -> Iterator[dict[str, Any]]:
    for seconds, resolution, ratio in product(SECONDS, RESOLUTIONS, FILM_RATIOS):
        yield {"duration": seconds, "resolution": resolution, "aspect_ratio": ratio}


def media(*kinds: tuple[str, str]) -> list[dict[str, str]]:
    return [{"type": kind, "role": role, "url": f"https://cdn.example.com/{kind}"} for kind, role in kinds]


def companies(kind: tuple[str, str]) -> Iterator[list[dict[str, str]]]:
    """An input alone, and beside one that it may need."""
    yield media(kind)
    yield from (media(other, kind) for other in KINDS if other != kind)


@settings(max_examples=15)
@given(
    channels=st.lists(film_channels, min_size=1, max_size=2),
    prices=st.sampled_from([{"*": "0.1"}, {"720p": "0.1"}, {"1080P": "0.1", "480p": "0.1"}]),
)
def test_each_listed_role_and_sound_of_a_film_runs_somehow_and_no_other_is_taken(
    channels: Channels, prices: dict[str, str]
) -> None:
    catalog = catalog_of(channels, "video", "video_duration", prices, {})
    (offer,) = listing.offers(catalog, KEY)
    running = [film for film in films() if not verdict(catalog, **film)]
    inputs = schema.inputs_summary("video", offer.bounds)
    roles = [(kind, role) for kind, roles in inputs["roles"].items() for role in roles]
    anything = next(films())
    for kind in KINDS:
        if kind not in roles:
            assert verdict(catalog, **anything, inputs=media(kind)) == InvalidRequest.type, kind
        elif offer.bounds:  # else nothing is found to run, and nothing is narrowed
            assert any(not verdict(catalog, **film, inputs=inputs) for inputs in companies(kind) for film in films()), (
                kind
            )
    assert (
        verdict(catalog, **anything, inputs=media(("image", "reference")) * (inputs["max"] + 1)) == InvalidRequest.type
    )
    valid = validator(offer)
    for value in (True, False):
        is_listed = value in offer.bounds.get("generate_audio", {}).get("values", [True, False])
        assert valid.is_valid({"prompt": "x", **anything, "generate_audio": value}) is is_listed
        if not is_listed:
            assert verdict(catalog, **anything, generate_audio=value) == InvalidRequest.type
        elif running:
            assert any(not verdict(catalog, **film, generate_audio=value) for film in running), value


def test_what_is_listed_is_found_once_for_a_picture_of_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = catalog_of([("openai_images", {}, {})], "image", "per_request", {"*": "1"}, {"n": {"max": 4}})
    first = listing.offers(catalog, KEY)[0].bounds
    monkeypatch.setattr("catalog.routing.judge", None)
    assert listing.offers(catalog, KEY)[0].bounds is first
    assert listing.offers(catalog.under(1), 2)[0].bounds is first
