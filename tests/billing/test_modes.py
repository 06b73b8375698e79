"""The pricing modes: each is whole, none is taken for another, and what is reserved is what is charged."""

import ast
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import Billed
from billing import modes
from billing.modes import Mode, PerRequest, UnknownMode
from billing.pricing import Price, settle
from common import modalities
from common.documents import Unreadable
from common.modalities import Modality
from tools.stack import ROOT

MODES = st.sampled_from(modes.TABLE)
COUNTS, SECONDS, UNIT_MICROS = st.integers(1, 10), st.integers(1, 86_400), st.integers(0, 10**9)
SOUND = Modality(name="audio", label="Audio", noun="sound", pricing_modes=("audio_seconds",), deadline_seconds=900)


def asked(mode: Mode, count: int, seconds: int, unit: int = 10_000) -> Price:
    return Price.asked(mode, tier="1K", unit_micros=unit, billed=Billed(count=count, tier="1K"), seconds=seconds)


@pytest.mark.parametrize("method", sorted(Mode.__abstractmethods__))
def test_a_mode_that_lacks_a_method_cannot_be_made(method: str) -> None:
    methods = {name: getattr(PerRequest, name) for name in Mode.__abstractmethods__ if name != method}
    with pytest.raises(TypeError, match=method):
        type("AudioSeconds", (Mode,), methods)(
            name="a", noun="s", page_noun="s", prices_help="", measures_length=True, tier_param=None
        )


def test_a_modality_that_names_a_mode_without_a_class_is_refused() -> None:
    with pytest.raises(UnknownMode, match="audio_seconds"):
        modes.check([*modalities.TABLE, SOUND])


def test_a_price_of_an_unknown_mode_is_neither_read_nor_settled() -> None:
    price = Price(mode="audio_seconds", tier="*", unit_micros=10_000, quantity=60)
    with pytest.raises(Unreadable, match="mode"):
        Price.frozen(price.snapshot())
    with pytest.raises(UnknownMode, match="audio_seconds"):
        settle(price, delivered=1, asked_seconds=60, reported_seconds=60.0)


@given(MODES, COUNTS, SECONDS, UNIT_MICROS)
def test_a_request_that_is_delivered_as_it_was_asked_is_charged_as_it_was_reserved(
    mode: Mode, count: int, seconds: int, unit: int
) -> None:
    price = asked(mode, count, seconds, unit)
    settled = settle(price, delivered=count, asked_seconds=seconds, reported_seconds=float(seconds))
    assert settled.actual_micros == price.estimate_micros


@given(MODES, COUNTS, COUNTS, SECONDS)
def test_the_calls_of_a_request_have_its_units_together_or_each_the_units_that_no_file_adds_to(
    mode: Mode, calls: int, files: int, seconds: int
) -> None:
    of_all = asked(mode, calls * files, seconds).quantity
    of_calls = [mode.units(files=files, seconds=seconds) for _ in range(calls)]
    counts_files = mode.units(files=2, seconds=seconds) > mode.units(files=1, seconds=seconds)
    assert sum(of_calls) == (of_all if counts_files else calls * of_all)


@given(MODES, COUNTS, SECONDS)
def test_what_a_price_says_was_bought_may_still_be_bought(mode: Mode, count: int, seconds: int) -> None:
    price = asked(mode, count, seconds)
    assert price.is_still_bought(price.bought or Billed(count=count, tier="1K"))


def test_the_length_that_was_asked_for_is_told_by_seconds_alone() -> None:
    told = {mode.name: asked(mode, 2, 7).seconds for mode in modes.TABLE}
    assert told == {"image_matrix": None, "video_duration": 7, "per_request": None}


def test_only_the_table_and_the_modalities_spell_the_modes() -> None:
    allowed = {"billing/modes.py", "common/modalities.py"}
    foreign = {"adapters/dashscope/videos.py"}  # a field of the provider that is called so
    spelled = {path for path in _sources() if _texts(ROOT / path) & modes.BY_NAME.keys()}
    assert spelled - foreign == allowed


def _sources() -> list[str]:
    rooms = (room for room in ROOT.iterdir() if (room / "__init__.py").exists() and room.name not in {"tests", "bench"})
    code = (path.relative_to(ROOT) for room in rooms for path in room.rglob("*.py"))
    return [str(path) for path in code if "migrations" not in path.parts]


def _texts(path: Path) -> set[object]:
    source = path.read_text()
    if not any(name in source for name in modes.BY_NAME):
        return set()
    return {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}


def test_the_reference_knows_the_modes_and_their_units() -> None:
    schemas = yaml.safe_load((ROOT / "reference/openapi/schemas_models.yaml").read_text())
    pricing = _found(schemas, "ModelPricing")["properties"]
    assert pricing["mode"]["enum"] == list(modes.BY_NAME)
    assert pricing["unit"]["enum"] == [mode.noun for mode in modes.TABLE]


def _found(tree: object, name: str) -> dict:
    """The object of this name, however deep it is."""
    while isinstance(tree, dict) and name not in tree:
        (tree,) = tree.values()
    return tree[name]
