"""Which field of a form a refusal speaks of, by the JSON path that it names; and its words, with labels for paths."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from common.errors import ApiError
from console.create.fields import ModelForm

ELEMENT = re.compile(r"(.+\[[0-9]+\])(?:\.(?:url|image_url))?")
OR = " or "


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """`field` is the name of the field, or of the slot; None where the refusal is of no field that the form has."""

    error: ApiError
    field: str | None
    message: str


def of(error: ApiError, form: ModelForm, places: Mapping[str, str]) -> Refusal:
    """`places` as `document.build` has filled them."""
    paths = (error.param or "").split(OR)
    labels = [_label(path, form, places) for path in paths]
    message = error.message.replace(error.param or "", OR.join(labels)) if all(labels) else error.message
    return Refusal(error=error, field=_field(paths[0], form, places), message=message)


def _field(path: str, form: ModelForm, places: Mapping[str, str]) -> str | None:
    named = {w.path: w.slots[0].name if w.slots else w.path for w in form.widgets} | dict(places)
    found = [known for known in named if path == known or path.startswith((f"{known}.", f"{known}["))]
    return named[max(found, key=len)] if found else None


def _label(path: str, form: ModelForm, places: Mapping[str, str]) -> str:
    """What a form calls this path; empty for one inside of what is typed as JSON, and for none."""
    element = ELEMENT.fullmatch(path)
    if element and element[1] in places:
        slot = places[element[1]]
        number = [place for place, name in places.items() if name == slot].index(element[1]) + 1
        labels = {slot.name: slot.label for widget in form.widgets for slot in widget.slots}
        return f"{labels[slot]}, number {number},"
    return next((widget.label for widget in form.widgets if widget.path == path), "")
