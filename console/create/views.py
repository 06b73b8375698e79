"""Pages to create: model cards, the form of a model with its price, and its submission."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog import listing, snapshot
from catalog.listing import ModelOffer
from common.errors import ApiError, TaskNotFound
from console import access, sessions
from console.create import cards, fields, form_page, posting, prefilled, pricing, refusals, sending
from console.create.fields import ModelForm
from console.create.prefilled import Prefill
from console.sessions import Visitor


@require_safe
@access.require_session
def create(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show the models that this key can run. `?input=` is passed on to the chosen form."""
    given = request.GET.get("input", "")
    shelves = cards.list_rows(_offers(visitor), visitor.caller.key_id, {"input": given} if given else {})
    context = {"shelves": shelves, "service": visitor.admission.service, "carries": bool(given)}
    return access.render_page(request, visitor, "console/create.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@access.require_session
def form(request: HttpRequest, visitor: Visitor, model: str) -> HttpResponse:
    """Show the form on GET; run it on POST, or show its price if requested."""
    offer = _offer(request, visitor, model)
    if request.method == "POST" and "price" not in request.POST:
        return _run(request, visitor, offer)
    made = fields.build(offer)
    begun = Prefill(texts=posting.texts(request)) if request.method == "POST" else _begun(request, visitor, made)
    return form_page.show(request, visitor, offer, made, begun)


@require_POST
@access.require_session
def quote(request: HttpRequest, visitor: Visitor, model: str) -> HttpResponse:
    """Answer the price of the form as JSON (`pricing.Priced`)."""
    made = fields.build(_offer(request, visitor, model))
    found = pricing.priced(visitor.admission, made, posting.read(request, visitor.caller.key_id))
    return JsonResponse(found.shown())


def _run(request: HttpRequest, visitor: Visitor, offer: ModelOffer) -> HttpResponse:
    made, places = fields.build(offer), dict[str, str]()
    key = sending.key_of(request.POST.get("idempotency_key", ""))
    posted = posting.read(request, visitor.caller.key_id)
    try:
        admission = sessions.authenticate(access.token_of(request), idempotency_key=key).admission
        shown_cost = request.POST.get("shown_cost")
        sent = sending.send(admission, made, posted, key=key, places=places, shown_cost=shown_cost)
    except ApiError as error:
        trouble = refusals.locate(error, made, places)
        return form_page.show(request, visitor, offer, made, Prefill(texts=posted.texts), key=key, trouble=trouble)
    if sent.is_other:
        return form_page.show(request, visitor, offer, made, Prefill(texts=posted.texts), already=sent.task_id)
    return HttpResponseRedirect(f"{reverse('console:live')}#{sent.task_id}")


def _begun(request: HttpRequest, visitor: Visitor, made: ModelForm) -> Prefill:
    """Choose the initial values. Raises TaskNotFound and AssetExpired."""
    key_id = visitor.caller.key_id
    if task_id := request.GET.get("again"):
        return prefilled.again(made, key_id, task_id)
    if place := request.GET.get("input"):
        return prefilled.with_input(made, key_id, place)
    return Prefill(texts=made.first)


def _offers(visitor: Visitor) -> list[ModelOffer]:
    catalog = snapshot.current(visitor.admission.service.catalog_version)
    return listing.offers(catalog, visitor.caller.key_id)


def _offer(request: HttpRequest, visitor: Visitor, name: str) -> ModelOffer:
    """Find a model by name or alias, and by the requested modality if there are two. Raises TaskNotFound."""
    modality = request.POST.get("modality") or request.GET.get("modality")
    found = [offer for offer in _offers(visitor) if name in (offer.model.name, *offer.model.aliases)]
    wanted = [offer for offer in found if modality in (None, offer.model.modality)]
    if not wanted:
        raise TaskNotFound("Your key cannot run a model with this name.")
    return wanted[0]
