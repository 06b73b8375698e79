"""What adapters declare of their options and capabilities, as fields of forms: each value comes back as it is."""

from typing import Any

import pytest
from django.http import QueryDict

from adapters import expression, registry
from adapters.base import OperatorField, Target
from adapters.kit.shapes import Provider
from desk.channel_page import upstream_table, values
from desk.channel_page.declared_fields import DeclaredFields
from desk.channel_page.upstream_table import UpstreamFields

OURS = [adapter for adapter in registry.ADAPTERS.values() if isinstance(adapter, Provider)]
GOOD: dict[str, list[Any]] = {
    "whole": [1, 1_000],
    "number": [5, 0.5],
    "switch": [True, False],
    "text": ["a-name"],
    "names": [["1K", "2K"], ["1:1"]],
    "durations": [[5, 10], [5], {"min": 4}, {"max": 12}, {"min": 4, "max": 12}],
    "sizes": [{"1K": {"1:1": "1024x1024", "16:9": "1360x768"}, "2K": {"1:1": "2048x2048"}}],
    "counts": [{"first_frame": 1, "last_frame": 0}],
    "object": [{"quality": "high", "deep": {"number": 1, "text": "1", "list": ["a", 1], "null": None}}],
}
HIDDEN: dict[str, list[Any]] = {
    "whole": ["1", True, 1.5],
    "number": ["5", True],
    "switch": [1, "yes"],
    "choice": ["unheard-of", 1],
    "text": [" blank ", 1],
    "names": [["a, b"], "1K", [1]],
    "durations": [5, ["5"], {"least": 5}],
    "sizes": [{"1K": {"1:1": "big"}}, []],
    "counts": [{"middle_frame": 1}, {"first_frame": "1"}, 3],
    "object": ["text", 1],
}


def fields_of(adapter: Provider) -> list[tuple[str, OperatorField]]:
    return [
        *(("options", field) for field in adapter.option_fields()),
        *(("capabilities", field) for field in adapter.capability_fields()),
    ]


def good(field: OperatorField) -> list[Any]:
    return list(field.choices) if field.kind in ("choice", "either") else GOOD[field.kind]


def sent(fields: DeclaredFields | UpstreamFields) -> dict[str, Any]:
    """What the form's fields clean when a browser sends back what they show."""
    made, initial = dict(fields.made()), fields.initial()
    cleaned = {}
    for name, field in made.items():
        data, value = QueryDict(mutable=True), field.prepare_value(initial.get(name))
        for key, text in posted(name, field, value):
            data.appendlist(key, text)
        cleaned[name] = field.clean(field.widget.value_from_datadict(data, None, name))
    return cleaned


def posted(name: str, field: Any, value: Any) -> list[tuple[str, str]]:
    columns = getattr(field.widget, "columns", None)
    if columns:
        rows = ((n, zip(columns, row, strict=True)) for n, row in enumerate(value))
        return [(f"{name}-{n}-{column.name}", cell) for n, row in rows for column, cell in row]
    return [(name, each) for each in value] if isinstance(value, list) else [(name, value)] if value else []


def kept(place: str, declared: Any, stored: dict[str, Any]) -> dict[str, Any]:
    fields = DeclaredFields(place, declared, stored)
    return fields.read(sent(fields))


@pytest.mark.parametrize("adapter", OURS, ids=lambda adapter: adapter.protocol)
def test_every_value_that_an_adapter_takes_is_entered_by_a_field_and_kept(adapter):
    for place, field in fields_of(adapter):
        for value in good(field):
            assert values.is_shown(field, value), (field.name, value)
            assert values_of(kept(place, (field,), {field.name: value})) == values_of({field.name: value})
        assert field.help
        assert kept(place, (field,), {}) == {}


def values_of(document: dict[str, Any]) -> str:
    """With the types of the values."""
    return repr(sorted(document.items()))


