"""Who may send a large body: whose key opens the Task API or the relay now, or who is signed in to the admin.

Nobody is let in by this. What the body is for asks again when it is whole, so that a key that was disabled meanwhile
opens nothing.
"""

from collections.abc import Hashable
from importlib import import_module

from django.conf import settings
from django.contrib import auth
from django.http import HttpRequest, parse_cookie

from common.concurrency import threads
from common.errors import ApiDisabled, AuthenticationError, ScopeRequired
from common.http.asgi import Scope, header, is_below
from front import visits
from relay import application as relay
from tasks_api import authentication

DESK = "/admin"
DESK_PAYER = "desk"
ADMIN_BYTES = 2_621_440  # what Django itself takes where nobody has set more


async def opened_for(scope: Scope) -> Hashable | None:
    """The payer of a body over 64 KiB; None where nobody may send one. Other paths than these take none."""
    if relay.serves(scope):
        return await relay.opened_for(scope)
    if scope["path"].startswith("/v1/"):
        account_id = await _account(scope)
        if account_id is not None:
            threads.share.set(threads.of_account(account_id))
        return account_id
    if is_below(scope["path"], visits.ROOT):
        return await visits.account_of(scope)
    if is_below(scope["path"], DESK) and await threads.call(_is_signed_in, header(scope["headers"], b"cookie")):
        return DESK_PAYER
    return None


async def _account(scope: Scope) -> int | None:
    try:
        return (await authentication.caller_of(scope)).account_id
    except (ApiDisabled, AuthenticationError, ScopeRequired):
        return None


def _is_signed_in(cookie: str) -> bool:
    request = HttpRequest()
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME))
    user = auth.get_user(request)
    return bool(user.is_active and getattr(user, "is_staff", False))
