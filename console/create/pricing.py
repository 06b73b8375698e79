"""Price of a form before it is sent: the API's quote for its body, and the request as code."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from accounts.authentication import Admission
from common.errors import ApiError, BillingUnsupported
from console.create import document, refusals, snippets
from console.create.document import PostedForm
from console.create.fields import ModelForm
from console.create.refusals import Refusal
from pages import words
from tasks.intake import examination
from tasks.shown import quotes
from tasks.shown.quotes import Quote

STAND_IN = "…"
"""Prompt for quotes of a form without one: no price depends on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """Quote of a form, or the refusal."""

    quote: Quote | None = None
    refusal: Refusal | None = None
    samples: Mapping[str, str] | None = None

    @property
    def cost(self) -> str:
        return words.usd(self.quote.estimate_micros) if self.quote else ""

    @property
    def told(self) -> str:
        """Describe the effect on the balance, or why there is no price."""
        if self.quote is None:
            return self.refusal.message if self.refusal else ""
        left = words.cents(self.quote.left_micros)
        if self.quote.is_affordable:
            return f"Leaves {left} of your balance. Plan {self.quote.plan}."
        return "Your balance or budget is too low." + (f" {left} would be left." if self.quote.left_micros < 0 else "")

    def shown(self) -> dict[str, Any]:
        """Represent it for the script."""
        return {
            "cost": self.cost,
            "told": self.told,
            "affordable": bool(self.quote and self.quote.is_affordable),
            "balance_after": words.usd(self.quote.left_micros) if self.quote else None,
            "plan": self.quote.plan if self.quote else None,
            "error": {"field": self.refusal.field, "message": self.refusal.message} if self.refusal else None,
            "samples": self.samples,
        }


def priced(admission: Admission, form: ModelForm, posted: PostedForm) -> Priced:
    """Quote the form as it is. Stores nothing."""
    places: dict[str, str] = {}
    samples = None
    try:
        body = _with_prompt(form, document.build(form, posted, places))
        samples = snippets.write(body, base_url=settings.PUBLIC_BASE_URL)
        return Priced(quote=_quote(admission, form, body), samples=samples)
    except ApiError as error:
        return Priced(refusal=refusals.locate(error, form, places), samples=samples)


def _quote(admission: Admission, form: ModelForm, body: dict[str, Any]) -> Quote:
    """Get the quote. Raises the ApiError of the first failed check."""
    caller = admission.caller
    if caller.is_subscription:
        raise BillingUnsupported()
    prepared = examination.prepare(caller.key_id, body, catalog_version=admission.service.catalog_version)
    return quotes.of(caller, prepared)


def _with_prompt(form: ModelForm, body: dict[str, Any]) -> dict[str, Any]:
    needs_prompt = any(widget.path == "params.prompt" and widget.is_required for widget in form.widgets)
    return {**body, "params": {"prompt": STAND_IN, **body["params"]}} if needs_prompt else body
