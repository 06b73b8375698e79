"""Whose share of a process a request takes: its account's, where this process has seen the key open before."""

from front import django_application  # noqa: F401, I001  # loads the apps, without which nothing below can be imported
from common.concurrency import threads
from common.http.asgi import Scope, is_below, joined
from common.concurrency.threads import Share
from front import visits
from accounts import authentication

DESK = "desk"


def of(scope: Scope) -> Share:
    """Asked of every request, so without I/O; who is not known yet shares with others of that kind, and takes turns."""
    digest = authentication.digest_of(joined(scope["headers"], b"authorization"))
    if is_below(scope["path"], visits.ROOT):
        digest = visits.digest_of(scope)
    if digest and (holder := authentication.holder_of(digest)):
        return threads.of_account(holder.account_id)
    if scope["path"].startswith("/admin"):
        return threads.of_nobody(DESK)
    if scope["path"].startswith("/assets/"):
        return threads.of_nobody("links")
    client = scope.get("client")
    return threads.of_nobody("strangers", digest or (client[0] if client else ""))
