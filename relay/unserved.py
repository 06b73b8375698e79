"""Refuses paths that vendors' clients call and nobody serves, with advice on what to do. Pure.

Such a path is no secret, so it is refused without a key. `common/http/dialects.py` formats the answer.
"""

import re

from common.errors import PathNotServed

SINGLY = "Send each request by itself."
WITH_THE_REQUEST = "Send a file within the request that needs it."
NOTHING_KEPT = "Nothing is kept here between requests: send the whole conversation with each."
OF_THE_VENDOR = "It serves text and pictures; call the vendor's own API for this."
VERBS = "It serves :generateContent, :streamGenerateContent and :countTokens."

# Paths, their name, and the advice. The first match counts.
NOT_SERVED: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(path, re.DOTALL), name, cure)
    for path, name, cure in (
        (r"/v1/messages/batches(?:/.*)?", "/v1/messages/batches", SINGLY),
        (r"/v1/batches(?:/.*)?", "/v1/batches", SINGLY),
        (r"/v1beta/batches(?:/.*)?", "/v1beta/batches", SINGLY),
        (r"/v1/(?:files|uploads)(?:/.*)?", "/v1/files", WITH_THE_REQUEST),
        (r"(?:/upload)?/v1(?:beta|alpha)/files(?:/.*)?", "/v1beta/files", WITH_THE_REQUEST),
        (r"/v1(?:beta|alpha)?/cachedContents(?:/.*)?", "/v1beta/cachedContents", NOTHING_KEPT),
        (r"/v1/responses/.+", "/v1/responses/{id}", NOTHING_KEPT),
        (r"/v1/chat/completions/.+", "/v1/chat/completions/{id}", NOTHING_KEPT),
        (r"/v1/(?:conversations|threads|assistants)(?:/.*)?", "/v1/conversations", NOTHING_KEPT),
        (r"/v1/completions", "/v1/completions", "Use POST /v1/chat/completions."),
        (r"/v1/complete", "/v1/complete", "Use POST /v1/messages."),
        (r"/v1/embeddings(?:/.*)?", "/v1/embeddings", OF_THE_VENDOR),
        (r"/v1/audio(?:/.*)?", "/v1/audio", OF_THE_VENDOR),
        (r"/v1/moderations(?:/.*)?", "/v1/moderations", OF_THE_VENDOR),
        (r"/v1/realtime(?:/.*)?", "/v1/realtime", OF_THE_VENDOR),
        (r"/v1/images/variations", "/v1/images/variations", "Use POST /v1/images/edits."),
    )
)
# What a wrong base URL makes of a served path: the version twice or missing, a prefix, or a slash at the end.
MISPLACED = re.compile(
    r"(?!/(?:v1/(?:tasks|admin|images|videos)|admin|console|docs|assets)(?:/|$))"
    r"(?:/.*)?(?P<path>/chat/completions|/responses|/messages(?:/count_tokens)?|/images/(?:generations|edits)"
    r"|/models(?:/[^/]+:(?P<verb>generateContent|streamGenerateContent|countTokens))?)/?",
    re.DOTALL,
)
OF_A_VENDOR = re.compile(
    r"/v1/(?:chat|messages|containers|evals|fine_tuning|organizations?|skills|vector_stores)(?:/.*)?"
    r"|(?:/upload)?/v1(?:beta|alpha)(?:/.*)?",
    re.DOTALL,
)
VERB = re.compile(r":(?P<verb>[A-Za-z]{1,40})$")


def refusal(path: str) -> PathNotServed | None:
    """Returns the error for a path that no family and no list serves; None if it is no vendor's path."""
    for pattern, name, cure in NOT_SERVED:
        if pattern.fullmatch(path):
            return PathNotServed(f"This service does not serve {name}. {cure}")
    if found := MISPLACED.fullmatch(path):
        served = f"/v1beta/models/{{model}}:{found['verb']}" if found["verb"] else f"/v1{found['path']}"
        return PathNotServed(f"This path is not served, but {served} is: correct the base URL of your client.")
    if OF_A_VENDOR.fullmatch(path):
        return PathNotServed(f"This service does not serve this path. {OF_THE_VENDOR}")
    return None


def refuse_verb(path: str) -> PathNotServed:
    """Returns the error for a Google method on a model that nobody serves."""
    found = VERB.search(path)
    asked = f":{found['verb']}" if found else "this method"
    return PathNotServed(f"This service does not serve {asked} of a model. {VERBS}")
