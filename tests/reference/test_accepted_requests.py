"""Whatever the parsers accept, the reference calls a request; the models' own values are for `params_schema`."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from common import urls
from common.errors import ApiError
from tasks.request import body
from tests.common.test_urls import ROWS
from tests.reference import places, validating
from tests.tasks.request.param_requests import BASES, image
from tests.tasks.request.test_schema import CATALOGS, ODD_URLS, POLICY, changes, is_accepted, json_values

PARAMS = {"image": "ImageParams", "video": "VideoParams", "3d": "ModelParams3D"}
texts = st.text(max_size=5) | st.sampled_from(["x" * 64, "x" * 65, "x" * 512, "x" * 513])
tops = {
    "model": texts | st.just("x" * 201),
    "modality": st.sampled_from([None, "image", "audio", 3]),
    "metadata": st.none() | st.dictionaries(texts, texts | json_values, max_size=3),
    "callback_url": st.sampled_from([None, "", 1, *(row["url"] for row in ROWS)]),
    "plan": texts,
}


def schema(name: str) -> places.Place:
    return places.at("components", "schemas", name)


@settings(deadline=None)
@given(st.sampled_from(sorted(BASES)), st.integers(0, 2), changes)
def test_params_that_are_accepted_are_documented(modality: str, index: int, changed: dict[str, Any]):
    candidate = BASES[modality]() | changed
    if is_accepted(modality, candidate, CATALOGS[index]):
        validating.valid(schema(PARAMS[modality]), candidate)


@settings(deadline=None)
@given(st.fixed_dictionaries({}, optional=tops))
def test_bodies_that_are_accepted_are_documented(changed: dict[str, Any]):
    candidate = {"model": "aurora", "params": image()} | changed
    try:
        body.parse(candidate, POLICY)
    except ApiError:
        return
    validating.valid(schema("TaskRequest"), candidate)


def test_urls_that_are_accepted_are_documented():
    accepted = [url for url in [*(row["url"] for row in ROWS), *ODD_URLS] if urls.problem(url, POLICY) is None]
    assert "https://a.example.com/user@x" in accepted
    for url in accepted:
        validating.valid(schema("PublicUrl"), url)


def test_urls_of_another_form_are_not():
    for url in ("ftp://a.example.com", "https://user@a.example.com/", "https://a.example.com/#b", "/a", "data:a"):
        assert validating.errors(schema("PublicUrl"), url), url
