"""The tables of modalities and params fields agree with each other."""

from dataclasses import fields

from adapters.base import TaskRequest
from billing import modes
from catalog import model_params
from common import modalities
from tasks.request.params import MODALITIES


def test_every_modality_has_params_a_deadline_and_units_for_its_prices(settings):
    assert tuple(MODALITIES) == modalities.NAMES
    assert set(settings.TASK_DEADLINES) == {"queue", *modalities.NAMES}
    assert {mode for modality in modalities.TABLE for mode in modality.pricing_modes} == modes.BY_NAME.keys()


def test_every_params_field_has_its_place_in_the_request():
    known = {field.name for field in fields(TaskRequest)}
    for modality, declared in MODALITIES.items():
        assert set(model_params.RULES.get(modality, {})) <= set(declared.table({})) <= known, modality
