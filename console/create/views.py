"""Create: the models of a key as cards, the form of one, its price before it is sent, and sending it."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog import listing, snapshot
from catalog.listing import ModelOffer
from common.errors import ApiError, TaskNotFound
from console import doors, sessions
from console.create import cards, fields, form_page, posting, prefilled, pricing, refusals, sending
from console.create.fields import ModelForm
from console.create.prefilled import Beginning
from console.sessions import Visitor


@require_safe
@doors.signed_in
def create(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """What this key can run now. `?input=` goes along to the form that is chosen."""
    given = request.GET.get("input", "")
    shelves = cards.shelves(_offers(visitor), visitor.caller.key_id, {"input": given} if given else {})
    context = {"shelves": shelves, "service": visitor.admission.service, "carries": bool(given)}
    return doors.show(request, visitor, "console/create.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@doors.signed_in
def form(request: HttpRequest, visitor: Visitor, model: str) -> HttpResponse:
    """GET shows the form; POST runs it, or shows its price where that was asked for."""
    offer = _offer(request, visitor, model)
    if request.method == "POST" and "price" not in request.POST:
        return _run(request, visitor, offer)
    made = fields.of(offer)
    begun = Beginning(texts=posting.texts(request)) if request.method == "POST" else _begun(request, visitor, made)
    return form_page.show(request, visitor, offer, made, begun)


@require_POST
@doors.signed_in
def quote(request: HttpRequest, visitor: Visitor, model: str) -> HttpResponse:
    """The price of the form as it stands, as JSON: see `pricing.Priced`."""
    made = fields.of(_offer(request, visitor, model))
    found = pricing.priced(visitor.admission, made, posting.of(request, visitor.caller.key_id))
    return JsonResponse(found.shown())


def _run(request: HttpRequest, visitor: Visitor, offer: ModelOffer) -> HttpResponse:
    made, places = fields.of(offer), dict[str, str]()
    key = sending.key_of(request.POST.get("idempotency_key", ""))
    posted = posting.of(request, visitor.caller.key_id)
    try:
        admission = sessions.admit(doors.token_of(request), idempotency_key=key).admission
        shown_cost = request.POST.get("shown_cost")
        sent = sending.send(admission, made, posted, key=key, places=places, shown_cost=shown_cost)
    except ApiError as error:
        trouble = refusals.of(error, made, places)
        return form_page.show(request, visitor, offer, made, Beginning(texts=posted.texts), key=key, trouble=trouble)
    if sent.is_other:
        return form_page.show(request, visitor, offer, made, Beginning(texts=posted.texts), already=sent.task_id)
    return HttpResponseRedirect(f"{reverse('console:live')}#{sent.task_id}")


def _begun(request: HttpRequest, visitor: Visitor, made: ModelForm) -> Beginning:
    """Raises TaskNotFound and AssetExpired."""
    key_id = visitor.caller.key_id
    if task_id := request.GET.get("again"):
        return prefilled.again(made, key_id, task_id)
    if place := request.GET.get("input"):
        return prefilled.with_input(made, key_id, place)
    return Beginning(texts=made.first)


def _offers(visitor: Visitor) -> list[ModelOffer]:
    catalog = snapshot.current(visitor.admission.service.catalog_version)
    return listing.offers(catalog, visitor.caller.key_id)


def _offer(request: HttpRequest, visitor: Visitor, name: str) -> ModelOffer:
    """The model of this name or alias, of the modality that is asked for where there are two. Raises TaskNotFound."""
    modality = request.POST.get("modality") or request.GET.get("modality")
    found = [offer for offer in _offers(visitor) if name in (offer.model.name, *offer.model.aliases)]
    wanted = [offer for offer in found if modality in (None, offer.model.modality)]
    if not wanted:
        raise TaskNotFound("Your key runs no model of this name now.")
    return wanted[0]
