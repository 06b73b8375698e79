"""The document's schemas of params have the declared fields, and no others."""

import pytest

from catalog import model_params
from common.params import tables
from common.params.video import ROLES
from reference import param_schemas
from reference.document import document

SCHEMAS = document()["components"]["schemas"]
NAMES = dict(
    zip(
        tables.TABLES,
        (form["$ref"].rpartition("/")[2] for form in SCHEMAS["TaskRequest"]["properties"]["params"]["anyOf"]),
        strict=True,
    )
)


@pytest.mark.parametrize(("modality", "name"), NAMES.items())
def test_a_request_of_each_modality_has_its_declared_fields(modality, name):
    schema, rows = SCHEMAS[name], tables.TABLES[modality].rows
    assert list(schema["properties"]) == ["model", *(row.name for row in rows)]
    assert schema.get("required", []) == [row.name for row in rows if row.is_required]


def test_the_bounds_of_images_are_those_of_the_catalog():
    assert list(SCHEMAS["ImageBounds"]["properties"]) == list(model_params.IMAGE)


def test_an_input_has_the_declared_types_and_roles():
    element = SCHEMAS["MediaInput"]["properties"]
    assert element["type"]["enum"] == list(ROLES)
    assert set(element["role"]["enum"]) == {role for roles in ROLES.values() for role in roles}


def test_a_field_that_is_written_beside_the_declared_ones_is_refused():
    with pytest.raises(ValueError, match="properties repeats properties"):
        param_schemas.filled({"params-of": "image", "properties": {"mood": {"type": "string"}}})
