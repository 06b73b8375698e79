"""Decides which restricted fields of a request are open: by the group's lists or the model's prices."""

from collections.abc import Sequence

from catalog.groups import GroupEntry
from catalog.tariffs import Tariff
from common import strict_json
from common.errors import InvalidRequest
from common.strict_json import Trail
from relay.families.base import RefusedField
from relay.families.requests import messages
from relay.families.requests.known_fields import without_numbers


def refuse(fields: Sequence[RefusedField], group: GroupEntry, tariff: Tariff | None) -> None:
    """Raises InvalidRequest naming the first field that is not open. Without a tariff, no price opens any."""
    for field in fields:
        if not is_open(field, group, tariff) and (path := _closed(field, group)):
            raise InvalidRequest(f"{path}: {field.reason}.", param=path, details=field.details)


def _closed(field: RefusedField, group: GroupEntry) -> str:
    """Returns the path that `extra_fields` do not open: the field itself, or a member if they list only some of its
    members; empty if they list all."""
    above = f"{field.name}."
    if not isinstance(field.value, dict) or not any(name.startswith(above) for name in group.extra_fields):
        return field.path
    inner = strict_json.leaves(field.value)
    closed = (trail for trail in inner if not _is_listed(above, trail, group))
    return next((f"{field.path}.{strict_json.path(trail)}" for trail in closed), "")


def _is_listed(above: str, trail: Trail, group: GroupEntry) -> bool:
    """Tells whether `extra_fields` list the path or one of its parents."""
    steps = range(1, len(trail) + 1)
    return any(above + without_numbers(strict_json.path(trail[:step])) in group.extra_fields for step in steps)


def is_open(field: RefusedField, group: GroupEntry, tariff: Tariff | None) -> bool:
    """Tells whether the field passes: by name, path, amount, tool or beta, or because pictures are not priced by the
    piece."""
    if not group.extra_fields.isdisjoint((field.name, field.path, without_numbers(field.path))):
        return True
    if tariff is not None and ((field.amount and tariff.has(field.amount)) or is_by_tokens(field, tariff)):
        return True
    return group.tool_price(field.tool) is not None or field.beta in group.extra_betas


def is_by_tokens(field: RefusedField, tariff: Tariff) -> bool:
    """Tells whether the field's cost is only more of what is counted anyway."""
    return field.only_by_piece and tariff.picture is None


def sent_betas(betas: Sequence[str], group: GroupEntry) -> list[str]:
    """Returns the values of `anthropic-beta` that go upstream: all that are open."""
    if messages.ANTHROPIC_BETA in group.extra_fields:
        return list(betas)
    return [beta for beta in betas if beta in group.extra_betas or not messages.is_closed(beta)]
