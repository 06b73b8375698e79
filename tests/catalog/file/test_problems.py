"""What a catalog file is refused for: every problem, by its path, at once."""

from contextlib import suppress

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog import model_params
from catalog.fields import Invalid
from catalog.file import parsing, references, yaml_text
from catalog.file.load import CatalogFileError, load
from catalog.models import Plan
from tests.catalog.conftest import FILE

pytestmark = pytest.mark.django_db

MODEL, CHANNEL, OFFER, ROUTE = "models[0]", "channels[0]", "channels[0].models[0]", "plans[0].routes[0]"


def problems(text: str) -> list[str]:
    """What the text is refused for; none where it is taken."""
    try:
        load(text, environment={})
    except CatalogFileError as refusal:
        assert not Plan.objects.exists()
        return refusal.problems
    return []


PROBLEMS = [
    ("version: 1", "version: 2", "version"),
    ("version: 1", "version: true", "version"),
    ("version: 1\n", "", "version"),
    ("version: 1\n", "version: 1\nextras: []\n", "extras"),
    ("name: aurora-image", "nane: aurora-image", f"{MODEL}.nane"),
    ("name: aurora-image", "name: ''", f"{MODEL}.name"),
    ("name: aurora-image", "name: 7", f"{MODEL}.name"),
    ("name: aurora-image", f"name: {'a' * 201}", f"{MODEL}.name"),
    ("name: aurora-image", 'name: "au\\nrora"', f"{MODEL}.name"),
    ("name: aurora-image", 'name: "au\\ud800rora"', f"{MODEL}.name"),
    ("modality: image", "modality: audio", f"{MODEL}.modality"),
    ("[aurora]", "aurora", f"{MODEL}.aliases"),
    ("[aurora]", "[aurora, aurora]", f"{MODEL}.aliases[1]"),
    ("[aurora]", "[aurora-image]", f"{MODEL}.aliases[0]"),
    ("default_plan: standard", "default_plan: gold", f"{MODEL}.default_plan"),
    ("mode: image_matrix", "mode: video_duration", f"{MODEL}.pricing.mode"),
    ("mode: image_matrix", "mode: free", f"{MODEL}.pricing.mode"),
    ("mode: image_matrix", "mode: image_matrix, unit: x", f"{MODEL}.pricing.unit"),
    ('"1K": 0.04', '"1K": -0.04', f"{MODEL}.pricing.prices.1K"),
    ('"1K": 0.04', '"1K": .nan', f"{MODEL}.pricing.prices.1K"),
    ('"1K": 0.04', '"1K": .inf', f"{MODEL}.pricing.prices.1K"),
    ('"1K": 0.04', '"1K": true', f"{MODEL}.pricing.prices.1K"),
    ('"1K": 0.04', '"1K": cheap', f"{MODEL}.pricing.prices.1K"),
    ('"1K": 0.04', '"1K": 1000000', f"{MODEL}.pricing.prices.1K"),
    ('"1K": 0.04', '"1K": "0.0000000000001"', f"{MODEL}.pricing.prices.1K"),
    ('"1K": 0.04', "1: 0.04", f"{MODEL}.pricing.prices"),
    ('"1K": 0.04', '"*": 0.04', f"{MODEL}.pricing.prices"),
    ('default: "1K"', 'default: "4K"', f"{MODEL}.params.image_size.default"),
    ('values: ["1K", "2K"]', "values: []", f"{MODEL}.params.image_size.values"),
    ('values: ["1K", "2K"]', 'values: ["1K", "1K"]', f"{MODEL}.params.image_size.values"),
    ('image_size: {values: ["1K", "2K"], default: "1K"}', "image_size: null", f"{MODEL}.params.image_size"),
    ("n: {max: 4}", "n: {max: 0}", f"{MODEL}.params.n.max"),
    ("n: {max: 4}", "n: {max: 4, min: 1}", f"{MODEL}.params.n.min"),
    ("images: {max: 4}", "images: {max: 1.5}", f"{MODEL}.params.images.max"),
    ("images: {max: 4}", "pictures: {max: 4}", f"{MODEL}.params.pictures"),
    ("    pricing: {mode: video", "    params: {x: 1}\n    pricing: {mode: video", "models[1].params.x"),
    ("name: studio", "name: cinema", "channels[1].name"),
    ("extra_fields: [user]", "extra_fields: seed", f"{OFFER}.extra_fields"),
    ("extra_fields: [user]", "extra_fields: [seed, 7]", f"{OFFER}.extra_fields[1]"),
    ("extra_fields: [user]", "extra_fields: [seed, seed]", f"{OFFER}.extra_fields[1]"),
    ("extra_fields: [user]", "extra_fields: [a..b]", f"{OFFER}.extra_fields[0]"),
    ("fixed: {quality: medium, svg: {effort: low}}", "fixed: [quality]", f"{OFFER}.fixed"),
    ("fixed: {quality: medium, svg: {effort: low}}", "fixed: {quality: .nan}", f"{OFFER}.fixed.quality"),
    ("fixed: {quality: medium, svg: {effort: low}}", "fixed: {'a b': 1}", f"{OFFER}.fixed.a b"),
    ("adapter: stub_images", "adapter: unheard_of", f"{CHANNEL}.adapter"),
    ("adapter: stub_images", "adapter: stub_films", OFFER),
    ("http://127.0.0.1:8900/openai/v1", "ftp://x", f"{CHANNEL}.base_url"),
    ("http://127.0.0.1:8900/openai/v1", "http://user:pw@x/v1", f"{CHANNEL}.base_url"),
    ("http://127.0.0.1:8900/openai/v1", "http://x/v1?key=1", f"{CHANNEL}.base_url"),
    ("http://127.0.0.1:8900/openai/v1", "http://x:99999/", f"{CHANNEL}.base_url"),
    ("http://127.0.0.1:8900/openai/v1", "http:///v1", f"{CHANNEL}.base_url"),
    ("{api_key: sandbox}", "{api_key: 7}", "channels[1].credentials.api_key"),
    ("{api_key: sandbox}", "sandbox", "channels[1].credentials"),
    ("{api_key: sandbox}", '{api_key: "\\u200bsandbox"}', "channels[1].credentials.api_key"),
    ("{api_key: sandbox}", "[{api_key: a}, {api_key: Bearer b}]", "channels[1].credentials[1].api_key"),
    ("sandbox-key-of-the-studio}", "Key sandbox}", f"{CHANNEL}.credentials.api_key"),
    ("k-1234567890-abcd", "Token k-1234567890-abcd", "groups[0].channels[0].credentials.api_key"),
    ("max_running: 20", "max_running: 0", f"{CHANNEL}.max_running"),
    ("max_running: 20", "max_running: many", f"{CHANNEL}.max_running"),
    ("max_running: 20", 'max_running: "20"', f"{CHANNEL}.max_running"),
    ("max_running: 20", "sealed_credentials: x", f"{CHANNEL}.sealed_credentials"),
    ("options: {}", "options: {odd: 1}", f"{CHANNEL}.options.odd"),
    ("options: {}", "options: []", f"{CHANNEL}.options"),
    ("options: {}", "options: {dialect: {a: .nan}}", f"{CHANNEL}.options.dialect.a"),
    ("options: {}", "options: {dialect: 2026-01-01 00:00:00}\n    speed: 1", f"{CHANNEL}.speed"),
    ("capabilities: {}", "capabilities: {odd: 1}", f"{OFFER}.capabilities.odd"),
    ('cost: {"1K": 0.02}', 'cost: {"1K": -1}', f"{OFFER}.cost.1K"),
    ("{model: aurora-image, modality: image, upstream", "{model: nova, upstream", f"{OFFER}.model"),
    ("{model: aurora-image, modality: image, upstream", "{model: aurora-image, modality: video, upstream", OFFER),
    ("price_multiplier: 1", "price_multiplier: -1", "plans[0].price_multiplier"),
    ("price_multiplier: 1", "price_multiplier: 0.0000001", "plans[0].price_multiplier"),
    ("channel: studio,", "channel: nowhere,", f"{ROUTE}.channel"),
    ("channel: studio,", "channel: cinema,", ROUTE),
    ("priority: 10,", "priority: high,", f"{ROUTE}.priority"),
    ("weight: 1", "weight: -1", f"{ROUTE}.weight"),
    ("resubmit_ambiguous: false", "resubmit_ambiguous: 0", f"{ROUTE}.resubmit_ambiguous"),
    ("platform: openai", "platform: other", "groups[0].platform"),
    ("{input: 1.25,", "{in: 1.25,", "groups[0].prices.gpt-5.2.in"),
    ("{input: 1.25, output: 10,", "{input: 1.25,", "groups[0].prices.gpt-5.2.output"),
    ("priority: 10}]", "dialects: [klingon]}]", "groups[0].channels[0].dialects[0]"),
    ("${STUDIO_KEY:-sandbox-key-of-the-studio}", "${STUDIO_KEY}", f"{CHANNEL}.credentials.api_key"),
    ("${STUDIO_KEY:-sandbox-key-of-the-studio}", "${STUDIO KEY}", f"{CHANNEL}.credentials.api_key"),
]


