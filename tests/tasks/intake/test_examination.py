"""The checks of a submission: how far they came, and the error that stopped them."""

from typing import Any

import pytest
from django.db.models import F

from catalog import snapshot
from catalog.models import CatalogVersion, Channel
from common.errors import ApiError, InvalidRequest, NoCapableRoute
from tasks.intake import examination
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url

REACHED = {
    "nothing": ({"plan": "standard"}, (False, False)),
    "no request": ({"params": {"prompt": "x", "n": 99}}, (False, False)),
    "the routes": ({"params": {"prompt": "x", "extra_body": {"n": "many"}}}, (True, True)),
    "no price": ({"params": {"prompt": "x", "extra_body": {"size": "auto"}}}, (True, True)),
}


@pytest.mark.parametrize("reached", REACHED)
def test_what_was_reached_is_told_with_the_error_that_a_submission_gets(key, image_model, reached):
    changes, expected = REACHED[reached]
    found = examination.examine(key.id, {**steps.IMAGE, **changes}, snapshot.latest())
    assert (found.request is not None, found.survey is not None) == expected
    assert isinstance(found.outcome, ApiError)
    with pytest.raises(type(found.outcome)) as raised:
        steps.prepared(key, **changes)
    assert raised.value.message == found.outcome.message


def test_a_submission_that_passes_is_routed_and_priced(key, image_model):
    found = examination.examine(key.id, steps.IMAGE, snapshot.latest())
    assert found.outcome == steps.prepared(key)
    assert (found.request, found.survey.plan) == (found.outcome.request, found.outcome.decision.plan)


EDIT = {"prompt": "a fox", "images": [{"image_url": data_url()}]}
MASKS: list[tuple[Any, str]] = [
    ({"image_url": data_url("image/jpeg")}, "mask must be a PNG or WebP image, which can be transparent."),
    ({"image_url": "data:image/png;base64,####"}, "mask.image_url must hold strict base64."),
    ({"image_url": "ftp://a.example.com/m.png"}, "mask.image_url must be an absolute http or https URL."),
    ({"image_url": data_url(), "file_id": "file-1"}, "mask.file_id is not supported."),
    ({}, "mask.image_url is required."),
    ("mask.png", "mask must be an object."),
]


def test_a_mask_is_part_of_the_request_and_of_what_the_routes_are_asked(key, image_model):
    prepared = steps.prepared(key, params=EDIT, mask={"image_url": data_url("image/webp")})
    assert prepared.request.mask.stored.content_type == "image/webp"
    assert steps.prepared(key, params=EDIT, mask={"image_url": "https://a.example.com/m.png"}).request.mask.url
    Channel.objects.update(adapter="openrouter_images")
    CatalogVersion.objects.update(version=F("version") + 1)
    with pytest.raises(NoCapableRoute, match=r"supports this request\. params\.mask: "):
        steps.prepared(key, params=EDIT, mask={"image_url": data_url()})
    steps.prepared(key, params=EDIT)


@pytest.mark.parametrize(("mask", "message"), MASKS, ids=[message for _, message in MASKS])
def test_a_mask_that_is_none_is_refused_under_its_own_name(key, image_model, mask, message):
    with pytest.raises(InvalidRequest) as caught:
        steps.prepared(key, params=EDIT, mask=mask)
    assert caught.value.message == message
    assert caught.value.param.split(".")[0] == "mask"


def test_a_mask_without_an_image_is_refused(key, image_model):
    with pytest.raises(InvalidRequest, match="mask needs an image"):
        steps.prepared(key, mask={"image_url": data_url()})


def test_a_mask_is_no_field_of_params(key, image_model):
    with pytest.raises(InvalidRequest, match=r"params\.mask is not supported"):
        steps.prepared(key, params=EDIT | {"mask": {"image_url": data_url()}})
