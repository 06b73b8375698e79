"""From a form to the body of a submission: what is left out, what stays a number, where files and URLs go."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from common.errors import InvalidRequest, TaskNotFound
from console.create import document, refusals
from tasks.request import schema
from tests.console.create.forms import CATALOG, IMAGE, VIDEO, built, form_of, form_of_fields, posted
from tests.tasks.request.param_requests import CONTENTS

PNG, JPEG = CONTENTS["image/png"], CONTENTS["image/jpeg"]
LONG = "9" * 5000
URL = "https://cdn.example.com/a.png"


def refusal(form, texts, **more) -> tuple[InvalidRequest, str | None]:
    places = {}
    with pytest.raises(InvalidRequest) as refused:
        document.build(form, posted(texts, **more), places)
    return refused.value, refusals.locate(refused.value, form, places).field


def test_an_image_form_becomes_the_body_of_the_api():
    assert built(form_of("image"), IMAGE) == {
        "model": "aurora",
        "modality": "image",
        "params": {"prompt": "a fox", "aspect_ratio": "1:1", "image_size": "2K", "n": 2},
    }


@pytest.mark.parametrize(
    ("modality", "texts"),
    [
        ("image", {**IMAGE, "params.images.url": f"{URL}\n\n {URL} "}),
        ("video", {**VIDEO, "params.generate_audio": "1", "params.inputs.image.first_frame.url": URL}),
        ("video", {**VIDEO, "params.resolution": "other", "params.resolution.other": "4k"}),
        ("3d", {"params.inputs.image.reference.url": URL, "params.output_format": "glb"}),
    ],
    ids=["image", "video-frame", "video-other", "3d"],
)
def test_what_widgets_say_is_valid_by_the_schema(modality, texts):
    params = built(form_of(modality), texts)["params"]
    Draft202012Validator(schema.params_schema(modality, CATALOG, names=["aurora"])).validate(params)


@pytest.mark.parametrize("modality", ["image", "video", "3d"])
def test_every_tile_gives_a_value_of_the_schema(modality):
    form = form_of(modality)
    published = schema.params_schema(modality, CATALOG, names=["aurora"])["properties"]
    for widget in form.widgets:
        for index in range(len(widget.choices)):
            name = widget.path.removeprefix("params.")
            value = built(form, {widget.path: str(index)})["params"][name]
            assert value == widget.choices[index].value
            Draft202012Validator(published[name]).validate(value)


def test_what_is_left_empty_is_left_out():
    empty = dict.fromkeys((*IMAGE, "metadata", "callback_url", "params.extra_body", "params.images.url"), " \r\n")
    assert built(form_of("image"), empty) == {"model": "aurora", "modality": "image", "params": {}}


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), (" 3 ", 3), ("-1", -1), ("3.0", "3.0"), ("1e3", "1e3"), ("three", "three"), ("٣", "٣"), (LONG, LONG)],
    ids=["whole", "blanks", "negative", "fraction", "exponent", "word", "other-digits", "endless"],
)
def test_a_whole_number_stays_one_and_what_is_none_stays_text(text, value):
    assert built(form_of("image"), {"params.n": text})["params"]["n"] == value


@pytest.mark.parametrize(("text", "value"), [("0.5", 0.5), ("2", 2), ("1e400", "1e400"), ("nan", "nan")], ids=str)
def test_a_number_may_have_decimals(text, value):
    form = form_of_fields(strength={"type": "number"})
    assert built(form, {"params.strength": text})["params"]["strength"] == value


def test_values_of_an_enum_keep_their_types():
    form = form_of_fields(odd={"enum": [1, "1", True, None, {"a": [1]}]})
    values = [built(form, {"params.odd": str(index)})["params"]["odd"] for index in range(4)]
    assert [(type(value), value) for value in values] == [(int, 1), (str, "1"), (bool, True), (dict, {"a": [1]})]


def test_an_index_of_no_choice_goes_on_as_text_to_be_refused():
    assert built(form_of("image"), {"params.image_size": "99"})["params"]["image_size"] == "99"


def test_own_results_come_first_then_urls_then_files():
    texts = {"params.images.own": ["task_x/0"], "params.images.url": URL}
    files = {"params.images.file": [PNG, JPEG]}
    images = built(form_of("image"), texts, files=files, own=lambda place: f"https://ours.example/{place}")
    told = document.with_files_as(images, lambda file: f"{file.content_type} {file.size_bytes}")
    assert [image["image_url"] for image in told["params"]["images"]] == [
        "https://ours.example/task_x/0",
        URL,
        f"image/png {len(PNG)}",
        f"image/jpeg {len(JPEG)}",
    ]


def test_media_of_a_film_have_the_type_and_role_of_their_slot():
    texts = {
        "params.inputs.image.last_frame.url": URL,
        "params.inputs.audio.reference.url": f"{URL}\n{URL}",
    }
    inputs = built(form_of("video"), texts)["params"]["inputs"]
    assert [(each["type"], each["role"]) for each in inputs] == [
        ("image", "last_frame"),
        ("audio", "reference"),
        ("audio", "reference"),
    ]


def test_json_boxes_are_read_strictly_and_their_refusals_name_the_place():
    form = form_of("image")
    assert built(form, {"params.extra_body": '{"seed": 7}'})["params"]["extra_body"] == {"seed": 7}
    error, field = refusal(form, {"metadata": '{"a": 1, "a": 2}'})
    assert (error.param, field) == ("metadata.a", "metadata")
    error, field = refusal(form, {"params.extra_body": "{nope"})
    assert (error.param, field) == ("params.extra_body", "params.extra_body")
    assert "not valid JSON" in error.message


def test_a_file_that_is_no_picture_is_refused_at_its_slot():
    texts = {"params.inputs.image.first_frame.url": URL}
    error, field = refusal(form_of("video"), texts, files={"params.inputs.image.reference.file": [b"<svg>"]})
    assert error.param == "params.inputs[1].url"
    assert field == "params.inputs.image.reference"


def test_a_result_that_is_gone_is_refused_at_its_slot():
    def own(place):
        raise TaskNotFound()

    error, field = refusal(form_of("image"), {"params.images.own": "task_x/0"}, own=own)
    assert (error.param, field) == ("params.images[0].image_url", "params.images")


def test_a_nul_is_refused_at_its_field():
    error, field = refusal(form_of("image"), {"params.prompt": "a\0b"})
    assert (error.param, field) == ("params.prompt", "params.prompt")


@pytest.mark.parametrize(
    ("param", "field"),
    [
        ("params.prompt or params.inputs", "params.prompt"),
        ("params.inputs[1].url", "params.inputs.audio.reference"),
        ("params.inputs[10].url", "params.inputs.image.first_frame"),
        ("params.inputs", "params.inputs.image.first_frame"),
        ("params.provider_options.seed", "params.provider_options"),
        ("params.promptly", None),
        ("model", None),
        (None, None),
    ],
    ids=str,
)
def test_a_json_path_leads_to_its_field(param, field):
    places = {"params.inputs[0]": "params.inputs.image.last_frame", "params.inputs[1]": "params.inputs.audio.reference"}
    assert refusals.locate(InvalidRequest("No.", param=param), form_of("video"), places).field == field


@given(
    texts=st.dictionaries(st.sampled_from([*IMAGE, "metadata", "params.extra_body", "params.images.own"]), st.text())
)
def test_whatever_is_posted_is_built_or_refused(texts):
    with suppress(InvalidRequest):
        assert built(form_of("image"), texts)["model"] == "aurora"
