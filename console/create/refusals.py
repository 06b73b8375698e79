"""Mapping of API errors to form fields by JSON path, with labels in place of paths."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from common.errors import ApiError
from console.create.fields import ModelForm

ELEMENT = re.compile(r"(.+\[[0-9]+\])(?:\.(?:url|image_url))?")
OR = " or "


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Error for a form; `field` is the name of its field or slot, None if the form has none for it."""

    error: ApiError
    field: str | None
    message: str


def locate(error: ApiError, form: ModelForm, places: Mapping[str, str]) -> Refusal:
    """Locate the field of an error; `places` come from `document.build`."""
    paths = (error.param or "").split(OR)
    labels = [_label(path, form, places) for path in paths]
    message = error.message.replace(error.param or "", OR.join(labels)) if all(labels) else error.message
    return Refusal(error=error, field=_field(paths[0], form, places), message=message)


def _field(path: str, form: ModelForm, places: Mapping[str, str]) -> str | None:
    named = {w.path: w.slots[0].name if w.slots else w.path for w in form.widgets} | dict(places)
    found = [known for known in named if path == known or path.startswith((f"{known}.", f"{known}["))]
    return named[max(found, key=len)] if found else None


def _label(path: str, form: ModelForm, places: Mapping[str, str]) -> str:
    """Find the label of a path; empty for a path inside typed JSON, or without a field."""
    element = ELEMENT.fullmatch(path)
    if element and element[1] in places:
        slot = places[element[1]]
        number = [place for place, name in places.items() if name == slot].index(element[1]) + 1
        labels = {slot.name: slot.label for widget in form.widgets for slot in widget.slots}
        return f"{labels[slot]}, number {number},"
    return next((widget.label for widget in form.widgets if widget.path == path), "")