@pytest.mark.parametrize("adapter", OURS, ids=lambda adapter: adapter.protocol)
def test_what_the_fields_say_is_what_the_adapter_accepts(adapter):
    """One value of each field alone; what needs others is none of the field's."""
    for place, field in fields_of(adapter):
        if field.kind in ("object", "either"):
            continue
        for value in good(field):
            target = Target(adapter=adapter.protocol, base_url="https://x.example", upstream_model="m")
            complaints = adapter.validate(replaced(target, place, {field.name: value}))
            assert not [each for each in complaints if each.startswith(f"{place}.{field.name}")], (field.name, value)


def replaced(target: Target, place: str, value: dict[str, Any]) -> Target:
    return Target(adapter=target.adapter, base_url=target.base_url, upstream_model="m", **{place: value})


@pytest.mark.parametrize("kind", HIDDEN)
def test_what_no_field_can_show_is_kept_as_it_is_until_it_is_dropped(kind):
    field = OperatorField(name="x", kind=kind, choices=("first_frame", "last_frame"))
    for value in HIDDEN[kind]:
        stored = {"x": value, "unknown": 1}
        fields = DeclaredFields("options", (field,), stored)
        assert values_of(fields.read(sent(fields))) == values_of(stored), value
        assert fields.read({fields.drop: ["x", "unknown"]}) == {}


def test_an_adapter_that_declares_nothing_has_rows_of_names_with_values():
    stored = {"max_n": 3, "refuses": ["params.n"], "tier": "1", "deep": {"a": True}}
    assert kept("capabilities", None, stored) == stored


@pytest.mark.parametrize(
    ("kind", "text"),
    [("whole", "x"), ("whole", "1.5"), ("number", "five"), ("durations", "five"), ("durations", "4..5")],
)
def test_what_is_no_value_of_its_kind_says_how_to_write_one(kind, text):
    with pytest.raises(values.Misspelled, match="Enter"):
        values.SPELLINGS[kind].read(text)


FIXED = {"quality": "medium", "svg": {"effort": "low"}, "number": 1, "text": "1", "off": False, "list": ["a"], "o": {}}
EXTRA = ["moderation", "svg.model", "tools[].type"]


@pytest.mark.parametrize("adapter", OURS, ids=lambda adapter: adapter.protocol)
def test_what_callers_may_set_and_what_is_always_sent_come_back_as_they_are(adapter):
    target = Target(adapter=adapter.protocol, base_url="https://x.example", upstream_model="m")
    table = upstream_table.rows(adapter, target)
    allowable, fixable = ([row.path for row in table if may(row)] for may in (may_allow, may_fix))
    fixed = FIXED | values.nested([(path, "a-value") for path in fixable if "." not in path and path not in FIXED][:3])
    extra = [*EXTRA, *(path for path in allowable if path not in EXTRA)]
    fields = UpstreamFields(table, extra, fixed)
    cleaned = sent(fields)
    assert fields.read_allowed(cleaned) == extra
    assert fields.read_fixed(cleaned) == fixed


def may_allow(row: Any) -> bool:
    return bool(row.may_allow)


def may_fix(row: Any) -> bool:
    return bool(row.may_fix)


@pytest.mark.parametrize("adapter", OURS, ids=lambda adapter: adapter.protocol)
def test_the_table_offers_just_what_the_catalog_accepts(adapter):
    target = Target(adapter=adapter.protocol, base_url="https://x.example", upstream_model="m")
    for row in upstream_table.rows(adapter, target):
        allowed = replaced(target, "extra_fields", [row.path])
        assert (not about(adapter, allowed, "extra_fields")) == row.may_allow, row.path
        if "[" not in row.path:
            fixed = replaced(target, "fixed", values.nested([(row.path, "a-value")]))
            assert (not about(adapter, fixed, "fixed")) == row.may_fix, row.path


def about(adapter: Provider, target: Target, place: str) -> list[str]:
    return [each for each in expression.complaints(adapter, target) if each.startswith(place)]
