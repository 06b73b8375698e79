"""`asset:<task id>/<index>` in place of an input's address: what it becomes, and what is refused by its field."""

import json

import jsonschema
import pytest

from tasks.request import references, stored_params
from tasks.request.schema import params_schema
from tests.tasks.request.param_requests import CATALOG, REFERENCES, image, media, parse, referred, refusal, video

PICTURE, GIF, FILM, SOUND, MODEL = REFERENCES
NOBODYS = "asset:task_" + "0" * 26 + "/9"
MALFORMED = ["asset:", "asset:0", PICTURE[:-2], PICTURE + "0" * 4, PICTURE + "/", PICTURE + " ", PICTURE + "\n"]
MALFORMED += [PICTURE.upper(), "Asset" + PICTURE[5:], PICTURE.replace("/0", "/00"), PICTURE.replace("task_", "video_")]


def test_a_picture_of_an_image_task_is_the_file_and_keeps_the_reference():
    (given,) = parse("image", image(images=[{"image_url": PICTURE}])).images
    assert (given.url, given.stored) == (None, referred(PICTURE))


@pytest.mark.parametrize(("kind", "reference"), [("image", PICTURE), ("video", FILM), ("audio", SOUND)])
def test_an_input_of_a_film_is_the_file_of_its_type(kind: str, reference: str):
    (given,) = parse("video", video(inputs=[media(type=kind, url=reference)])).inputs
    assert (given.type, given.stored) == (kind, referred(reference))
    assert given.url.startswith("https://")


def test_an_input_of_a_model_is_a_picture():
    (given,) = parse("3d", {"inputs": [media(url=GIF)]}).inputs
    assert given.stored == referred(GIF)


@pytest.mark.parametrize(
    ("kind", "reference"), [("image", FILM), ("image", MODEL), ("video", PICTURE), ("video", SOUND), ("audio", FILM)]
)
def test_a_result_of_another_kind_is_refused(kind: str, reference: str):
    said = refusal("video", video(inputs=[media(), media(type=kind, url=reference)]))
    assert said == f"params.inputs[1].url must refer to a result of the type {kind}."


def test_a_film_is_no_picture():
    said = refusal("image", image(images=[{"image_url": FILM}]))
    assert said == "params.images[0].image_url must refer to a result of the type image."


@pytest.mark.parametrize("reference", MALFORMED)
def test_what_is_no_reference_is_refused_by_its_field(reference: str):
    assert refusal("video", video(inputs=[media(url=reference)])).startswith("params.inputs[0].url must be a reference")
    said = refusal("image", image(images=[{"image_url": reference}]))
    assert said.startswith("params.images[0].image_url must be a reference")


def test_what_is_not_there_is_refused_by_its_field():
    said = refusal("video", video(inputs=[media(url=NOBODYS)]))
    assert said == "params.inputs[0].url must refer to a result of this API key whose file is still kept."


def test_it_is_stored_with_the_file_and_read_again():
    request = parse("image", image(images=[{"image_url": PICTURE}, {"image_url": "https://cdn.example.com/a.png"}]))
    stored = json.loads(json.dumps(stored_params.dump(request)))
    assert stored["images"][0]["stored"]["reference"] == PICTURE
    assert stored_params.load("image", stored) == stored_params.load_to_buy("image", stored) == request
    request = parse("video", video(inputs=[media(type="video", url=FILM)]))
    (kept,) = stored_params.load_to_buy("video", json.loads(json.dumps(stored_params.dump(request)))).inputs
    assert (kept.url, kept.stored) == ("", referred(FILM))


def test_the_schema_takes_references_and_nothing_like_them():
    for modality, taken in (
        ("image", lambda url: image(images=[{"image_url": url}])),
        ("video", lambda url: video(inputs=[media(url=url)])),
        ("3d", lambda url: {"inputs": [media(url=url)]}),
    ):
        schema = params_schema(modality, CATALOG)
        jsonschema.validate(taken(PICTURE), schema)
        for text in MALFORMED:
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(taken(text), schema)


def test_a_place_becomes_a_reference_and_back():
    assert references.place_of(references.to("task_" + "0" * 26, 3)) == ("task_" + "0" * 26, 3)