def test_each_problem_is_named_by_its_path() -> None:
    for old, new, path in PROBLEMS:
        assert old in FILE
        found = problems(FILE.replace(old, new, 1))
        assert any(problem.startswith((f"{path}: ", f"{path}.")) for problem in found), (new, path, found)


def test_prices_by_tier_without_a_choice_of_tiers_are_refused_and_what_to_add_is_told() -> None:
    model = "{name: nova, modality: image, default_plan: p, pricing: {mode: image_matrix, prices: {1K: 1, 2K: 2}}%s}"
    for params in ("", ", params: {n: {max: 2}}"):
        assert problems(f"version: 1\nplans: [{{name: p}}]\nmodels: [{model % params}]") == [
            "models[0].params.image_size: is required with image_matrix: add image_size: "
            '{values: ["1K", "2K"], default: "1K"} to its params, or price it by the mode per_request'
        ]


def test_what_to_add_can_be_added_as_it_stands() -> None:
    advice = model_params.what_offers(['1: "K"', "ü"])
    offered = yaml.safe_load(advice.removeprefix("add ").partition(" to its params")[0])
    assert offered == {"image_size": {"values": ['1: "K"', "ü"], "default": '1: "K"'}}


def test_a_resolution_has_one_price_however_it_is_spelled() -> None:
    assert problems(FILE.replace('"720p": 0.10', '"720p": 0.10, "4K": 1, "720P": 0.30, "4k": 1')) == [
        "models[1].pricing.prices.720P: is there twice: it is 720p, as case does not count",
        "models[1].pricing.prices.4k: is there twice: it is 4K, as case does not count",
    ]


