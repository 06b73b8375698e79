"""What opens the fields that a request may not have on its own: the group's lists, and the prices of the model."""

from collections.abc import Sequence

from catalog.groups import GroupEntry
from catalog.tariffs import Tariff
from common.errors import InvalidRequest
from relay.families.base import RefusedField
from relay.families.requests import messages


def refuse(fields: Sequence[RefusedField], group: GroupEntry, tariff: Tariff | None) -> None:
    """Raises InvalidRequest naming the first field that nothing opens. Without a tariff no price does."""
    for field in fields:
        if not is_open(field, group, tariff):
            raise InvalidRequest(f"{field.path}: {field.reason}.", param=field.path, details=field.details)


def is_open(field: RefusedField, group: GroupEntry, tariff: Tariff | None) -> bool:
    """Whether the field passes, by its name or its path, its amount, its tool, its beta, or where nobody pays by the
    piece."""
    if field.name in group.extra_fields or field.path in group.extra_fields:
        return True
    if tariff is not None and ((field.amount and tariff.has(field.amount)) or is_by_tokens(field, tariff)):
        return True
    return group.tool_price(field.tool) is not None or field.beta in group.extra_betas


def is_by_tokens(field: RefusedField, tariff: Tariff) -> bool:
    """Whether the field only costs more of what is counted anyway."""
    return field.only_by_piece and tariff.picture is None


def sent_betas(betas: Sequence[str], group: GroupEntry) -> list[str]:
    """What goes upstream of the values of `anthropic-beta`: all but those that nothing opens."""
    if messages.ANTHROPIC_BETA in group.extra_fields:
        return list(betas)
    return [beta for beta in betas if beta in group.extra_betas or not messages.is_closed(beta)]
