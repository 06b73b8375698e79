"""Whether a target can express a request: what its adapter does not name is refused here, then the adapter is asked.

So a field that `TaskRequest` gets tomorrow is refused by every adapter that was written before it, plug-ins included,
and no adapter can forget to judge the upstream fields that a caller gives.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field
from dataclasses import fields as fields_of
from functools import cache
from typing import Any

from adapters import fields
from adapters.base import Adapter, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.given_fields import OPTIONS
from adapters.kit import field_complaints
from adapters.kit.fixed_fields import with_fixed
from adapters.kit.replaced_inputs import InputRules
from adapters.kit.sizes import SizeTable, by_area
from common.params.tables import FIRST_NAMES

# What an adapter that declares nothing is taken to express: plug-ins of the first version drop every later field.
UNDECLARED = FIRST_NAMES
NO_RULES = InputRules()


def check(adapter: Adapter, request: TaskRequest, target: Target, inputs: InputRules = NO_RULES) -> list[Unsupported]:
    """Why this target cannot run the request, as much of it as people read; empty if it can. `inputs` is asked about
    what `extra_body` gives for the portable inputs."""
    final = with_fixed(adapter, request, target) if target.fixed else request
    return _problems(adapter, request, final, target, inputs)


def judge(
    adapter: Adapter, request: TaskRequest, target: Target, inputs: InputRules = NO_RULES
) -> UpstreamRequest | list[Unsupported]:
    """What `build` makes where `check` finds nothing; else what that finds."""
    final = with_fixed(adapter, request, target) if target.fixed else request
    return _problems(adapter, request, final, target, inputs) or adapter.build(final, target)


def build(adapter: Adapter, request: TaskRequest, target: Target) -> UpstreamRequest:
    """The upstream request, with what the operator has fixed. Only for requests that `check` passes."""
    return adapter.build(with_fixed(adapter, request, target) if target.fixed else request, target)


def pixel_sizes(adapter: Adapter, target: Target) -> SizeTable:
    """What tiers and ratios mean in pixels there, as far as the channel model allows them; empty where the protocol has
    names alone. A ratio without a tier buys the first tier."""
    declared = getattr(adapter, "pixel_sizes", None)
    table: SizeTable = declared(target) if declared else target.capabilities.get("size_table") or {}
    tiers = target.capabilities.get("tiers") or target.capabilities.get("resolutions") or by_area(table)
    ratios = target.capabilities.get("ratios")
    rows = {tier: table[tier] for tier in tiers if tier in table}
    return {
        tier: {ratio: size for ratio, size in row.items() if ratios is None or ratio in ratios}
        for tier, row in rows.items()
    }


def complaints(adapter: Adapter, target: Target) -> list[str]:
    """What is wrong with a channel's options or a channel model's values, in words; for admin and file."""
    return [*adapter.validate(target), *field_complaints.complaints(adapter, target)]


def _problems(
    adapter: Adapter, request: TaskRequest, final: TaskRequest, target: Target, inputs: InputRules
) -> list[Unsupported]:
    """`final` is the request with what the operator has fixed."""
    found = [*_unexpressed(adapter, final), *adapter.check(final, target)]
    if request.extra_body or request.provider_options or hasattr(adapter, "prompt_command"):
        unnamed = fields.problems(adapter, request, target, inputs)
        named = {problem.field for problem in found}
        found += [problem for problem in unnamed if named.isdisjoint(_around(problem.field))]
    return found[: fields.MOST_NAMED]


def _around(field: str) -> Iterator[str]:
    """The field, and the params of which it is a part."""
    yield field
    yield from (f"params.{place}" for place in OPTIONS)


def _unexpressed(adapter: Adapter, request: TaskRequest) -> Iterator[Unsupported]:
    expressed = getattr(adapter, "expresses", {}).get(request.modality, UNDECLARED)
    kind: Any = type(request)
    for name, empty in _empties(kind).items():
        if name not in expressed and getattr(request, name) != empty:
            yield Unsupported(field=f"params.{name}", reason="cannot be expressed here")


@cache
def _empties(kind: Any) -> Mapping[str, Any]:
    """What a request has in each field that it does not ask for; MISSING, which nothing equals, where each must say."""
    return {each.name: _empty(each) for each in fields_of(kind) if each.name != "modality"}


def _empty(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()
