"""The base of the admin's forms whose fields follow the rules of `validation`, and their strict JSON."""

import json
from collections.abc import Callable
from typing import Any, ClassVar

from django import forms

from catalog.fields import Invalid, told
from common import strict_json
from common.errors import InvalidRequest


class StrictDecoder(json.JSONDecoder):
    """JSON by the rules of a request's body: no key twice, no depth or number that breaks what reads it."""

    def decode(self, s: str, *_: Any) -> Any:
        try:
            return strict_json.loads(s.encode())
        except InvalidRequest as error:
            raise json.JSONDecodeError(error.message, s, 0) from None


class RuledForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form whose fields follow rules; `rules` names those that need nothing but the field's value."""

    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    empty: ClassVar[dict[str, Any]] = {}  # what a blank JSON field means

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field, forms.JSONField):
                field.decoder = StrictDecoder

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name, value in self.empty.items():
            if name in cleaned and cleaned[name] is None:
                cleaned[name] = value
        for name, rule in self.rules.items():
            self.apply(name, rule)
        return cleaned

    def apply(self, name: str, rule: Callable[[Any], Any]) -> None:
        """Replace the field's value by what the rule makes of it, or complain at the field."""
        value = self.cleaned_data.get(name)
        if value is None:
            return
        try:
            self.cleaned_data[name] = rule(value)
        except Invalid as error:
            self.add_error(name, [told(problem) for problem in error.problems])
