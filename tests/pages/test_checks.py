"""The checks of pages find what they are there for: on pages that break one rule each, and on one that keeps all."""

from collections.abc import Iterator

import pytest

from tools.browser import checks, judge, session
from tools.browser.session import Watched

pytestmark = [pytest.mark.browser, pytest.mark.once]
ORIGIN = "http://pages.example"
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'"
GOOD = '<h1>All is well</h1><p><a href="/a">one</a></p><p><button type="button">two</button></p>'
STYLE = "body { font: 16px sans-serif } .faint { color: #bbb } .bare:focus { outline: none } .wide { width: 2000px }"
LATE = "setTimeout(() => document.body.prepend(Object.assign(document.createElement('div'), {className: 'tall'})), 50);"
BAD = {
    "style-src": (checks.violations, GOOD + '<p style="color: red">inline</p>'),
    "script: ": (checks.violations, GOOD + '<script src="/broken.js"></script>'),
    "404 of": (checks.violations, GOOD + '<img src="/missing.png" alt="">'),
    "axe: color-contrast": (checks.axe, GOOD + '<p class="faint">hardly seen</p>'),
    "needs 2": (checks.overflow, GOOD + '<p class="wide">wide</p>'),
    "weighs": (checks.weight, GOOD + '<script src="/heavy.js"></script>'),
    "layout shift": (checks.shift, "<div>first</div>" * 20 + '<script src="/late.js"></script>'),
    "focus is not visible": (checks.tab_through, GOOD + '<a class="bare" href="/b">three</a>'),
    "not reached": (checks.tab_through, GOOD + '<button type="button" inert>four</button>'),
}
FILES = {
    "/style.css": STYLE + " .tall { height: 400px }",
    "/broken.js": "nobody.knows();",
    "/heavy.js": "// " + "x" * 200_000,
    "/late.js": LATE,
}


@pytest.fixture
def page(browser) -> Iterator[Watched]:
    """A page whose server is this test."""
    own = session.context(browser, ORIGIN)
    yield session.watched(own)
    own.close()


def serve(watched: Watched, body: str) -> None:
    """Every document of the origin is this one."""
    head = '<!doctype html><html lang="en"><title>Test</title><link rel="stylesheet" href="/style.css">'
    html = f"{head}<main>{body}</main>"

    def answer(route):
        path = route.request.url.removeprefix(ORIGIN)
        if path in FILES:
            kind = "text/css" if path.endswith("css") else "text/javascript"
            route.fulfill(body=FILES[path], content_type=kind)
        elif path == "/":
            route.fulfill(body=html, content_type="text/html", headers={"Content-Security-Policy": POLICY})
        else:
            route.fulfill(status=404, body="")

    watched.page.route("**/*", answer)


@pytest.mark.parametrize("word", BAD)
def test_a_page_that_breaks_a_rule_is_found(page, word):
    check, body = BAD[word]
    serve(page, body)
    page.page.goto("/")
    if check is checks.shift:
        page.page.wait_for_selector(".tall")
        page.page.wait_for_function("() => seen.shift > 0")
    found = check(page if check is checks.violations else page.page)
    assert any(word in each for each in found), found


def test_a_page_that_keeps_all_rules_is_not_blamed(page):
    serve(page, GOOD)
    assert judge.problems(page, "/") == []
