"""Who may come to the admin at all: only ADMIN_NETWORKS, where they are set. To others there is no admin.

And what may not: numbers that no column holds.
"""

import logging
from collections.abc import Callable

from django.conf import settings
from django.db import DataError
from django.http import HttpRequest, HttpResponse

from common.errors import TaskNotFound
from common.http import client_address
from common.http.asgi import is_below
from front import error_responses

logger = logging.getLogger(__name__)


class AdminDoor:
    """Django middleware; outsiders get the very answer of any unknown path."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_below(request.path_info, "/admin") and not is_open(request):
            return error_responses.respond(request, TaskNotFound("Unknown path."))
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """A number that no column holds, as an id, say, is a bad request: forms of Django's look some up unchecked.
        SQLite raises OverflowError, PostgreSQL DataError."""
        if not (error_responses.is_page(request) and isinstance(exception, OverflowError | DataError)):
            return None
        logger.warning("a value is out of range: %s", exception)
        return error_responses.bad_request(request, exception)


def is_open(request: HttpRequest) -> bool:
    if not settings.ADMIN_NETWORKS:
        return True
    address = client_address.of(request)
    return address is not None and client_address.within(address, settings.ADMIN_NETWORKS)
