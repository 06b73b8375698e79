"""What the front itself refuses, as its client reads it: a page to a person, JSON to a program."""

from django.template.loader import render_to_string

from common.errors import ApiError
from common.http.asgi import Answer, Scope, dialect_of, error_answer, header
from front import error_responses
from front.page_headers import POLICY


def answer(scope: Scope, error: ApiError) -> Answer:
    """By the path and by what the client accepts."""
    if not (error_responses.is_of_pages(scope["path"]) and "text/html" in header(scope["headers"], b"accept")):
        return error_answer(error, dialect=dialect_of(scope))
    body = render_to_string("refused.html", {"error": error}).encode()
    headers = {
        "content-type": "text/html; charset=utf-8",
        "content-length": str(len(body)),
        "content-security-policy": POLICY,
        "cache-control": "no-store",
    }
    return Answer(
        status=error.status,
        headers=tuple(
            (name.lower().encode(), value.encode("latin-1")) for name, value in {**headers, **error.headers}.items()
        ),
        body=body,
    )
