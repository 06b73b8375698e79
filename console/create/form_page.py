"""Page of one model: form, price, and the request as code."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from accounts.authentication import Admission
from catalog.listing import ModelOffer
from common import error_types
from console import access
from console.create import cards, drawn, posting, pricing, sending
from console.create.drawn import DrawnField
from console.create.fields import ModelForm
from console.create.prefilled import Prefill
from console.create.refusals import Refusal
from console.sessions import Visitor

NEXT = {
    error_types.INVALID_REQUEST.name: "Nothing was sent. Change it and run again.",
    error_types.INSUFFICIENT_BALANCE.name: "Nothing was sent. Choose something cheaper, or ask the operator of this "
    "service for credit.",
    error_types.QUEUE_LIMIT_EXCEEDED.name: "Nothing was sent. Wait until some of your tasks have ended, then run "
    "again.",
    error_types.RATE_LIMITED.name: "Nothing was sent. Wait a minute, then run again.",
    error_types.API_PAUSED.name: "Nothing was sent. Your input stays here; run it when submissions are open again.",
    error_types.NO_CAPABLE_ROUTE.name: "Nothing was sent. No provider supports this combination: try another size, "
    "ratio or length.",
    error_types.BILLING_UNSUPPORTED.name: "Nothing was sent. Ask the operator of this service for an account with a "
    "balance.",
}
LANGUAGES = (("curl", "curl"), ("python", "Python"), ("javascript", "JavaScript"))
OTHERWISE = "Nothing was charged. Run it again in a moment: it becomes one task even if you repeat it."


def show(
    request: HttpRequest,
    visitor: Visitor,
    offer: ModelOffer,
    form: ModelForm,
    begun: Prefill,
    *,
    key: str = "",
    trouble: Refusal | None = None,
    already: str = "",
) -> HttpResponse:
    """Render the page with the form's values. `key` is its idempotency key; `already` is the task that was created from
    the form before it was changed."""
    problems = {trouble.field: trouble.message} if trouble and trouble.field else {}
    drawn_fields = drawn.fields(form, begun.texts, visitor.caller.key_id, problems)
    context: dict[str, Any] = {
        **_parts(form, drawn_fields),
        "form": form,
        "notes": begun.notes,
        "price": cards.price(offer),
        "usual": cards.usual(offer.model.id),
        "priced": priced(request, visitor.admission, form, begun),
        "service": visitor.admission.service,
        "idempotency_key": key or sending.new_key(),
        "trouble": trouble,
        "next": NEXT.get(trouble.error.type, OTHERWISE) if trouble else "",
        "already": already,
        "had_files": bool(request.FILES),
        "languages": LANGUAGES,
    }
    response = access.render_page(
        request, visitor, "console/create_form.html", context, status=_status(trouble, already)
    )
    for name, value in trouble.error.headers.items() if trouble else ():
        response.headers[name] = value
    return response


def _status(trouble: Refusal | None, already: str) -> int:
    return trouble.error.status if trouble else 409 if already else 200


def _parts(form: ModelForm, drawn_fields: list[DrawnField]) -> dict[str, Any]:
    """Split the fields into visible and collapsed ones, which open if one is used or has a problem."""
    main, more = drawn_fields[: len(form.main)], drawn_fields[len(form.main) :]
    return {"main": main, "more": more, "is_more_open": any(field.text or field.is_troubled for field in more)}


def priced(request: HttpRequest, admission: Admission, form: ModelForm, begun: Prefill) -> pricing.Priced:
    posted = posting.read(request, admission.caller.key_id)
    return pricing.priced(admission, form, posting.with_texts(posted, begun.texts))