def test_image_tiers_of_two_spellings_are_two_tiers() -> None:
    assert problems(FILE.replace('"2K": 0.08', '"2K": 0.08, "2k": 0.09')) == []


def test_all_problems_are_told_at_once() -> None:
    text = (
        FILE.replace("0.04", "-1", 1).replace("channel: cinema", "channel: nowhere").replace("weight: 1", "weigth: 1")
    )
    found = problems(text.replace("default_plan: standard", "default_plan: gold", 1))
    assert [problem.split(": ")[0] for problem in found] == [
        "models[0].pricing.prices.1K",
        "plans[0].routes[0].weigth",
        "models[0].default_plan",
        "plans[0].routes[1].channel",
    ]


def test_a_missing_variable_is_named_once() -> None:
    assert problems(FILE.replace("{api_key: sandbox}", '{api_key: "${CINEMA_KEY}"}')) == [
        "channels[1].credentials.api_key: the environment variable CINEMA_KEY is not set"
    ]


def test_a_route_that_stands_twice_is_refused() -> None:
    twice = FILE.replace(
        "      - {model: comet-video, modality: video, channel: cinema}",
        "      - {model: comet-video, channel: cinema}\n" * 2,
    )
    assert problems(twice) == ["plans[0].routes[2]: this route is there twice"]


def test_a_name_of_several_modalities_needs_the_modality() -> None:
    text = FILE.replace("name: comet-video", "name: aurora-image").replace(
        "model: comet-video, modality: video", "model: aurora-image"
    )
    assert problems(text) == [
        "channels[1].models[0].modality: is required: 'aurora-image' exists in several modalities",
        "plans[0].routes[1].modality: is required: 'aurora-image' exists in several modalities",
    ]


