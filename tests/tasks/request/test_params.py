"""The tables of modalities and params fields agree with each other."""

from dataclasses import fields

from adapters.base import TaskRequest
from billing import modes
from catalog import model_params
from common import modalities
from common.params import tables
from tasks.request import params


def test_every_modality_has_params_a_deadline_and_units_for_its_prices(settings):
    assert tuple(tables.TABLES) == modalities.NAMES
    assert set(settings.TASK_DEADLINES) == {"queue", *modalities.NAMES}
    assert {mode for modality in modalities.TABLE for mode in modality.pricing_modes} == modes.BY_NAME.keys()


def test_every_params_field_has_its_place_in_the_request():
    known = {field.name for field in fields(TaskRequest)}
    for modality in tables.TABLES:
        assert set(model_params.RULES.get(modality, {})) <= set(params.parser(modality, {}).fields) <= known, modality
