"""Which widget is chosen for a field of a JSON Schema, and the forms of the models that a catalog offers."""

from pathlib import Path

import pytest
import yaml

from console.create import choosing
from console.create.widgets import shape_of
from tests.console.create.forms import form_of, form_of_fields

EXAMPLE = yaml.safe_load(Path("catalog.example.yaml").read_text())["models"]


def kinds(form) -> dict[str, str]:
    return {widget.path: widget.kind for widget in form.widgets}


@pytest.mark.parametrize("model", EXAMPLE, ids=[model["name"] for model in EXAMPLE])
def test_every_model_of_the_example_has_a_form_whose_prompt_comes_first(model):
    form = form_of(model["modality"], model.get("params", {}))
    assert form.widgets[0].path == "params.prompt"
    assert form.widgets[0].kind == "long"
    assert form.widgets[0].is_required
    assert [widget.path for widget in form.more[-2:]] == ["callback_url", "metadata"]
    assert "params.model" not in kinds(form)


def test_a_picture_has_tiles_of_its_tiers_and_ratios_and_a_slot_for_references():
    form = form_of("image")
    assert kinds(form) == {
        "params.prompt": "long",
        "params.images": "media",
        "params.aspect_ratio": "tiles",
        "params.image_size": "tiles",
        "params.n": "number",
        "params.extra_body": "json",
        "callback_url": "url",
        "metadata": "json",
    }
    ratio, count = form.main[2], form.main[4]
    assert [(choice.value, choice.shape) for choice in ratio.choices] == [("1:1", (28, 28)), ("16:9", (28, 16))]
    assert (count.low, count.high, count.is_whole) == (1, 4, True)
    assert [(slot.name, slot.most) for slot in form.main[1].slots] == [("params.images", 3)]
    assert form.first == {"params.aspect_ratio": ["0"], "params.image_size": ["0"], "params.n": ["1"]}


def test_a_film_has_slots_for_its_frames_and_suggestions_for_free_texts():
    form = form_of("video", {})
    slots = next(widget for widget in form.main if widget.kind == "media").slots
    assert [(slot.medium, slot.role, slot.most, slot.takes_files) for slot in slots] == [
        ("image", "first_frame", 1, True),
        ("image", "last_frame", 1, True),
        ("image", "reference", 16, True),
        ("video", "reference", 16, False),
        ("audio", "reference", 16, False),
    ]
    resolution = next(widget for widget in form.main if widget.path == "params.resolution")
    assert (resolution.kind, resolution.is_free) == ("tiles", True)
    assert form.first["params.duration"] == ["5"]


def test_a_3d_model_needs_no_prompt_and_takes_pictures():
    form = form_of("3d", {})
    assert not form.widgets[0].is_required
    assert [slot.role for slot in form.widgets[1].slots] == ["reference"]


def test_what_a_model_does_not_offer_is_not_drawn():
    paths = kinds(form_of("image", {}))
    assert not {"params.image_size", "params.aspect_ratio", "params.images"} & paths.keys()


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"enum": ["a", "b"]}, "tiles"),
        ({"enum": [*"abcdefg"]}, "select"),
        ({"enum": [f"{n}:1" for n in range(1, 8)]}, "tiles"),
        ({"enum": [1, 2.5, None, {"a": 1}]}, "tiles"),
        ({"type": "boolean"}, "tiles"),
        ({"type": ["boolean", "null"]}, "tiles"),
        ({"type": "boolean", "enum": 7}, "tiles"),
        ({"type": "integer"}, "number"),
        ({"anyOf": [{"type": "null"}, {"type": "number"}]}, "number"),
        ({"type": "string"}, "text"),
        ({"type": "string", "maxLength": 2000}, "long"),
        ({"type": "string", "format": "uri"}, "url"),
        ({"type": "array", "items": {"type": "string"}}, "lines"),
        ({"type": "array", "items": {"type": "integer"}}, "json"),
        ({"type": "array"}, "json"),
        ({"type": "object"}, "json"),
        ({"type": ["string", "integer"]}, "json"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "json"),
        ({"$ref": "#/$defs/option"}, "json"),
        ({}, "json"),
        ({"type": 7, "anyOf": "hostile", "items": 3}, "json"),
        ({"type": "array", "items": {"properties": dict.fromkeys(["type", "role", "url"], 1)}, "allOf": [7]}, "media"),
    ],
    ids=str,
)  # fmt: skip
def test_a_rule_chooses_its_widget(schema, kind):
    assert choosing.choose("field", schema).kind == kind


def test_a_switch_that_has_one_position_offers_no_other():
    widget = choosing.choose("generate_audio", {"type": ["boolean", "null"], "enum": [False, None]})
    assert [choice.label for choice in widget.choices] == ["Off"]


@pytest.mark.parametrize("schema", [{"type": "null"}, {"type": ["array", "null"], "maxItems": 0}], ids=str)
def test_a_field_that_takes_nothing_is_not_drawn(schema):
    assert choosing.choose("field", schema) is None


def test_hostile_names_and_values_are_kept_as_they_are():
    name = '"><script>alert(1)</script>'
    form = form_of_fields(**{name: {"enum": [name]}})
    (widget, *_) = form.widgets
    assert (widget.path, widget.choices[0].label) == (f"params.{name}", name)


@pytest.mark.parametrize(
    ("ratio", "shape"),
    [("1:1", (28, 28)), ("9:16", (16, 28)), ("9999:1", (28, 3)), ("16x9", None), ("0:1", None), (5, None)],
    ids=str,
)
def test_a_ratio_is_drawn_in_its_shape(ratio, shape):
    assert shape_of(ratio) == shape