def test_a_name_that_a_stored_model_has_is_refused() -> None:
    load(FILE, environment={})
    clash = """
version: 1
models: [{name: aurora, modality: image, default_plan: standard, pricing: {mode: per_request, prices: {"*": 1}}}]
"""
    with pytest.raises(CatalogFileError, match=r"models\[0\].name: 'aurora' already names"):
        load(clash)


def test_prune_refuses_a_reference_to_what_it_would_remove() -> None:
    load(FILE, environment={})
    with pytest.raises(CatalogFileError, match=r"plans\[0\].routes\[0\].channel"):
        load("version: 1\nplans: [{name: standard, routes: [{model: aurora-image, channel: studio}]}]", prune=True)


NO_FILES = [
    ("", "version: is required"),
    ("[]", "must be a mapping"),
    ("version: 1\nversion: 1", "line 2: 'version' is there twice"),
    ("version: 1\nmodels: {}", "models: must be a list"),
    ("version: 1\nmodels: [7]", "models[0]: must be a mapping"),
    ("version: 1\nmodels: [", "line 2:"),
    ("version: 1\nmodels: !!python/object:os.system {}", "line 2:"),
    ("\0", "is no valid YAML"),
    ("version: 1\nmodels: &a [*a]", "nested too deeply"),
    ("version: 1\nmodels: " + "[" * 1_000 + "]" * 1_000, "nested too deeply"),
]


def test_text_that_is_no_catalog_file_is_refused() -> None:
    for text, problem in NO_FILES:
        assert any(problem in found for found in problems(text)), text[:40]


def test_no_problem_repeats_a_credential() -> None:
    text = FILE.replace("{api_key: sandbox}", '{api_key: "canary\\u0007value"}')
    assert "canary" not in "".join(problems(text))
    assert "canary" not in "".join(problems(FILE.replace("{api_key: sandbox}", "{api_key: 'canary}")))


def test_ratios_need_no_quotes_and_words_are_text() -> None:
    tree, _ = yaml_text.read("ratios: [1:1, 16:9]\ncode: 0123\nday: 2026-11-21\nprice: 1e-3\nn: 12", {})
    assert tree == {"ratios": ["1:1", "16:9"], "code": "0123", "day": "2026-11-21", "price": 0.001, "n": 12}


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
NAMES = st.sampled_from(["a", "b", "image", "video", "stub_images", "http://x.example"])
TREES = st.recursive(
    VALUES | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["mode", "prices", "x"]), inner),
    max_leaves=3,
)


def entries(**lists: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Lists of mappings with some of the entry's fields, filled with anything."""
    fields = [
        "name",
        "modality",
        "aliases",
        "default_plan",
        "adapter",
        "base_url",
        "model",
        "channel",
        "upstream_model",
    ]
    optional = dict.fromkeys([*fields, "pricing", "params", "options", "capabilities"], NAMES | TREES)
    return st.lists(st.fixed_dictionaries({}, optional={**optional, **lists}), max_size=3) | TREES


@settings(max_examples=60)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "models": entries(),
            "channels": entries(models=entries()),
            "plans": entries(routes=entries()),
            "groups": entries(channels=entries()),
        },
    )
)
def test_no_tree_whatsoever_breaks_the_checks(tree: object) -> None:
    document = parsing.parse(tree, [])
    references.check(document, references.KnownNames())


@given(st.text(max_size=60))
def test_no_text_whatsoever_breaks_the_reader(text: str) -> None:
    with suppress(Invalid):
        yaml_text.read(text, {})


def test_merges_of_merges_write_out_no_more_fields_than_aliases_do_values() -> None:
    text = "a0: &a0 {k: v}\n"
    text += "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}], own: 1}}\n" for n in range(1, 7))
    with pytest.raises(Invalid, match="has more than 200000 values"):
        yaml_text.read(text, {})
    assert yaml_text.read("a: &a {k: v}\nb: {<<: *a, own: 1}", {})[0]["b"] == {"k": "v", "own": 1}
