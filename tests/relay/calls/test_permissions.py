"""A refused field passes by what the operator has opened or priced, and by nothing else."""

from dataclasses import replace
from decimal import Decimal

import pytest

from catalog.groups import GroupEntry
from catalog.tariffs import Tariff
from common.errors import InvalidRequest
from relay.calls import permissions
from relay.families.base import RefusedField
from tests.relay.pricing import PRICE, TOKENS

GROUP = GroupEntry(id=1, name="g", platform="openai", image_generation=True)
BY_PIECE = Tariff(tokens=PRICE, picture=Decimal("0.04"))
SOUND = Tariff(tokens=replace(PRICE, audio_input=Decimal(1)))
PLAIN = RefusedField(name="a", path="a.b[0]", reason="is odd")
FIELDS = {
    "plain": PLAIN,
    "amount": replace(PLAIN, amount="audio_input"),
    "tool": replace(PLAIN, tool="web_search"),
    "beta": replace(PLAIN, beta="files-api-2025-04-14"),
    "by piece": replace(PLAIN, only_by_piece=True),
}
OPENED = {
    "name": (replace(GROUP, extra_fields=frozenset({"a"})), TOKENS),
    "path": (replace(GROUP, extra_fields=frozenset({"a.b[0]"})), TOKENS),
    "amount": (GROUP, SOUND),
    "tool": (replace(GROUP, tool_prices={"web_search": Decimal(1)}), BY_PIECE),
    "beta": (replace(GROUP, extra_betas=frozenset({"files-api-2025-04-14"})), BY_PIECE),
    "tokens": (GROUP, TOKENS),
    "nothing": (GROUP, BY_PIECE),
    "no tariff": (GROUP, None),
}
PASSES = {
    "plain": {"name", "path"},
    "amount": {"name", "path", "amount"},
    "tool": {"name", "path", "tool"},
    "beta": {"name", "path", "beta"},
    "by piece": {"name", "path", "amount", "tokens"},
}


@pytest.mark.parametrize("kind", FIELDS)
def test_a_field_passes_by_what_opens_it_alone(kind):
    opened = {name for name, (group, tariff) in OPENED.items() if permissions.is_open(FIELDS[kind], group, tariff)}
    assert opened == PASSES[kind]


def test_the_first_field_that_nothing_opens_is_named():
    permissions.refuse([], GROUP, None)
    other = RefusedField(name="c", path="c", reason="is other", details={"error_code": "x"})
    with pytest.raises(InvalidRequest) as refused:
        permissions.refuse([PLAIN, other], replace(GROUP, extra_fields=frozenset({"a"})), TOKENS)
    error = refused.value
    assert (error.message, error.param, error.details) == ("c: is other.", "c", {"error_code": "x"})


VENDOR = RefusedField(
    name="vendor", path="vendor", reason="is odd", value={"a": {"b": 1}, "list": [{"c": 1}, {"c": 2}], "empty": {}}
)


@pytest.mark.parametrize(
    ("listed", "closed"),
    [
        ({"vendor.a.b"}, "vendor.list[0].c"),
        ({"vendor.a"}, "vendor.list[0].c"),
        ({"vendor.a.b", "vendor.list[].c"}, "vendor.empty"),
        ({"vendor.a.b", "vendor.list", "vendor.empty"}, None),
        ({"vendor"}, None),
        ({"vendor.a.b.c"}, "vendor.a.b"),
        ({"vendo.a.b"}, "vendor"),
        (set(), "vendor"),
    ],
)
def test_what_stands_in_a_refused_field_is_opened_by_its_path(listed, closed):
    group = replace(GROUP, extra_fields=frozenset(listed))
    if closed is None:
        permissions.refuse([VENDOR], group, TOKENS)
        return
    with pytest.raises(InvalidRequest) as refused:
        permissions.refuse([VENDOR], group, TOKENS)
    assert refused.value.param == closed


def test_a_path_is_listed_without_its_numbers():
    field = RefusedField(name="ttl", path="messages[0].content[1].cache_control.ttl", reason="is odd")
    permissions.refuse(
        [field], replace(GROUP, extra_fields=frozenset({"messages[].content[].cache_control.ttl"})), TOKENS
    )


def test_betas_that_the_group_has_not_opened_stay_here():
    said = ["claude-code-20250219", "context-1m-2025-08-07", "files-api-2025-04-14", "effort-2025-11-24"]
    opened = replace(GROUP, extra_betas=frozenset({"files-api-2025-04-14"}))
    assert permissions.sent_betas(said, opened) == [said[0], said[2], said[3]]
    assert permissions.sent_betas(said, replace(GROUP, extra_fields=frozenset({"anthropic-beta"}))) == said
