"""Dumping is the inverse of loading."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.file import yaml_text
from catalog.file.dump import dump
from catalog.file.load import load
from catalog.models import Channel, Credential, MediaModel, Plan
from tests.catalog.conftest import FILE

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("with_credentials", [False, True])
def test_loading_a_dump_changes_nothing(with_credentials: bool) -> None:
    load(FILE)
    report = load(dump(with_credentials=with_credentials), prune=True)
    assert (report.created, report.changed, report.removed, report.warnings) == ([], [], [], [])


@pytest.mark.parametrize("with_credentials", [False, True])
def test_a_dump_rebuilds_the_catalog_from_nothing(with_credentials: bool) -> None:
    load(FILE)
    text = dump(with_credentials=with_credentials)
    load("version: 1", prune=True)
    assert not Channel.objects.exists()
    assert not load(text).warnings
    plain = dump(with_credentials=True)
    assert plain == (text if with_credentials else plain)
    assert "sandbox-key-of-the-studio" in plain


def test_a_dump_holds_no_secret_unless_asked() -> None:
    load(FILE)
    assert "sandbox" not in dump()
    assert "1234567890" not in dump()


def test_a_dump_shows_prices_as_numbers() -> None:
    load(FILE)
    tree, _ = yaml_text.read(dump(), {})
    assert tree["models"][0]["pricing"]["prices"] == {"1K": 0.04, "2K": 0.08}
    assert tree["plans"][0]["price_multiplier"] == 1


def test_a_small_amount_has_no_exponent() -> None:
    load(FILE)
    MediaModel.objects.filter(modality="image").update(prices={"1K": "0.00002", "2K": "0.0001"})
    assert re.search("1K: '?0.00002'?\n", dump())
    assert load(dump(), environment={}).changed == []


def test_odd_values_survive() -> None:
    load(FILE)
    Plan.objects.update(name="a: [${PLAN}] #1")
    MediaModel.objects.update(prices={"1:1": "0.000000000001", "no": "99999.123456789012"})
    MediaModel.objects.filter(modality="image").update(name="1e5", enabled=False)
    Channel.objects.update(enabled=False, options={"dialect": {"list": [1, 1.5, None, True, "${X}", "16:9"]}})
    report = load(dump(), environment={})
    assert (report.created, report.changed) == ([], ["media model 1e5 (image): aliases"])


def test_a_channel_without_a_credential_is_dumped_without() -> None:
    load(FILE)
    Credential.objects.all().delete()
    report = load(dump())
    assert (report.created, report.changed) == ([], [])


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**62), 2**62)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
        | st.sampled_from(
            ["${A}", "$${A}", "$$${", "1e5", "16:9", "0x1F", "yes", "~", "2026-11-21", "1_000", "<<", "="]
        ),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc$*", min_size=1, max_size=3), inner),
        max_leaves=8,
    )
)
def test_every_value_is_read_back_as_it_was_written(value: Any) -> None:
    tree, problems = yaml_text.read(yaml_text.write({"value": value}), {})
    assert not problems
    assert tree == {"value": value}
