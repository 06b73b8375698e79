"""Page of a key's results by day."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from catalog import listing, snapshot
from common import modalities
from console import access
from console.gallery import finding, gallery_query, tiles
from console.gallery.gallery_query import GalleryQuery
from console.sessions import Visitor
from pages import words


@require_safe
@access.require_session
def gallery(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    shelf = gallery_query.read(request.GET.dict())
    found = finding.page(visitor.caller.key_id, shelf)
    shown = {
        "shelf": shelf,
        "days": tiles.days(found.works, timezone.now()),
        "older": f"?{urlencode(gallery_query.query(shelf, before=found.older))}" if found.older else "",
        "first": f"?{urlencode(gallery_query.query(shelf))}",
        "create": reverse("console:create"),
        "is_filtered": bool(shelf.modality or shelf.model),
        "kept": _kept(settings.ASSET_RETENTION),
        "modalities": modalities.TABLE,
        "models": _models(visitor, shelf),
    }
    return access.render_page(request, visitor, "console/gallery.html", shown)


def _kept(seconds: int) -> str:
    """Format the retention of files; empty if they are kept forever."""
    days, rest = divmod(seconds, 86_400)
    if days and not rest:
        return words.counted(days, "day")
    return words.span(seconds) if seconds else ""


def _models(visitor: Visitor, shelf: GalleryQuery) -> list[str]:
    """List the models that the key can run now, and the requested one."""
    catalog = snapshot.current(visitor.admission.service.catalog_version)
    offered = {offer.model.name for offer in listing.offers(catalog, visitor.caller.key_id)}
    return sorted(offered | ({shelf.model} if shelf.model else set()))
