"""What an operator may not write into `extra_fields` and `fixed` of a channel model."""

from collections.abc import Iterator

from adapters.base import Adapter, Target
from adapters.kit.field_table import NAME, FieldTable, Steps, kind_of, of, steps_of
from adapters.kit.fixed_fields import fixed_leaves
from adapters.kit.upstream_fields import FieldKind


def complaints(adapter: Adapter, target: Target) -> list[str]:
    """What is wrong with a channel model's `extra_fields` and `fixed`, each with its path first."""
    table = of(adapter, target)
    return [*_of_extra_fields(table, target), *_of_fixed(table, target)]


def _of_extra_fields(table: FieldTable, target: Target) -> Iterator[str]:
    for index, path in enumerate(target.extra_fields):
        try:
            steps = table.canonical(steps_of(path))
        except ValueError as error:
            yield f"extra_fields[{index}]: {error}"
            continue
        field = table.at.get(steps) or table.nearest(steps)
        kinds = {field.kind, *([field.otherwise] if field.values else [])} if field else {FieldKind.OPERATOR}
        if twin := table.twin(steps):
            yield f"extra_fields[{index}]: is another spelling of {twin.path}"
        elif FieldKind.OPERATOR not in kinds:
            word = "is forbidden" if FieldKind.FORBIDDEN in kinds else "passes without being named here"
            yield f"extra_fields[{index}]: {path} {word}"


def _of_fixed(table: FieldTable, target: Target) -> Iterator[str]:
    for steps, value in fixed_leaves(table, target).items():
        field, path = table.nearest(steps), f"fixed.{'.'.join(steps)}"
        kind = kind_of(field, value)
        below = [each for listed, each in table.at.items() if listed[: len(steps)] == steps]
        # Of an object that the adapter makes, what is fixed would replace the whole.
        place = 2 if table.settings and steps[0] == table.settings.place else 1
        beside = [each for listed, each in table.at.items() if listed[:place] == steps[:place] and listed != steps]
        if value is None:
            yield f"{path}: must not be null: leave it out"
        elif kind is FieldKind.FORBIDDEN:
            yield f"{path}: is forbidden"
        elif twin := table.twin(steps):
            yield f"{path}: is another spelling of {twin.path}"
        elif not all(map(NAME.fullmatch, steps)):
            yield f"{path}: a field inside another is written as an object"
        elif _is_unknown_setting(table, steps):
            yield f"{path}: is no setting of this protocol"
        elif (field and field.derived) or any(each.derived for each in [*below, *beside]):
            yield f"{path}: is set by the adapter"
        elif kind is FieldKind.PRICED or any(each.kind is FieldKind.FORBIDDEN for each in below):
            yield f"{path}: changes what is billed"


def _is_unknown_setting(table: FieldTable, steps: Steps) -> bool:
    """Whether it stands in the settings object, and nobody knows that it may go there by its own name."""
    settings = table.settings
    return settings is not None and steps[0] == settings.place and steps[1:2] != () and steps[1] not in settings.names
