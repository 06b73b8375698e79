"""Every path and method that the service answers is documented, and every documented one is answered.

What is served is read off the tables themselves: Django's, the front's and the relay's. Pages for people are none of
the interface: the admin, the console, the reference itself, and the way there from `/`.
"""

import re
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from common.http.asgi import is_below
from front import application, error_responses
from relay import usage
from relay.families import registry
from relay.families.generate_content import VERBS
from relay.families.requests.generate_content import COLLECTIONS
from relay.lists import model_lists
from tasks_api.views import UnknownPathView
from tests.reference import places
from tests.reference.asking import ask
from tests.relay.general import make_general_key, make_group
from tests.rows import IssuedKey

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
OF_TASK_KEYS = ("/v1/tasks", "/v1/images", "/v1/videos", "/assets")
WITHOUT_HEAD = {"/v1/tasks/events"}


def documented() -> dict[str, set[str]]:
    """The methods of each path, spelled out as far as it can be."""
    found: dict[str, set[str]] = {}
    for method, path, operation in places.operations():
        for spelled in places.spelled_out(path, operation):
            found.setdefault(spelled, set()).add(method.upper())
    return found


def of_django(resolver: URLResolver | None = None, before: str = "/") -> Iterator[tuple[str, str]]:
    """Path and method of every view that is no page's."""
    for entry in (resolver or get_resolver()).url_patterns:
        path = before + re.sub("<[^>]+>", "{}", str(entry.pattern))
        if isinstance(entry, URLResolver):
            yield from of_django(entry, path)
            continue
        assert isinstance(entry, URLPattern)
        view = getattr(entry.callback, "view_class", None)
        if path == "/" or view is UnknownPathView or is_page(path):
            continue
        assert view is not None, f"{path} has a view that does not tell its methods"
        yield from ((path, name.upper()) for name in view.http_method_names if name != "head" and hasattr(view, name))


def of_the_front() -> Iterator[tuple[str, str]]:
    """What it serves itself, but for the stream of pages."""
    files = [path.replace("[^/]+", "{}") for path in application.ASSET_PATH.pattern.split("|")]
    for path in (*application.ENDPOINTS, f"{application.ASSETS}{{}}/{{}}", *files):
        if not is_page(path):
            yield path, "GET"


def is_page(path: str) -> bool:
    return any(is_below(path, root) for root in error_responses.PAGES)


def of_the_relay() -> Iterator[tuple[str, str]]:
    for path in registry.FIXED:
        yield path, "POST"
    for version in ("v1", "v1beta"):
        for verb in VERBS:
            for collection in COLLECTIONS:
                assert registry.MODEL_PATH.fullmatch(f"/{version}/{collection}m:{verb}")
                yield f"/{version}/{collection}{{}}:{verb}", "POST"
        for path in (f"/{version}/models", f"/{version}/models/{{}}"):
            assert model_lists.PATH.fullmatch(path)
            yield path, "GET"
    yield usage.PATH, "GET"


@pytest.mark.parametrize("walk", [of_django, of_the_front, of_the_relay])
def test_what_is_served_is_documented(walk):
    known, served = documented(), list(walk())
    assert served
    missing = [f"{method} {path}" for path, method in served if method not in known.get(path, set())]
    assert not missing, missing


def test_what_is_documented_is_served():
    tables = {path for walk in (of_django(), of_the_front(), of_the_relay()) for path, _ in walk}
    assert documented().keys() == tables


@pytest.fixture
def general_key(key: IssuedKey) -> IssuedKey:
    return make_general_key(key.account, None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("platform", ["openai", "anthropic", None])
def test_an_image_call_by_another_method_is_a_405_whatever_the_key(key, platform):
    group = platform and make_group(platform, platform, image_generation=platform == "openai")
    for asker in (key, make_general_key(key.account, group, "of a group")):
        for path in ("/v1/images/generations", "/v1/images/edits"):
            for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
                said = ask(method, path, key=asker, host="localhost")
                assert (said.status_code, said.headers["Allow"]) == (405, "POST"), f"{method} {path}"


@pytest.mark.django_db(transaction=True)
def test_each_path_takes_the_documented_methods_and_no_other(key, general_key):
    for path, given in documented().items():
        asker = key if path.startswith(OF_TASK_KEYS) else general_key
        target = f"{path.replace('{}', 'nobody')}?nonsense=1"
        answers = {method: ask(method, target, key=asker, host="localhost") for method in METHODS}
        taken = {method for method, said in answers.items() if said.status_code != 405}
        heads = {"HEAD"} if "GET" in given and path not in WITHOUT_HEAD else set()
        assert taken == given | heads, path
        for method in taken - {"HEAD"}:
            assert b"nknown path" not in answers[method].content, f"{method} {path}"
