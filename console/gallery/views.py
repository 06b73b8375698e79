"""Gallery: a page of the console."""

from django.http import HttpRequest, HttpResponse

from console import doors
from console.sessions import Visitor


@doors.signed_in
def gallery(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    return doors.show(request, visitor, "console/gallery.html", {})
