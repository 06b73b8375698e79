"""The published JSON Schema accepts what the parser accepts; and the parser raises nothing but its own error."""

import re
from collections.abc import Iterator
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from common.errors import ApiError
from common.params import tables
from tasks.request import body
from tasks.request.schema import inputs_summary, params_schema
from tests.tasks.request.param_requests import BASES, CATALOG, data_url, image, media, parse, rules, video

CATALOGS: list[dict[str, Any]] = [
    CATALOG,
    {},
    {"image_size": {"values": ["1K"]}, "n": {"max": 2}, "images": {"max": 1}},
]
POLICY = rules().urls


def validator(modality: str, catalog: dict[str, Any]) -> Draft202012Validator:
    schema = params_schema(modality, catalog, names=["aurora"])
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


VALIDATORS = {
    (modality, index): validator(modality, catalog) for modality in BASES for index, catalog in enumerate(CATALOGS)
}

odd = st.sampled_from([None, True, False, "", " ", "x", 0, 1, 2, 5, -1, 1.5, 86_400, 86_401, [], {}, [1], {"a": 1}])
NAMED = [
    "seed",
    "size",
    "n",
    "N",
    "prompt",
    "Prompt",
    "inputs",
    "duration",
    "author",
    "secretary",
    "max_tokens",
    "a b",
    "",
]
REFUSED = ["api_key", "password", "client secret", "session.cookie", "auth", "model", "model_id", "stream"]
REFUSED += ["stream-options", "callback_url", "webhook", "notify_url", "x" * 201]
letters = st.sampled_from([str.lower, str.upper, str.title, str.capitalize, str.swapcase])
spellings = st.builds(lambda name, change: change(name), st.sampled_from(REFUSED), letters)
option_keys = st.sampled_from(NAMED) | spellings | spellings.map(lambda name: re.sub("[^A-Za-z]", "", name))
options = st.recursive(
    odd | st.sampled_from([4, 4.5, 5.0]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(option_keys, inner, max_size=2),
    max_leaves=6,
)
ODD_URLS = [f"https://a.example.com/{odd}" for odd in ("a b", "a\\b", "a#b", "ä", "a\n")]
ODD_URLS += ["https://user@a.example.com/", "https://a.example.com/user@x", "https://a.example.com?x@y", "https://#a"]
url = st.sampled_from(
    [*ODD_URLS, "https://a.example.com/x", "HTTP://a.example.com", "ftp://a.example.com", "x", data_url()]
)
element = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["image", "video", "audio", "text", None]),
        "role": st.sampled_from(["reference", "first_frame", "last_frame", "style"]),
        "url": url,
        "id": st.none() | st.sampled_from(["", "a b", 1]),
        "weight": odd,
    },
)
frames = st.builds(media, role=st.sampled_from(["reference", "first_frame", "last_frame"]))
values: dict[str, st.SearchStrategy[Any]] = {
    "model": odd | st.just("aurora"),
    "prompt": odd | st.just("a fox"),
    "n": odd,
    "image_size": odd | st.sampled_from(["1K", "2K", "8K"]),
    "aspect_ratio": odd | st.sampled_from(["1:1", "16:9"]),
    "images": odd | st.lists(odd | st.fixed_dictionaries({"image_url": odd | url}, optional={"x": odd}), max_size=4),
    "extra_body": options,
    "duration": odd,
    "resolution": odd,
    "generate_audio": odd,
    "inputs": odd | st.lists(frames, max_size=17) | st.lists(odd | element, max_size=3),
    "provider_options": options,
    "output_format": odd,
    "size": odd,
}
changes = st.lists(st.sampled_from(sorted(values)), max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: values[name] for name in names})
)


def test_every_declared_field_is_tried() -> None:
    assert {row.name for table in tables.TABLES.values() for row in table.rows} < values.keys()


def is_accepted(modality: str, candidate: dict[str, Any], catalog: dict[str, Any]) -> bool:
    try:
        parse(modality, candidate, catalog)
    except ApiError:
        return False
    return True


