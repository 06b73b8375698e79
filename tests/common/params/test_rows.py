"""A declaration that lacks what its readers need is refused where it is made."""

from dataclasses import dataclass, replace

import pytest

from adapters import expression
from adapters.kit import checks
from common import modalities
from common.params import image, tables
from common.params.row import FIRST_VERSION, Param, ParamKind

SEED = Param(
    name="seed", kind=ParamKind.WHOLE, since="1.1", most=9, description="Makes it again.", rule="1 to 9", example=7
)


@pytest.mark.parametrize(
    ("lacking", "needed"),
    [
        ({"most": None}, "seed needs a bound"),
        ({"example": None}, "seed needs an example"),
        ({"description": ""}, "seed needs a description"),
        ({"kind": ParamKind.CHOICE}, "seed needs a catalog"),
    ],
)
def test_a_row_without_what_its_kind_needs_is_refused(lacking, needed):
    with pytest.raises(ValueError, match=needed):
        replace(SEED, **lacking)


def test_a_request_must_have_the_declared_default():
    @dataclass
    class Request:
        modality: str
        mask: str | None = None

    for row in {row.name: row for table in tables.TABLES.values() for row in table.rows}.values():
        Request.__annotations__[row.name] = int
        setattr(Request, row.name, 2)
    with pytest.raises(TypeError, match=r"Request\.n must be 1"):
        tables.declared(dataclass(Request))


def test_every_modality_declares_its_params():
    assert tuple(tables.TABLES) == modalities.NAMES


def test_the_fields_that_an_adapter_has_without_a_declaration_stay_those_of_the_first_version():
    ours = {"prompt", "n", "image_size", "aspect_ratio", "images", "extra_body", "duration", "resolution"}
    assert ours | {"generate_audio", "inputs", "provider_options", "output_format"} == expression.UNDECLARED
    assert {row.since for row in image.TABLE.rows} == {FIRST_VERSION}


def test_no_adapter_can_express_what_nobody_declares():
    assert "mask" in checks.fields("image", "mask")["image"]
    for modality, name in (("image", "colour"), ("video", "mask"), ("image", "duration")):
        with pytest.raises(ValueError, match=f"{modality} has no field {name}"):
            checks.fields(modality, name)
