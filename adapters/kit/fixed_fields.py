"""What the operator fixes of an upstream request (`fixed` of a channel model): merged last, as a caller would give it.

So each adapter puts it where such a field belongs, and checks and bills the request with it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from adapters.base import Adapter, Target, TaskRequest
from adapters.kit.field_table import FieldTable, Steps, form_steps, settings_of
from adapters.kit.settings import SettingsObject
from common import documents


def fixed_leaves(table: FieldTable, target: Target) -> dict[Steps, Any]:
    """What `fixed` of a channel model sets, by its path in the request; a list is one value."""
    return dict(_leaves(table, (), target.fixed))


def _leaves(table: FieldTable, steps: Steps, value: Any) -> Iterator[tuple[Steps, Any]]:
    if isinstance(value, Mapping) and (value or not steps):
        for name, item in value.items():
            more = (*steps, *form_steps(name))
            yield from _leaves(table, more if steps else table.canonical(more), item)
    else:
        yield steps, value


def with_fixed(adapter: Adapter, request: TaskRequest, target: Target) -> TaskRequest:
    """The request with what the operator fixed, which the caller may have given with the same value."""
    place = "provider_options" if request.modality == "video" else "extra_body"
    settings = settings_of(adapter)
    options: dict[str, Any] = dict(getattr(request, place))
    inside = documents.shown(target.fixed.get(settings.place)) if settings else {}
    for name, value in {**target.fixed, **inside}.items():
        if settings and name in settings.names:
            _set_setting(options, settings, name, value)
        elif settings is None or name != settings.place:
            options[name] = _merged(options.get(name), value)
    changes: dict[str, Any] = {place: options}
    return replace(request, **changes)


def _set_setting(options: dict[str, Any], settings: SettingsObject, name: str, fixed: Any) -> None:
    """By its own name, which leaves the rest of the object as the adapter makes it; also in one that replaces that."""
    inside = options.get(settings.place)
    replacing = inside if isinstance(inside, Mapping) else {}
    options[name] = _merged(options.get(name, replacing.get(name)), fixed)
    if name in replacing:
        options[settings.place] = {**replacing, name: options[name]}


def _merged(value: Any, fixed: Any) -> Any:
    """The fixed value; of two objects the fields of both, the fixed ones first."""
    if not isinstance(value, Mapping) or not isinstance(fixed, Mapping):
        return fixed
    return {**value, **{name: _merged(value.get(name), item) for name, item in fixed.items()}}