@settings(deadline=None)
@example("3d", 0, {"inputs": []}, False)
@example("image", 0, {"extra_body": {"n": 5}}, True)
@example("image", 0, {"extra_body": {"n": 4.5}}, True)
@example("image", 1, {"extra_body": {"n": True}}, True)
@example("image", 0, {"extra_body": {"n": None, "a": [{"n": 5}]}}, True)
@example("video", 0, {"provider_options": {"n": 5}}, True)
@example("video", 0, {"provider_options": {"duration": None, "a": {"X-Api-Key": None}}}, True)
@example("video", 0, {"provider_options": {"a": [{"X-Api-Key": 1}]}}, True)
@example("3d", 0, {"extra_body": {"Model": 1}}, True)
@given(st.sampled_from(sorted(BASES)), st.integers(0, 2), changes, st.booleans())
def test_the_schema_and_the_parser_agree(modality: str, index: int, changed: dict[str, Any], complete: bool):
    candidate = (BASES[modality]() if complete else {}) | changed
    expected = is_accepted(modality, candidate, CATALOGS[index])
    assert VALIDATORS[modality, index].is_valid(candidate) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.sampled_from(sorted(BASES)), st.dictionaries(st.sampled_from(sorted(values)), json_values, max_size=4))
def test_arbitrary_params_raise_nothing_but_an_api_error(modality: str, changed: dict[str, Any]):
    is_accepted(modality, BASES[modality]() | changed, CATALOG)


names = st.sampled_from(["model", "modality", "params", "metadata", "callback_url"]) | st.text(max_size=5)


@settings(deadline=None)
@given(st.dictionaries(names, json_values, max_size=5), st.booleans())
def test_arbitrary_bodies_raise_nothing_but_an_api_error(document: dict[str, Any], complete: bool):
    base: dict[str, Any] = {"model": "m", "params": {}} if complete else {}
    try:
        parsed = body.parse(base | document, POLICY)
    except ApiError:
        return
    assert parsed.model.strip()


def test_the_video_schema_lists_no_supported_values():
    text = str(params_schema("video", {"resolution": {"values": ["720p"]}}))
    assert "720p" not in text
    assert "16:9" not in text


def test_the_schema_tells_the_models_own_values():
    properties = params_schema("image", CATALOG)["properties"]
    assert properties["image_size"] == {"enum": ["1K", "2K", None], "default": "1K"}
    assert (properties["n"]["maximum"], properties["images"]["maxItems"]) == (4, 3)


def test_the_schema_refuses_forbidden_options_at_any_depth():
    assert VALIDATORS["video", 0].is_valid(video(provider_options={"seed": 1}))
    for extra in ({"api_key": 1}, {"a": {"b": [{"password": 1}]}}, {"prompt": "x"}, {"stream": True}):
        assert not VALIDATORS["video", 0].is_valid(video(provider_options=extra)), extra


def test_an_option_above_the_models_maximum_is_refused():
    for catalog, most in ((CATALOG, 4), ({}, 1)):
        for n, is_fine in ((most, True), (most + 1, False), (most + 0.5, False), ("many", True)):
            assert is_accepted("image", image(extra_body={"n": n}), catalog) == is_fine, n


def test_a_url_that_nobody_can_fetch_is_refused():
    assert [url for url in ODD_URLS if is_accepted("video", video(inputs=[media(url=url)]), {})] == [
        "https://a.example.com/user@x",
        "https://a.example.com?x@y",
    ]
    for url in ODD_URLS:
        found = VALIDATORS["video", 1].is_valid(video(inputs=[media(url=url)]))
        assert found is is_accepted("video", video(inputs=[media(url=url)]), {}), url


def patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("patternProperties", {})
        yield from (value for name, value in schema.items() if name == "pattern")
        for part in schema.values():
            yield from patterns(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from patterns(part)


def test_the_patterns_are_read_alike_by_python_and_ecma_262():
    """No flags, no look-behind, no possessive quantifiers, and no escapes but those of classes."""
    for modality in BASES:
        found = set(patterns(params_schema(modality, CATALOG)))
        assert len(found) >= 6, modality
        for pattern in found:
            assert not re.search(r"\(\?[^:=!]|\\[^sS\[\]]|[*+?}][+]", pattern), pattern


def test_the_summary_of_inputs_tells_maximum_and_roles():
    frames_and_references = ["first_frame", "last_frame", "reference"]
    assert inputs_summary("image", CATALOG) == {"max": 3, "roles": {"image": ["reference"]}}
    assert inputs_summary("image", {}) == {"max": 0, "roles": {}}
    assert inputs_summary("3d", {}) == {"max": 16, "roles": {"image": ["reference"]}}
    assert inputs_summary("video", {}) == {
        "max": 16,
        "roles": {"image": frames_and_references, "video": ["reference"], "audio": ["reference"]},
    }
