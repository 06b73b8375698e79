"""Which field of a form a refusal speaks of, by the JSON path that it names."""

from collections.abc import Mapping

from common.errors import ApiError
from console.create.fields import ModelForm


def field_of(error: ApiError, form: ModelForm, places: Mapping[str, str]) -> str | None:
    """The name of the field, or of the slot; None where the refusal is of no field that the form has."""
    named = {widget.path: _first_name(widget.slots, widget.path) for widget in form.widgets} | dict(places)
    path = (error.param or "").partition(" or ")[0]
    found = [known for known in named if path == known or path.startswith((f"{known}.", f"{known}["))]
    return named[max(found, key=len)] if found else None


def _first_name(slots: tuple[object, ...], path: str) -> str:
    return getattr(slots[0], "name", path) if slots else path
