"""Navigation of the console: pages in the order of a customer's day."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

PLACES = (("Create", "create"), ("Live", "live"), ("Gallery", "gallery"), ("Usage", "usage"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """Entry of the navigation; `is_here` marks the current page's entry."""

    label: str
    url: str
    is_here: bool


def places(request: HttpRequest) -> Iterator[Tab]:
    for label, name in PLACES:
        url = reverse(f"console:{name}")
        yield Tab(label=label, url=url, is_here=request.path.startswith(url))
